/* SPDX-License-Identifier: MIT
 *
 * Input of the compiler for a candidate. Candidates that differ only in problems or argument
 * parameters may share a build and its hash.
 */
#ifndef CANDIDATE_BUILD_H
#define CANDIDATE_BUILD_H

#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "expr/named_values.h"

struct bound_family;
struct family;
struct operation;

/* ---- the -D list of constant keys, constant parameters and constants ---- */
/* Adds the constant keys of an operation, and sorts the list. `values` has one value per key. */
enum status operation_defines(const struct operation *operation, const struct value *values,
	struct named_values *list, struct error *err);
/* Returns the -D list of the first unit: {"BM": 128, "DTYPE_bf16": 1, ...}. */
struct named_values candidate_defines(const struct bound_family *bound, const struct value *values);
/* Adds the compiler options of the family and of its parameters, as written. */
enum status candidate_options(const struct bound_family *bound, const struct value *values,
	struct name_set *options, struct error *err);

/* ---- builds ---- */
struct build_unit {
	char *name;
	char *source;   /* includes expanded */
	char **options; /* fixed options and the sorted -D list, without the architecture */
	size_t option_count;
	char **entries;
	size_t entry_count;
	bool is_tile;
	char hash[HASH_SIZE];
};

struct build {
	struct build_unit *units;
	size_t unit_count;
	char kernel_hash[HASH_SIZE];
};

void build_release(struct build *build);

/* `values` has one value per name, as from space_values(). */
enum status candidate_build(const struct bound_family *bound, const struct value *values,
	struct build *build, struct error *err);
/* Makes a build with one unit. A NULL source is empty; a NULL entry means none. */
void build_of_source(struct build *build, const char *name, const char *source,
	const struct named_values *defines, const char *entry);
/* Moves the units of `part` to the end of build. */
void build_append(struct build *build, struct build *part);
/* Adds everything that the compiler reads of a unit: the source, the options (compiler controls by
 * the content of their file) and the entries. */
void build_unit_hash(const struct build_unit *unit, struct hash *hash);
void build_finish(struct build *build);

/* Sets units[i] to the unit of source i, or to -1 if no launch of the source can be active with any
 * arguments. */
enum status family_units(
	const struct family *family, const struct value *values, int *units, struct error *err);

/* Makes the build of helper kernels from a file in one of the template folders (NULL-terminated
 * list), e.g. "common/helpers.cu". Fails if the file or an include is not found. */
enum status plain_build(const char *const *template_folders, const char *name, struct build *build,
	struct error *err);

#endif
