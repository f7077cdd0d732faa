/* SPDX-License-Identifier: MIT
 *
 * A launch's grid, block, cluster and shared memory as numbers, within the limits of the device
 * (CUDA C++ Programming Guide, technical specifications per compute capability).
 */
#include <inttypes.h>

#include "family/launch.h"
#include "spec/device_spec.h"

enum {
	GRID_X_MAX = INT32_MAX,
	GRID_YZ_MAX = 65535,
	BLOCK_XY_MAX = 1024,
	BLOCK_Z_MAX = 64,
	CLUSTER_BLOCKS_MAX = 16, /* 8 is portable, 16 on request */
	REPEAT_MAX = 1 << 20,
};

enum status launch_is_active(
	const struct launch *launch, const struct value *values, bool *is_active, struct error *err)
{
	*is_active = true;
	return launch->when ? expression_test(launch->when, values, is_active, err) : STATUS_OK;
}

static enum status evaluate(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, uint32_t *result, struct error *err)
{
	int64_t number;
	enum status status = expression_int(expression, values, &number, err);

	if (status != STATUS_OK)
		return status;
	if (number < least || number > most)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number from %" PRId64 " to %" PRId64 ", found %" PRId64,
			expression_where(expression), least, most, number);
	*result = (uint32_t)number;
	return STATUS_OK;
}

static enum status evaluate_block(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	static const int64_t most[3] = {BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX};
	int64_t threads = 1;

	for (size_t i = 0; i < 3; i++) {
		enum status status =
			evaluate(launch->block.items[i], values, 1, most[i], &shape->block[i], err);

		if (status != STATUS_OK)
			return status;
		threads *= shape->block[i];
	}
	if (threads > device->max_threads_per_block)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " threads in a block, found %" PRId64,
			expression_where(launch->block.items[0]), device->max_threads_per_block,
			threads);
	return STATUS_OK;
}

static enum status evaluate_cluster(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	int64_t most = device->compute_capability >= 90 ? CLUSTER_BLOCKS_MAX : 1;
	int64_t blocks = 1;

	for (size_t i = 0; i < 3; i++) {
		enum status status;

		shape->cluster[i] = 1;
		if (launch->cluster.count == 0)
			continue;
		status = evaluate(
			launch->cluster.items[i], values, 1, most, &shape->cluster[i], err);
		if (status != STATUS_OK)
			return status;
		blocks *= shape->cluster[i];
		if (shape->grid[i] % shape->cluster[i] != 0)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a grid of whole clusters, found %" PRIu32
				" blocks in clusters of %" PRIu32,
				expression_where(launch->cluster.items[i]), shape->grid[i],
				shape->cluster[i]);
	}
	if (blocks > most)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " blocks in a cluster, found %" PRId64,
			expression_where(launch->cluster.items[0]), most, blocks);
	return STATUS_OK;
}

enum status launch_shape_evaluate(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	static const int64_t most[3] = {GRID_X_MAX, GRID_YZ_MAX, GRID_YZ_MAX};
	enum status status = STATUS_OK;

	*shape = (struct launch_shape){.repeat = 1};
	for (size_t i = 0; i < 3 && status == STATUS_OK; i++)
		status = evaluate(launch->grid.items[i], values, 1, most[i], &shape->grid[i], err);
	if (status == STATUS_OK)
		status = evaluate_block(launch, values, device, shape, err);
	if (status == STATUS_OK)
		status = evaluate_cluster(launch, values, device, shape, err);
	if (status == STATUS_OK && launch->smem_bytes)
		status = evaluate(launch->smem_bytes, values, 0, device->smem_per_block_bytes,
			&shape->smem_dynamic_bytes, err);
	if (status == STATUS_OK && launch->repeat)
		status = evaluate(launch->repeat, values, 1, REPEAT_MAX, &shape->repeat, err);
	return status;
}
