/* SPDX-License-Identifier: MIT
 *
 * A family of templates/<operation>/<family>.json. Strings are borrowed from its JSON tree. A bound
 * space gives the values of its expressions.
 */
#ifndef FAMILY_FAMILY_H
#define FAMILY_FAMILY_H

#include "family/compile_option.h"
#include "family/launch.h"
#include "family/operation.h"

struct parameter {
	const char *name, *help;
	struct expression *values; /* reads keys and device names */
	/* Also reads earlier parameters. NULL selects the first value of the list. */
	struct expression *default_value;
	/* Value in records that were written before the parameter existed, or NULL. */
	struct expression *absent_value;
	struct define_binding binding;
	bool is_argument;     /* the value is passed as a kernel argument; if false, as a -D */
	bool bitwise_neutral; /* all values give bitwise equal results */
};

struct constant {
	const char *name;
	/* Reads keys, device names, parameters and earlier constants. */
	struct expression *expression;
	struct define_binding binding;
	bool is_for_model; /* only for the model; not passed to the kernel */
};

/* A translation unit, which launches refer to by its name. */
struct family_source {
	char *name;
	char *text;        /* includes expanded; NULL until loaded */
	char *device_code; /* see family_device_code() */
};

/* A configuration that the author declares as legal or illegal. */
struct example {
	const char *problem; /* a problem as text */
	struct json *config;
	const char *why; /* may be NULL */
};
struct example_list {
	struct example *legal, *illegal;
	size_t legal_count, illegal_count;
};

/* A variable of the source in __constant__ or __device__ memory that is filled from a tensor. */
struct family_symbol {
	const char *name;
	uint32_t buffer; /* index of the operation's tensor */
};

/* A fact of the operation, compiled for this family. expression is NULL if it reads names that the
 * family lacks. */
struct family_fact {
	struct expression *expression, *when;
	size_t name_index; /* index by which later facts read it; 0: unnamed */
};

enum language {
	LANGUAGE_CUDA,
	LANGUAGE_TILE, /* the compiler chooses the number of threads */
};

struct family {
	struct json *tree;
	char *file;
	char *name;
	const char *summary;
	const struct operation *operation;
	struct scope scope;
	struct name_table names; /* names of SCOPE_PLAIN, indexed as in the scope */
	struct expression_list requires;
	/* if one is false, the family is used only if the user names it */
	struct expression_list competes;
	struct parameter *parameters;
	size_t parameter_count;
	struct constant *constants;
	size_t constant_count;
	struct condition_list constraints, prune;
	struct plan_buffer *workspaces;
	size_t workspace_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	/* Computed members of workspaces and tensor maps, with the offsets of a struct plan. */
	struct computed_list computed;
	const char *source; /* default source file for launches without "source"; may be NULL */
	/* Replaces launches: a command that receives configurations and returns times
	 * (device/README.md), hashed with the files that it names. NULL-terminated, or NULL. */
	const char **program;
	const char **include_paths; /* relative to the file's folder; NULL-terminated, or NULL */
	const char **options;       /* compiler options; NULL-terminated, or NULL */
	enum language language;
	struct family_source *sources;
	size_t source_count;
	struct launch *launches;
	size_t launch_count;
	struct family_symbol *symbols;
	size_t symbol_count;
	struct family_fact *facts; /* facts in the order of the operation */
	size_t named_fact_count;
	struct example_list examples;
};
RECORD_DECLARE(struct family, family_record);

/* Reads expressions for members of launches, workspaces and tensor maps (record/record_read.h).
 * context is a struct expression_reading. */
enum status family_computed_read(const struct json_at *at, const struct record_member *member,
	void *item, void *context, struct error *err);

/* Takes the tree of `file`. `place` is the sources' folder; NULL loads neither sources nor facts.
 * `name` is e.g. "mma". */
enum status family_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const struct operation *operation, const char *const *template_folders,
	struct family **family, struct error *err);
enum status family_load_sources(struct family *family, const struct source_place *place,
	const char *const *template_folders, struct error *err);
/* Returns the source without host code and definitions of the family's macros. The first call
 * creates the text. */
const char *family_device_code(const struct family *family, size_t source);
/* Returns whether an entry reads this name as a template argument, so that it must not be a
 * macro. */
bool family_entries_read(const struct family *family, size_t index);
/* Returns whether a source contains the macro or MACRO_value as a word. */
bool family_reads_macro(const struct family *family, const char *macro);
void family_free(struct family *family);
/* Replaces a tree with "extends" by the merged family. `names` lists the families of the folder.
 * *base is set to the extended family, or to NULL. */
enum status family_extend(struct json **tree, const char *file, const char *folder,
	const char *const *names, const char **base, struct error *err);

#endif
