/* SPDX-License-Identifier: MIT */
#include "plan/work.h"

#include <stdlib.h>

#include "base/memory.h"

const char *const schedule_names[] = {
	[SCHEDULE_GRID] = "grid",
	[SCHEDULE_PERSISTENT] = "persistent",
	[SCHEDULE_STREAM_K] = "stream_k",
	NULL,
};

struct launch_work launch_work_copy(const struct launch_work *work)
{
	struct launch_work copy = *work;

	copy.smem_accesses = memory_copy(
		work->smem_accesses, work->smem_access_count * sizeof(*copy.smem_accesses));
	copy.tiles = memory_copy(work->tiles, work->tile_count * sizeof(*copy.tiles));
	return copy;
}

void launch_work_release(struct launch_work *work)
{
	free(work->smem_accesses);
	free(work->tiles);
	*work = (struct launch_work){0};
}

void work_release(struct work *work)
{
	for (size_t i = 0; i < work->launch_count; i++)
		launch_work_release(&work->launches[i]);
	free(work->launches);
	*work = (struct work){0};
}
