/* SPDX-License-Identifier: MIT
 *
 * Steps of a composite family: problems of other operations that, one after the other, compute
 * this one.
 */
#ifndef FAMILY_STEP_H
#define FAMILY_STEP_H

#include "family/expression_json.h"

/* A key of the step's operation, over the keys of this one. */
struct step_value {
	const char *key;
	struct expression *expression;
};

/* A tensor of the step's operation: which tensor or workspace of this family it is. */
struct step_tensor {
	const char *name;
	uint32_t buffer; /* of the family's plan */
};

struct step {
	const char *operation;
	struct step_value *values;
	size_t value_count;
	struct step_tensor *tensors;
	size_t tensor_count;
};
RECORD_DECLARE(struct step, step_record);

struct family;
struct catalogue;
struct problem;
/* Which tensor or workspace of the family a tensor of the step is; NULL: not said. */
const char *family_step_tensor(const struct family *family, size_t step, const char *tensor);

/* The step's operation and its problem for this problem. Caller frees the problem. */
enum status family_step_problem(const struct catalogue *catalogue, const struct family *family,
	size_t step, const struct problem *problem, struct problem **step_problem,
	struct error *err);

#endif
