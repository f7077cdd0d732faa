/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate: every active launch's model, evaluated.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/candidate.h"
#include "kernel/evaluate.h"
#include "kernel/family.h"

enum {
	REGS_LEAST = 16,
	REGS_MOST = 255
};

static enum status launch_work(const struct bound_family *bound, const struct launch *launch,
	struct value *values, const struct plan_buffer *tensors, struct launch_work *work,
	struct error *err)
{
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
	return model_evaluate(&launch->model, bound->family, values, tensors, work, err);
}

static enum status fill_problem(const struct bound_family *bound, const struct value *slots,
	struct work *work, struct error *err)
{
	const struct family *family = bound->family;
	enum status status = problem_flop(bound->problem, &work->flop, err);

	if (status == STATUS_OK)
		status = problem_min_bytes(bound->problem, &work->min_bytes, err);
	for (size_t i = 0; i < family->workspace_count && status == STATUS_OK; i++) {
		struct plan_buffer buffer;

		status = workspace_evaluate(&family->workspaces[i], slots, &buffer, err);
		if (status == STATUS_OK)
			work->workspace_bytes += buffer.bytes;
	}
	return status;
}

enum status candidate_work(const struct bound_family *bound, const struct value *slots,
	struct work *work, struct error *err)
{
	const struct family *family = bound->family;
	struct value *values = memory_copy(slots, family->scope.count * sizeof(*values));
	struct plan_buffer *tensors =
		memory_zeroed(family->operation->tensor_count, sizeof(*tensors));
	enum status status;

	*work = (struct work){0};
	work->launches = memory_zeroed(family->launch_count + 1, sizeof(*work->launches));
	status = fill_problem(bound, slots, work, err);
	if (status == STATUS_OK)
		status = operation_tensors_evaluate(family->operation, slots, tensors, err);
	for (size_t i = 0; i < family->launch_count && status == STATUS_OK; i++) {
		bool is_active;

		status = launch_is_active(&family->launches[i], values, &is_active, err);
		if (status == STATUS_OK && is_active)
			status = launch_work(bound, &family->launches[i], values, tensors,
				&work->launches[work->launch_count++], err);
	}
	if (status != STATUS_OK)
		work_release(work);
	free(tensors);
	free(values);
	return status;
}
