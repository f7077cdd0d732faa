/* SPDX-License-Identifier: MIT
 *
 * Steps of a composite family: problems of other operations that, one after the other, compute
 * this one.
 */
#ifndef FAMILY_STEP_H
#define FAMILY_STEP_H

#include "family/catalogue.h"
#include "family/expression_json.h"

struct step {
	const char *operation;
	/* "problem": {key of the step's operation: expression over this one's keys} */
	const char **keys;
	struct expression **values;
	size_t key_count;
	/* "tensors": {tensor of the step's operation: tensor or workspace of this family} */
	const char **tensors;
	uint32_t *buffers; /* of the family, see family_buffer_names() */
	size_t tensor_count;
};

void step_release(struct step *step);

struct family;
/* The name of the step's operation. */
const char *family_step_operation(const struct family *family, size_t step);
/* Which tensor or workspace of the family a tensor of the step is; NULL: not said. */
const char *family_step_tensor(const struct family *family, size_t step, const char *tensor);

size_t family_step_count(const struct family *family);
/* The step's operation and its problem for this problem. Caller frees the problem. */
enum status family_step_problem(const struct catalogue *catalogue, const struct family *family,
	size_t step, const struct problem *problem, struct problem **step_problem,
	struct error *err);

#endif
