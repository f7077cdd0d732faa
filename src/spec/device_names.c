/* SPDX-License-Identifier: MIT
 *
 * The device's names that expressions may read, in a fixed order (they are slots of every name
 * table, so the order is part of nothing that is stored).
 */
#include <stddef.h>

#include "base/memory.h"
#include "spec/device_spec.h"

enum field_type {
	FIELD_INT,   /* int */
	FIELD_INT64, /* int64_t */
	FIELD_WARPS, /* max_threads_per_sm / warp_size */
};

static const struct {
	const char *name;
	enum field_type type;
	size_t offset;
} fields[] = {
#define FIELD(name)                                                                                \
	{                                                                                          \
#name, FIELD_INT64, offsetof(struct device_spec, name)                             \
	}
	{"compute_capability", FIELD_INT, offsetof(struct device_spec, compute_capability)},
	FIELD(sm_count),
	FIELD(warp_size),
	FIELD(max_threads_per_block),
	FIELD(max_threads_per_sm),
	FIELD(max_blocks_per_sm),
	{"max_warps_per_sm", FIELD_WARPS, 0},
	FIELD(regs_per_block),
	FIELD(regs_per_sm),
	FIELD(smem_per_block_bytes),
	FIELD(smem_per_sm_bytes),
	FIELD(smem_reserved_bytes),
	FIELD(l2_bytes),
	FIELD(dram_bytes),
#undef FIELD
};

size_t device_spec_name_count(void)
{
	return ARRAY_COUNT(fields);
}

const char *device_spec_name(size_t index)
{
	if (index >= ARRAY_COUNT(fields))
		BUG("device name %zu", index);
	return fields[index].name;
}

struct value device_spec_value(const struct device_spec *spec, size_t index)
{
	const char *field;

	if (index >= ARRAY_COUNT(fields))
		BUG("device name %zu", index);
	field = (const char *)spec + fields[index].offset;
	switch (fields[index].type) {
	case FIELD_INT:
		return value_int(*(const int *)(const void *)field);
	case FIELD_WARPS:
		return value_int(
			spec->warp_size > 0 ? spec->max_threads_per_sm / spec->warp_size : 0);
	case FIELD_INT64:
		break;
	}
	return value_int(*(const int64_t *)(const void *)field);
}
