/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

/* Prefixes an error with the place of a shape's member. */
static enum status at_member(const struct bound_family *bound, size_t index, const void *member,
	const char *name, struct error *err)
{
	const struct computed *computed = launch_computed(&bound->model.launches[index], member);

	if (computed)
		error_context(err, "%s", expression_where(computed->expression));
	else
		error_context(err, "%s: $.launches[%zu].%s", bound->family->file, index, name);
	return STATUS_BAD_INPUT;
}

static enum status shape_check(const struct bound_family *bound, size_t index,
	const struct launch_shape *shape, struct error *err)
{
	static const char *const names[] = {"cluster[0]", "cluster[1]", "cluster[2]"};
	const struct launch_shape *stated = &bound->model.launches[index].work.shape;
	const struct device_spec *device = bound->device;
	const int64_t threads = launch_shape_threads(shape);
	const int64_t most = device->compute_capability >= 90 ? CLUSTER_BLOCKS_MAX : 1;
	int64_t blocks = 1;

	if (threads > device->max_threads_per_block) {
		error_set(err, STATUS_BAD_INPUT,
			"expected at most %" PRId64 " threads in a block, found %" PRId64,
			device->max_threads_per_block, threads);
		return at_member(bound, index, &stated->block[0], "block[0]", err);
	}
	for (size_t i = 0; i < 3; i++) {
		blocks *= shape->cluster[i];
		if (shape->grid[i] % shape->cluster[i] == 0)
			continue;
		error_set(err, STATUS_BAD_INPUT,
			"the grid has %" PRIu32
			" blocks, which is not a multiple of the cluster's %" PRIu32,
			shape->grid[i], shape->cluster[i]);
		return at_member(bound, index, &stated->cluster[i], names[i], err);
	}
	if (blocks > most) {
		error_set(err, STATUS_BAD_INPUT,
			"expected at most %" PRId64 " blocks in a cluster, found %" PRId64, most,
			blocks);
		return at_member(bound, index, &stated->cluster[0], names[0], err);
	}
	if (shape->smem_dynamic_bytes <= device->smem_per_block_bytes)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "expected a number from 0 to %" PRId64 ", found %" PRIu32,
		device->smem_per_block_bytes, shape->smem_dynamic_bytes);
	return at_member(bound, index, &stated->smem_dynamic_bytes, "smem_bytes", err);
}

enum status launch_shape_evaluate(const struct bound_family *bound, size_t index,
	struct value *values, struct launch_shape *shape, struct error *err)
{
	const struct launch *launch = &bound->model.launches[index];

	*shape = launch->work.shape;
	TRY(computed_evaluate(&launch->computed, launch->shape_count, shape, values,
		scope_extra_index(&bound->family->scope, EXTRA_LANE), COMPUTED_ALL, err));
	return shape_check(bound, index, shape, err);
}

enum {
	REGS_LEAST = 16,
	REGS_MOST = 255
};

enum status launch_work_evaluate(const struct bound_family *bound, size_t index,
	struct value *values, uint64_t changed, struct launch_work *work, struct error *err)
{
	const struct launch *launch = &bound->model.launches[index];
	const struct launch_shape *shape = &work->shape;

	TRY(computed_evaluate(&launch->computed, launch->computed.count, work, values,
		scope_extra_index(&bound->family->scope, EXTRA_LANE), changed, err));
	TRY(shape_check(bound, index, shape, err));
	/* Clamp estimates to the valid range. */
	if (work->regs_estimate < REGS_LEAST)
		work->regs_estimate = REGS_LEAST;
	if (work->regs_estimate > REGS_MOST)
		work->regs_estimate = REGS_MOST;
	if (isnan(launch->work.units))
		work->units = (double)shape->grid[0] * shape->grid[1] * shape->grid[2];
	if (isnan(launch->work.steps_max))
		work->steps_max = work->steps_mean;
	return STATUS_OK;
}
