/* SPDX-License-Identifier: MIT
 *
 * The driver's rules for a tensor map, from the comment at cuTensorMapEncodeTiled in cuda.h (CUDA
 * 13.0), for maps without interleave and with element strides of 1. The address (16-byte aligned)
 * is the allocator's affair.
 */
#include <inttypes.h>

#include "family/plan.h"

enum {
	STRIDE_ALIGNMENT = 16,
	BOX_MAX = 256,
	BOX_ALIGNMENT = 16,
};
static const uint64_t dim_max = (uint64_t)1 << 32;
static const uint64_t stride_limit = (uint64_t)1 << 40;

static enum status check_dims(const struct plan_tensor_map *map, struct error *err)
{
	for (uint32_t i = 0; i < map->rank; i++) {
		if (map->dims[i] < 1 || map->dims[i] > dim_max)
			return error_set(err, STATUS_BAD_INPUT,
				"tensor map %s: dims[%" PRIu32
				"]: expected 1 to 2^32, found %" PRIu64,
				map->name, i, map->dims[i]);
		if (map->box[i] < 1 || map->box[i] > BOX_MAX)
			return error_set(err, STATUS_BAD_INPUT,
				"tensor map %s: box[%" PRIu32 "]: expected 1 to %d, found %" PRIu32,
				map->name, i, BOX_MAX, map->box[i]);
	}
	return STATUS_OK;
}

static enum status check_strides(
	const struct plan_tensor_map *map, uint64_t element_bytes, struct error *err)
{
	uint64_t least = map->dims[0] * element_bytes;

	for (uint32_t i = 0; i + 1 < map->rank; i++) {
		uint64_t stride = map->strides[i];

		if (stride % STRIDE_ALIGNMENT != 0 || stride >= stride_limit)
			return error_set(err, STATUS_BAD_INPUT,
				"tensor map %s: strides[%" PRIu32
				"]: expected a multiple of %d bytes below 2^40, found %" PRIu64,
				map->name, i, STRIDE_ALIGNMENT, stride);
		/* rows that overlap are no rule of the driver's for outer dimensions, but an inner
		 * dimension longer than its pitch is refused */
		if (i == 0 && stride < least)
			return error_set(err, STATUS_BAD_INPUT,
				"tensor map %s: strides[0]: expected at least the %" PRIu64
				" bytes of a row, found %" PRIu64,
				map->name, least, stride);
	}
	return STATUS_OK;
}

static enum status check_swizzle(
	const struct plan_tensor_map *map, uint64_t box_bytes, struct error *err)
{
	uint32_t swizzle = map->swizzle_bytes, promotion = map->l2_promotion_bytes;

	if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor map %s: swizzle: expected 0, 32, 64 or 128, found %" PRIu32,
			map->name, swizzle);
	if (swizzle != 0 && box_bytes > swizzle)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor map %s: box[0]: expected at most the swizzle's %" PRIu32
			" bytes, found %" PRIu64,
			map->name, swizzle, box_bytes);
	if (promotion != 0 && promotion != 64 && promotion != 128 && promotion != 256)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor map %s: l2_promotion: expected 0, 64, 128 or 256, found %" PRIu32,
			map->name, promotion);
	return STATUS_OK;
}

enum status plan_tensor_map_check(const struct plan_tensor_map *map, struct error *err)
{
	uint64_t element_bytes = dtype_size(map->dtype);
	uint64_t box_bytes = map->box[0] * element_bytes;

	if (map->rank == 0)
		return STATUS_OK;
	if (map->rank > TENSOR_MAP_RANK_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor map %s: expected at most %d dimensions, found %" PRIu32, map->name,
			TENSOR_MAP_RANK_MAX, map->rank);
	if (check_dims(map, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (box_bytes % BOX_ALIGNMENT != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"tensor map %s: box[0]: expected a multiple of %d bytes, found %" PRIu64,
			map->name, BOX_ALIGNMENT, box_bytes);
	if (check_strides(map, element_bytes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return check_swizzle(map, box_bytes, err);
}
