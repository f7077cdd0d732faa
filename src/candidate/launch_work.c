/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"

#include <inttypes.h>
#include <math.h>

#include "base/memory.h"

/* ---- shapes ---- */
/* Returns the beginning of messages about a member; the caller frees it. */
static char *where_of(
	const struct bound_family *bound, size_t index, const void *member, const char *name)
{
	const struct computed *computed = launch_computed(&bound->model.launches[index], member);

	return computed ? string_copy(expression_where(computed->expression))
			: string_format("%s: $.launches[%zu].%s", bound->family->file, index, name);
}

static enum status block_check(const struct bound_family *bound, size_t index,
	const struct launch_shape *shape, struct error *err)
{
	const struct launch_shape *stated = &bound->model.launches[index].work.shape;
	const int64_t threads = launch_shape_threads(shape);
	CLEANUP(memory_free) char *where = NULL;

	if (threads <= bound->device->max_threads_per_block)
		return STATUS_OK;
	where = where_of(bound, index, &stated->block[0], "block[0]");
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected at most %" PRId64 " threads in a block, found %" PRId64, where,
		bound->device->max_threads_per_block, threads);
}

static enum status cluster_check(const struct bound_family *bound, size_t index,
	const struct launch_shape *shape, struct error *err)
{
	const struct launch_shape *stated = &bound->model.launches[index].work.shape;
	const int64_t most = bound->device->compute_capability >= 90 ? CLUSTER_BLOCKS_MAX : 1;
	static const char *const names[] = {"cluster[0]", "cluster[1]", "cluster[2]"};
	int64_t blocks = 1;

	for (size_t i = 0; i < 3; i++) {
		CLEANUP(memory_free) char *where = NULL;

		blocks *= shape->cluster[i];
		if (shape->grid[i] % shape->cluster[i] == 0)
			continue;
		where = where_of(bound, index, &stated->cluster[i], names[i]);
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a grid of whole clusters, found %" PRIu32
			" blocks in clusters of %" PRIu32,
			where, shape->grid[i], shape->cluster[i]);
	}
	if (blocks > most) {
		CLEANUP(memory_free)
		char *where = where_of(bound, index, &stated->cluster[0], "cluster[0]");

		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " blocks in a cluster, found %" PRId64,
			where, most, blocks);
	}
	return STATUS_OK;
}

static enum status shape_check(const struct bound_family *bound, size_t index,
	const struct launch_shape *shape, struct error *err)
{
	const struct launch_shape *stated = &bound->model.launches[index].work.shape;
	CLEANUP(memory_free) char *where = NULL;

	TRY(block_check(bound, index, shape, err));
	TRY(cluster_check(bound, index, shape, err));
	if (shape->smem_dynamic_bytes <= bound->device->smem_per_block_bytes)
		return STATUS_OK;
	where = where_of(bound, index, &stated->smem_dynamic_bytes, "smem_bytes");
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a number from 0 to %" PRId64 ", found %" PRIu32, where,
		bound->device->smem_per_block_bytes, shape->smem_dynamic_bytes);
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

/* ---- launches ---- */
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
	/* Estimates out of range are clamped. */
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
