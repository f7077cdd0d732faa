/* SPDX-License-Identifier: MIT
 *
 * An operation as loaded from templates/<operation>/operation.json. Strings are borrowed from the
 * JSON tree, which lives as long as the operation.
 */
#ifndef FAMILY_OPERATION_H
#define FAMILY_OPERATION_H

#include "family/compile_option.h"
#include "family/reference.h"

struct key {
	const char *name;
	const char *help;                 /* NULL if there is none */
	const char **values;              /* of an enum, NULL-terminated; NULL: a number */
	bool is_real;                     /* the number; else an integer */
	int64_t min, max;                 /* of an integer */
	struct expression *default_value; /* over keys; NULL: must be given */
	struct define_way way;
	bool is_constant; /* becomes a -D; else a kernel argument */
};

/* A formula about a candidate. */
struct fact_text {
	const char *name, *unit, *source;
	const char *as; /* the name by which later facts read its value; NULL */
	struct formula expression, when;
};

/* "advise": which keys may be chosen a little larger or smaller, and to multiples of what. A size
 * with "padding": filled up with zeros, the larger problem holds the asked one's result; the
 * model's designer chooses the other sizes. A pitch (elements from row to row) changes neither work
 * nor result. */
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
	const char *sweep; /* a problem: values of a sweep for keys that are not given; "" */
};

struct operation {
	struct json *tree;
	char *file; /* path of operation.json */
	const char *name, *summary;
	struct key *keys;
	size_t key_count;
	struct name_table key_names;
	bool shows_defaults;   /* titles of problems name every key */
	size_t *default_order; /* every key, those that a default reads before it */
	struct condition_list constraints;
	struct tensor *tensors;
	size_t tensor_count;
	bool is_deterministic;               /* else bits may differ from run to run */
	struct expression *flop, *min_bytes; /* NULL: not known; every tensor once */
	struct tolerance tolerance;          /* of outputs that have none of their own */
	struct reference_list references;
	struct fact_text *facts;
	size_t fact_count;
	struct advice_list advice;
};
RECORD_DECLARE(struct operation, operation_record);

/* Takes the tree, which is that of `file`. place: where the references' sources are; NULL: they are
 * not loaded. name: what it must be called; NULL: anything. template_folders: for their includes.
 */
enum status operation_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const char *const *template_folders, struct operation **operation,
	struct error *err);
void operation_free(struct operation *operation);

struct problem;
/* The axis' multiples for a problem, ascending, without those below 2. Caller frees *multiples. */
enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err);

/* The tensors as buffers, in their order; values: keys first. */
enum status operation_tensors_evaluate(const struct operation *operation,
	const struct value *values, struct plan_buffer *buffers, struct error *err);

#endif
