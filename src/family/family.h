/* SPDX-License-Identifier: MIT
 *
 * A family as loaded from templates/<operation>/<family>.json. Strings are borrowed from the JSON
 * tree, which lives as long as the family. Every expression is compiled against the family's scope
 * when the file is loaded; values are a bound space's (family/expression_json.h).
 */
#ifndef FAMILY_FAMILY_H
#define FAMILY_FAMILY_H

#include "family/compile_option.h"
#include "family/launch.h"
#include "family/operation.h"

struct parameter {
	const char *name, *help;
	struct expression *values; /* over keys and device names */
	/* over these and the parameters before it; NULL: the first value */
	struct expression *default_value;
	/* over keys and device names: for what was written before the parameter existed, or NULL */
	struct expression *absent_value;
	struct define_way way;
	bool is_argument; /* a kernel argument; else a -D */
	bool keeps_bits;  /* results have the same bits for all its values */
};

struct constant {
	const char *name;
	/* over keys, device names, parameters, constants before it */
	struct expression *expression;
	struct define_way way;
	bool is_for_model; /* a name for the model's amounts; no define, so no part of the kernel */
};

/* One translation unit that launches name. */
struct family_source {
	char *name; /* "gemm/mma.cu" */
	char *text; /* includes expanded; NULL until loaded */
};

/* A configuration that the author says is legal, or not. */
struct example {
	const char *problem; /* text */
	struct json *config;
	const char *why; /* NULL if nothing is said */
};
struct example_list {
	struct example *legal, *illegal;
	size_t legal_count, illegal_count;
};

/* A variable of the source, in __constant__ or __device__ memory, that is filled from a tensor. */
struct family_symbol {
	const char *name;
	uint32_t buffer; /* of the operation's tensors */
};

/* A fact of the operation, compiled for the family. expression NULL: it names what the family
 * lacks. */
struct family_fact {
	struct expression *expression, *when;
	size_t name_index; /* where later facts read it; 0: it has no name of its own */
};

/* The language of a family's sources. */
enum language {
	LANGUAGE_CUDA,
	LANGUAGE_TILE, /* CUDA Tile C++: the compiler chooses the threads */
};
extern const char *const language_names[]; /* NULL-terminated */

struct family {
	struct json *tree;
	char *file;
	char *name; /* "gemm/mma" */
	const char *summary;
	const struct operation *operation;
	struct scope scope;
	struct name_table names; /* SCOPE_PLAIN, of all indices */
	struct expression_list requires;
	struct expression_list competes; /* if false, it takes part only where it is named */
	struct parameter *parameters;
	size_t parameter_count;
	struct constant *constants;
	size_t constant_count;
	struct condition_list constraints, prune;
	struct plan_buffer *workspaces;
	size_t workspace_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	struct computed_list computed; /* members of both, in a struct plan */
	const char *source;            /* of launches that name none; NULL */
	/* A command, run in the file's folder, that is given configurations and answers with times,
	 * instead of launches (device/README.md); NULL-terminated, or NULL. Its one source, for
	 * hashes, is the command with the content of the files that it names. */
	const char **program;
	const char **include_paths; /* from the file's folder; NULL-terminated, or NULL */
	const char **options;       /* of the compiler; NULL-terminated, or NULL */
	enum language language;
	struct family_source *sources;
	size_t source_count;
	struct launch *launches;
	size_t launch_count;
	struct family_symbol *symbols;
	size_t symbol_count;
	struct family_fact *facts; /* of the operation, in their order */
	size_t named_fact_count;
	struct example_list examples;
};
RECORD_DECLARE(struct family, family_record);

/* Takes expressions of members of launches, workspaces and tensor maps (record/record_read.h).
 * context: struct reading. */
enum status family_computed_read(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err);

/* Takes the tree, which is that of `file`. place: where its sources are; NULL: they are not loaded.
 * name: "mma", as the file is called. */
enum status family_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const struct operation *operation, const char *const *template_folders,
	struct family **family, struct error *err);
/* Expands "source" of the family and of its launches; each distinct one once. */
enum status family_load_sources(struct family *family, const struct source_place *place,
	const char *const *template_folders, struct error *err);
void family_free(struct family *family);
/* "extends": replaces the tree of `file` by the whole family; a tree without "extends"
 * stays as it is. names: of the families of the file's folder (NULL-terminated); base: the one that
 * it extends, one of them, or NULL. Errors: a base that is not among them, or that extends another.
 */
enum status family_extend(struct json **tree, const char *file, const char *folder,
	const char *const *names, const char **base, struct error *err);

#endif
