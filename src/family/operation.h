/* SPDX-License-Identifier: MIT
 *
 * An operation loaded from templates/<operation>/operation.json. Strings are borrowed from the
 * JSON tree, which lives as long as the operation.
 */
#ifndef FAMILY_OPERATION_H
#define FAMILY_OPERATION_H

#include "family/compile_option.h"
#include "family/reference.h"

struct key {
	const char *name;
	const char *help;    /* may be NULL */
	const char **values; /* NULL-terminated values of an enum; NULL for a number */
	bool is_real;
	int64_t min, max;
	struct expression *default_value; /* an expression that may read other keys; NULL if the key
					     is required */
	struct define_binding binding;
	bool is_constant; /* passed as a -D; if false, as a kernel argument */
};

struct fact_text {
	const char *name, *unit, *source;
	const char *as;                /* name by which later facts read the value; may be NULL */
	const char *expression, *when; /* compiled for each family; `when` may be NULL */
};

/* An item of "advise": a key that may change slightly, and the multiples to try. With padding, the
 * result of a larger problem filled up with zeros contains the original result. A pitch affects
 * neither work nor result. */
struct advice_axis {
	const char *name;
	size_t key;
	bool is_pitch;
	bool is_padding;
	struct expression *multiples; /* evaluates to a list of integers */
};
struct advice_list {
	struct advice_axis *items; /* sizes, then pitches; empty if the operation gives no advice */
	size_t count;
	struct advice_axis *pitches; /* used only while reading */
	size_t pitch_count;
	const char *sweep; /* a problem text with sweeps for keys that are not given; may be "" */
};

struct operation {
	struct json *tree;
	char *file;
	const char *name, *summary;
	struct key *keys;
	size_t key_count;
	struct name_table key_names;
	bool shows_defaults;   /* titles of problems include keys with default values */
	size_t *default_order; /* all keys; a default follows the keys that it reads */
	struct condition_list constraints;
	struct tensor *tensors;
	size_t tensor_count;
	bool is_deterministic;               /* if false, repeated runs may differ in bits */
	struct expression *flop, *min_bytes; /* either may be NULL */
	struct tolerance tolerance;
	struct reference_list references;
	struct fact_text *facts;
	size_t fact_count;
	struct advice_list advice;
};
RECORD_DECLARE(struct operation, operation_record);

/* Takes the tree of `file`. `place` is the sources' folder; NULL does not load sources. `name` is
 * the required name, or NULL. */
enum status operation_load(struct json *tree, const char *file, const struct source_place *place,
	const char *name, const char *const *template_folders, struct operation **operation,
	struct error *err);
void operation_free(struct operation *operation);

struct problem;
/* Computes the axis' multiples for a problem, ascending, without those below 2. The caller frees
 * *multiples. */
enum status advice_multiples(const struct problem *problem, const struct advice_axis *axis,
	int64_t **multiples, size_t *count, struct error *err);

/* Evaluates the tensors and stores them in `buffers` in the same order. values begins with the
 * keys. */
enum status operation_tensors_evaluate(const struct operation *operation, struct value *values,
	struct plan_buffer *buffers, struct error *err);

#endif
