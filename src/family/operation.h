/* SPDX-License-Identifier: MIT
 *
 * An operation as loaded from templates/<operation>/operation.json. Strings are borrowed from the
 * JSON tree, which lives as long as the operation.
 */
#ifndef FAMILY_OPERATION_H
#define FAMILY_OPERATION_H

#include "family/compile_option.h"
#include "family/reference.h"

/* "batch,seq" for "batch*seq": names that may stand for a key in a problem's text. */
struct key_alias {
	char *text; /* of the JSON */
	struct name_table parts;
	char *part_text;               /* the parts' strings */
	struct expression *expression; /* over the parts */
};

/* What sizes from a file must be (expr/sizes.h), over keys. */
struct key_sizes {
	struct expression *count, *sum, *most;
};

struct key {
	const char *name;
	const char *help;                 /* NULL if there is none */
	const char **values;              /* of an enum, NULL-terminated; NULL: a number */
	struct key_sizes *sizes;          /* of an enum: a file of sizes will do, too; NULL */
	bool is_real;                     /* the number; else an integer */
	int64_t min, max;                 /* of an integer */
	struct expression *default_value; /* over keys; NULL: must be given */
	struct define_way way;
	bool is_constant; /* becomes a -D; else a kernel argument */
	struct key_alias *aliases;
	size_t alias_count;
};

/* A formula about a candidate. */
struct fact_text {
	const char *name, *unit, *source;
	const char *as; /* the name by which later facts read its value; NULL */
	struct formula expression, when;
};

/* A heuristic that chooses a tile (family/rule.h). */
struct rule_setting {
	const char *parameter;
	struct formula value;
};
struct rule_text {
	const char *name;
	const char *as; /* the loop variable; NULL: t */
	struct formula over, where, expression;
	struct rule_setting *settings;
	size_t setting_count;
	bool is_argmax; /* else the first */
};

/* "advise": which keys may be chosen a little larger or smaller, and to multiples of what. A size
 * with "padding": filled up with zeros, the larger problem holds the asked one's result; the other
 * sizes are a choice of whoever designs the model. A pitch (elements from row to row) changes
 * neither work nor result. */
struct advice_axis {
	const char *name;
	size_t key; /* of the operation; an integer */
	bool is_pitch;
	bool is_padding;
	struct expression *multiples; /* a list of integers */
};
struct advice_list {
	struct advice_axis *items; /* sizes, then pitches; none: no advice */
	size_t count;
	struct advice_axis *pitches; /* while they are read */
	size_t pitch_count;
	const char *sweep; /* a problem: what a sweep takes for keys that nobody gave; "" */
};

struct operation {
	struct json *tree;
	char *file; /* path of operation.json */
	const char *name, *summary;
	struct key *keys;
	size_t key_count;
	struct name_table key_names;
	size_t *default_order; /* every key, those that a default reads before it */
	struct condition_list constraints;
	struct tensor *tensors;
	size_t tensor_count;
	size_t output;                       /* the one output tensor */
	bool is_deterministic;               /* else bits may differ from run to run */
	struct expression *flop, *min_bytes; /* NULL: not known; every tensor once */
	struct tolerance tolerance;          /* of outputs that have none of their own */
	struct reference_list references;
	struct fact_text *facts;
	size_t fact_count;
	struct rule_text *rules;
	size_t rule_count;
	struct advice_list advice;
};
RECORD_DECLARE(struct operation, operation_record);

/* Takes the tree, which is that of `file`. name: what it must be called. template_folders: for the
 * reference's includes. */
enum status operation_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const char *const *template_folders, struct operation **operation,
	struct error *err);
/* The same without the reference's source. */
enum status operation_from_json(struct json *tree, const char *file, const char *name,
	struct operation **operation, struct error *err);
void operation_free(struct operation *operation);

struct problem;
/* The axis' multiples for a problem, ascending, without those below 2. Caller frees *multiples. */
enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err);
/* The names of the first alias of a key ("batch", "seq" of M); *count is 0 without one. */
const char *const *advice_alias_parts(const struct operation *operation, size_t key, size_t *count);

/* The tensors as buffers, in their order; values: keys first. */
enum status operation_tensors_evaluate(const struct operation *operation,
	const struct value *values, struct plan_buffer *buffers, struct error *err);

#endif
