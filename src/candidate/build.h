/* SPDX-License-Identifier: MIT
 *
 * What the compiler needs of a candidate: expanded sources, options with the -D list, entries.
 * Several candidates (problems, argument parameters) share one build; its hash says so.
 */
#ifndef CANDIDATE_BUILD_H
#define CANDIDATE_BUILD_H

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "expr/named_values.h"

struct bound_family;
struct family;
struct operation;

/* ---- the -D list: constant keys, constant parameters, constants ---- */
struct define {
	char *name;         /* "BM", or "DTYPE_bf16" for a string */
	char *text;         /* as written; "1" for a string */
	struct value value; /* a number, or `text` */
};

struct define_list {
	struct define *items;
	size_t count, capacity;
};

void define_list_sort(struct define_list *list); /* by name */
void define_list_release(struct define_list *list);

/* Of an operation's constant keys; values: one per key. */
enum status operation_defines(const struct operation *operation, const struct value *values,
	struct define_list *list, struct error *err);
/* {"BM": 128, "DTYPE_bf16": 1, ...}: the -D list of the first unit. */
struct named_values candidate_defines(const struct bound_family *bound, const struct value *values);

/* ---- builds ---- */
/* One translation unit. */
struct build_unit {
	char *name;     /* "gemm/mma.cu", for messages */
	char *source;   /* includes expanded */
	char **options; /* sorted -D list and fixed options; no architecture */
	size_t option_count;
	char **entries; /* kernels that are launched from it */
	size_t entry_count;
	bool is_tile;         /* CUDA Tile C++ (compile/tile.h) */
	char hash[HASH_SIZE]; /* of source, options, entries, language */
};

struct build {
	struct build_unit *units;
	size_t unit_count;
	char kernel_hash[HASH_SIZE]; /* of the units' hashes */
};

void build_release(struct build *build);

/* values: of all names (space_values(), or filled by hand for values outside the lists). */
enum status candidate_build(const struct bound_family *bound, const struct value *values,
	struct build *build, struct error *err);
/* One unit of a source (NULL: an empty one) with one entry, or NULL: none. */
void build_of_source(struct build *build, const char *name, const char *source,
	const struct define_list *defines, const char *entry);
/* Moves the units of a part to the end. */
void build_append(struct build *build, struct build *part);
/* The hashes: of source, options and entries. */
void build_finish(struct build *build);

/* Whether a launch's entry reads the name: then it is a template's argument, and a macro of that
 * name would replace the template's parameter. */
bool entries_read(const struct family *family, size_t index);
/* The index of the build unit of each of the family's sources; -1: not built. A source is built if
 * one of its launches is active, or could be with other arguments. */
enum status family_units(
	const struct family *family, const struct value *values, int *units, struct error *err);

/* A source of the templates built as it stands, without a family: the helper kernels. name:
 * relative to one of the template folders (NULL-terminated), "common/helpers.cu"; the first folder
 * that has it wins. One unit without entries. Errors: not found (and where it was looked for),
 * includes that do not expand. */
enum status plain_build(const char *const *template_folders, const char *name, struct build *build,
	struct error *err);

#endif
