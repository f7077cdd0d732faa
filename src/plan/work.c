/* SPDX-License-Identifier: MIT */
#include "plan/work.h"

#include <stdlib.h>

const char *const schedule_names[] = {
	[SCHEDULE_GRID] = "grid",
	[SCHEDULE_PERSISTENT] = "persistent",
	[SCHEDULE_STREAM_K] = "stream_k",
	NULL,
};

void work_release(struct work *work)
{
	for (size_t i = 0; i < work->launch_count; i++) {
		free(work->launches[i].smem_accesses);
		free(work->launches[i].tiles);
	}
	free(work->launches);
	*work = (struct work){0};
}
