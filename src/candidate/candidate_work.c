/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate: every active launch's model, evaluated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_model.h"
#include "candidate/candidate.h"
#include "candidate/composite.h"
#include "family/family.h"

enum {
	REGS_LEAST = 16,
	REGS_MOST = 255
};

static enum status launch_work(const struct bound_family *bound, size_t index, struct value *values,
	struct launch_work *work, struct error *err)
{
	const struct bound_model *model = bound->model;
	const struct launch *launch = &model->launches[index];
	struct launch_shape shape;
	int64_t regs;
	enum status status = launch_shape_evaluate(launch, values, bound->device, &shape, err);

	if (status == STATUS_OK)
		status = expression_int(launch->regs_estimate, values, &regs, err);
	if (status != STATUS_OK)
		return status;
	work->entry = string_copy(launch->entry);
	memcpy(work->grid, shape.grid, sizeof(work->grid));
	memcpy(work->block, shape.block, sizeof(work->block));
	memcpy(work->cluster, shape.cluster, sizeof(work->cluster));
	work->smem_dynamic_bytes = shape.smem_dynamic_bytes;
	work->repeat = shape.repeat;
	/* an estimate is a guess: outside of what there is it means "the least" or "the most" */
	work->regs_estimate = regs < REGS_LEAST  ? REGS_LEAST
			      : regs > REGS_MOST ? REGS_MOST
						 : (int32_t)regs;
	return model_evaluate(&launch->model, values,
		scope_extra_slot(&bound->family->scope, EXTRA_LANE), model->tensors,
		model->memos[index], work, err);
}

static enum status sum_workspaces(const struct bound_model *model, const struct value *values,
	uint64_t *workspace_bytes, struct error *err)
{
	for (size_t i = 0; i < model->workspace_count; i++) {
		int64_t bytes;
		enum status status = expression_int(model->workspace_bytes[i], values, &bytes, err);

		if (status != STATUS_OK)
			return status;
		if (bytes > 0)
			*workspace_bytes += (uint64_t)bytes;
	}
	return STATUS_OK;
}

enum status candidate_work(const struct bound_family *bound, const struct value *slots,
	struct work *work, struct error *err)
{
	const struct bound_model *model = bound->model;
	struct value *values = memory_copy(slots, bound->family->scope.count * sizeof(*values));
	enum status status;

	*work = (struct work){.flop = model->flop, .min_bytes = model->min_bytes};
	work->launches = memory_zeroed(model->launch_count, sizeof(*work->launches));
	status = sum_workspaces(model, values, &work->workspace_bytes, err);
	for (size_t i = 0; i < model->launch_count && status == STATUS_OK; i++) {
		bool is_active;

		status = launch_is_active(&model->launches[i], values, &is_active, err);
		if (status == STATUS_OK && is_active)
			status = launch_work(
				bound, i, values, &work->launches[work->launch_count++], err);
	}
	if (status == STATUS_OK && bound->composite)
		status = composite_work(bound, work, err);
	if (status != STATUS_OK)
		work_release(work);
	free(values);
	return status;
}
