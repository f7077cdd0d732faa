/* SPDX-License-Identifier: MIT
 *
 * Tensors of an operation: how their shape, pitch and element type follow from a problem.
 */
#ifndef FAMILY_TENSOR_H
#define FAMILY_TENSOR_H

#include "family/expression_json.h"
#include "family/plan.h"

enum {
	TENSOR_RANK_MAX = 8
};

struct tensor {
	const char *name;              /* borrowed from the operation's JSON */
	struct expression_list shape;  /* outermost dimension first */
	struct expression *ld;         /* elements; NULL: packed */
	struct expression *dtype_text; /* gives a name; NULL: dtype is fixed */
	enum dtype dtype;
	bool is_output;
	double fill_low, fill_high;
};

/* at: a member of "tensors"; names: the problem's keys. */
enum status tensor_read(const struct json_at *at, const struct name_table *names,
	struct tensor *tensor, struct error *err);
void tensor_release(struct tensor *tensor);
/* values: one per key. Errors: a dimension below 1, a pitch below the row, more than 2^63 bytes. */
enum status tensor_evaluate(const struct tensor *tensor, const struct value *values,
	struct plan_buffer *buffer, struct error *err);

/* An element type from an expression's value. */
enum status dtype_evaluate(const struct expression *expression, const struct value *values,
	enum dtype *dtype, struct error *err);
/* A member that is an element type: its bare name, or an expression. Exactly one of the results is
 * set (*expression NULL: *dtype). */
enum status dtype_json_read(const struct json_at *at, const struct name_table *names,
	struct expression **expression, enum dtype *dtype, struct error *err);

#endif
