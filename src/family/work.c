/* SPDX-License-Identifier: MIT
 *
 * Releasing work; names of schedules.
 */
#include "family/work.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/schedule_name.h"

static const char *const schedule_names[] = {
	[SCHEDULE_GRID] = "grid",
	[SCHEDULE_PERSISTENT] = "persistent",
	[SCHEDULE_STREAM_K] = "stream_k",
};

const char *schedule_name(enum schedule schedule)
{
	if ((size_t)schedule >= ARRAY_COUNT(schedule_names))
		BUG("schedule %d", (int)schedule);
	return schedule_names[schedule];
}

bool schedule_find(const char *name, enum schedule *schedule)
{
	for (size_t i = 0; i < ARRAY_COUNT(schedule_names); i++) {
		if (strcmp(schedule_names[i], name) == 0) {
			*schedule = (enum schedule)i;
			return true;
		}
	}
	return false;
}

void work_release(struct work *work)
{
	for (size_t i = 0; i < work->launch_count; i++) {
		free(work->launches[i].smem_accesses);
		free(work->launches[i].tiles);
	}
	free(work->launches);
	*work = (struct work){0};
}
