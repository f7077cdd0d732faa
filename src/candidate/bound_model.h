/* SPDX-License-Identifier: MIT
 *
 * A family's launches and models for one problem on one device, with all that follows from these
 * computed beforehand: candidates are scored by the hundred thousand.
 */
#ifndef CANDIDATE_BOUND_MODEL_H
#define CANDIDATE_BOUND_MODEL_H

#include "candidate/bound_family.h"
#include "family/launch.h"

struct bound_model {
	struct launch *launches; /* specialised copies; without arguments */
	size_t launch_count;
	struct expression **workspace_bytes;
	size_t workspace_count;
	struct plan_buffer *tensors; /* the problem's */
	double flop, min_bytes;
};

/* fixed: values of the slots before the parameters; strings outlive the model. */
enum status bound_model_new(const struct family *family, const struct problem *problem,
	const struct value *fixed, struct bound_model **model, struct error *err);
void bound_model_free(struct bound_model *model);

#endif
