/* SPDX-License-Identifier: MIT */
#include "candidate/resources.h"

const char *const kernel_flag_names[FLAG_COUNT + 1] = {
	[FLAG_BIT_SPILLS] = "spills",
	[FLAG_BIT_WGMMA_SERIALIZED] = "wgmma_serialized",
	[FLAG_BIT_SETMAXNREG_IGNORED] = "setmaxnreg_ignored",
	[FLAG_BIT_THROTTLED] = "throttled",
	[FLAG_BIT_WARM_L2] = "warm_l2",
};

#define AMOUNT(field)                                                                              \
	RECORD_VALUE(struct kernel_resources, field, #field, .low = -1, .high = INT32_MAX)
static const struct record_member resources_members[] = {
	AMOUNT(regs_per_thread),
	AMOUNT(smem_static_bytes),
	AMOUNT(spill_store_bytes),
	AMOUNT(spill_load_bytes),
	AMOUNT(stack_bytes),
	AMOUNT(barriers),
	RECORD_VALUE(struct kernel_resources, threads_per_block, "threads_per_block",
		.flags = RECORD_OPTIONAL, .low = 0, .high = INT32_MAX),
	RECORD_FLAGS(struct kernel_resources, flags, kernel_flag_names, "flags"),
	AMOUNT(blocks_per_sm),
	AMOUNT(max_clusters),
};
#undef AMOUNT
RECORD_DEFINE(
	struct kernel_resources, kernel_resources_record, resources_members, .name = "resources");

int launch_threads(const struct launch_shape *shape, const struct kernel_resources *resources)
{
	return resources->threads_per_block > 0 ? resources->threads_per_block
						: (int)launch_shape_threads(shape);
}
