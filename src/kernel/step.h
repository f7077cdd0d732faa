/* SPDX-License-Identifier: MIT
 *
 * Steps of a composite family: problems of other operations that, one after the other, compute
 * this one.
 */
#ifndef KERNEL_STEP_H
#define KERNEL_STEP_H

#include "kernel/expression_json.h"

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

#endif
