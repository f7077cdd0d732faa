/* SPDX-License-Identifier: MIT */
#include "candidate/resources.h"

const char *const kernel_flag_names[FLAG_COUNT + 1] = {
	[FLAG_BIT_SPILLS] = "spills",
	[FLAG_BIT_WGMMA_SERIALIZED] = "wgmma_serialized",
	[FLAG_BIT_SETMAXNREG_IGNORED] = "setmaxnreg_ignored",
	[FLAG_BIT_THROTTLED] = "throttled",
};

#define AMOUNT(field, meaning)                                                                     \
	RECORD_VALUE(struct kernel_resources, field, #field, meaning, .low = -1, .high = INT32_MAX)
static const struct record_member resources_members[] = {
	AMOUNT(regs_per_thread, "registers of a thread"),
	AMOUNT(smem_static_bytes, "shared memory that the kernel declares"),
	AMOUNT(spill_store_bytes, "written to local memory for want of registers, per thread"),
	AMOUNT(spill_load_bytes, "read back"),
	AMOUNT(stack_bytes, "of a thread"),
	AMOUNT(barriers, "named barriers of a block"),
	RECORD_FLAGS(struct kernel_resources, flags, kernel_flag_names, "flags",
		"what the compiler remarked"),
	AMOUNT(blocks_per_sm, "resident at once; -1: not known"),
	AMOUNT(max_clusters, "resident on the GPU at once; -1: no clusters, or not known"),
};
#undef AMOUNT
RECORD_DEFINE(struct kernel_resources, kernel_resources_record, resources_members,
	.name = "resources", .help = "what a compiled kernel takes; -1: not known");
