/* SPDX-License-Identifier: MIT */
#include "measure/anchor.h"

#include "base/memory.h"
#include "base/text.h"
#include "measure/helper_layout.h"

void anchor_plan(int64_t sm_count, struct plan *plan)
{
	uint32_t blocks = (uint32_t)sm_count * ANCHOR_BLOCKS_PER_SM;
	struct plan_launch *launch;

	*plan = (struct plan){.buffer_count = 1, .launch_count = 1};
	plan->buffers = memory_zeroed(1, sizeof(*plan->buffers));
	plan->launches = memory_zeroed(1, sizeof(*plan->launches));
	string_put(plan->buffers->name, sizeof(plan->buffers->name), "out");
	plan->buffers->role = BUFFER_WORKSPACE;
	plan->buffers->bytes = (uint64_t)blocks * ANCHOR_BLOCK * sizeof(float);
	plan->workspace_bytes = plan->buffers->bytes;
	launch = plan->launches;
	*launch = (struct plan_launch){
		.entry = string_copy("tt_anchor_1"),
		.grid = {blocks, 1, 1},
		.block = {ANCHOR_BLOCK, 1, 1},
		.cluster = {1, 1, 1},
		.repeat = 1,
		.argument_count = ANCHOR_ARGUMENTS,
	};
	launch->arguments = memory_zeroed(ANCHOR_ARGUMENTS, sizeof(*launch->arguments));
	launch->arguments[ANCHOR_OUT].kind = ARGUMENT_BUFFER;
	launch->arguments[ANCHOR_COUNT].kind = ARGUMENT_INT32;
	launch->arguments[ANCHOR_COUNT].integer = ANCHOR_ITERATIONS;
}
