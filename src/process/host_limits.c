/* SPDX-License-Identifier: MIT */
#include "process/host_limits.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

enum {
	WORKERS_MAX = 256
};

/* The largest observed compilation took 650 MB. */
static const double worker_memory_bytes = 700 << 20;

/* Returns the number after the first `key`, or infinity if there is none, as for "max". */
static double file_number(const char *root, const char *name, const char *key)
{
	CLEANUP(memory_free) char *path = path_join(root, name);
	CLEANUP(text_release) struct text content = {0};
	const char *at = file_exists(path) && file_read(path, &content, NULL) == STATUS_OK
				 ? strstr(content.data, key)
				 : NULL;
	char *end;
	const double number = at ? strtod(at + strlen(key), &end) : HUGE_VAL;

	return at && end != at + strlen(key) ? number : HUGE_VAL;
}

static double usable_cores(const char *root)
{
	const double quota = file_number(root, "sys/fs/cgroup/cpu.max", "");
	const double period = file_number(root, "sys/fs/cgroup/cpu.max", " ");
	cpu_set_t set;
	const double cores =
		sched_getaffinity(0, sizeof(set), &set) == 0 ? (double)CPU_COUNT(&set) : 1;

	return fmin(cores, period > 0 && period < HUGE_VAL ? quota / period : HUGE_VAL);
}

static double free_memory_bytes(const char *root)
{
	const double limit = file_number(root, "sys/fs/cgroup/memory.max", "");
	const double used = file_number(root, "sys/fs/cgroup/memory.current", "");
	const double cached = file_number(root, "sys/fs/cgroup/memory.stat", "inactive_file ");
	const double in_group = limit < HUGE_VAL && used < HUGE_VAL && cached < HUGE_VAL
					? limit - used + cached
					: HUGE_VAL;

	return fmin(file_number(root, "proc/meminfo", "MemAvailable:") * 1024, in_group);
}

unsigned host_workers(const char *root)
{
	const double workers =
		fmin(usable_cores(root), free_memory_bytes(root) / worker_memory_bytes);

	return (unsigned)fmax(1, fmin(workers, WORKERS_MAX));
}
