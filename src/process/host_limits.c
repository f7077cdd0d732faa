/* SPDX-License-Identifier: MIT */
#include "process/host_limits.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

enum {
	WORKERS_MAX = 256
};

/* The most that a worker was seen to take is 650 MB; 250 MB is usual. */
static const uint64_t worker_memory_bytes = (uint64_t)700 << 20;

/* A whole small file, empty if it cannot be read. Caller releases. */
static struct text file_text(const char *root, const char *folder, const char *name)
{
	char *path = string_format("%s%s/%s", root, folder, name);
	struct text content = {0};

	if (file_exists(path))
		file_read(path, &content, NULL);
	free(path);
	return content;
}

/* The number after `key` (at a line's start; "" for the file's first), or UINT64_MAX. "max" and
 * anything else that is no number count as no limit. */
static uint64_t number_after(const char *content, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = content; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, length) == 0) {
			char *end;
			uint64_t value = strtoull(line + length, &end, 10);

			return end == line + length ? UINT64_MAX : value;
		}
	}
	return UINT64_MAX;
}

static uint64_t file_number(const char *root, const char *folder, const char *name, const char *key)
{
	struct text content = file_text(root, folder, name);
	uint64_t value = content.length ? number_after(content.data, key) : UINT64_MAX;

	text_release(&content);
	return value;
}

static void bound_cores(struct host_limits *limits, uint64_t quota, uint64_t period)
{
	if (quota == UINT64_MAX || period == UINT64_MAX || period == 0 || quota > INT64_MAX)
		return;
	if ((double)quota / (double)period < limits->cores)
		limits->cores = (double)quota / (double)period;
}

/* What a group may still take; unused pages of files count as free. */
static void bound_memory(
	struct host_limits *limits, uint64_t limit, uint64_t used, uint64_t reclaimable)
{
	uint64_t free_bytes;

	if (limit == UINT64_MAX || used == UINT64_MAX)
		return;
	if (reclaimable != UINT64_MAX)
		used -= reclaimable < used ? reclaimable : used;
	free_bytes = limit > used ? limit - used : 0;
	if (free_bytes < limits->memory_available_bytes)
		limits->memory_available_bytes = free_bytes;
}

static void read_group(const char *root, const char *folder, struct host_limits *limits)
{
	struct text cpu = file_text(root, folder, "cpu.max");
	unsigned long long quota, period;

	if (cpu.length && sscanf(cpu.data, "%20llu %20llu", &quota, &period) == 2)
		bound_cores(limits, quota, period);
	text_release(&cpu);
	bound_memory(limits, file_number(root, folder, "memory.max", ""),
		file_number(root, folder, "memory.current", ""),
		file_number(root, folder, "memory.stat", "inactive_file "));
}

/* A group and all above it: each may set a limit. */
static void read_upwards(const char *root, const char *group, struct host_limits *limits)
{
	char *path = string_copy(group);

	for (;;) {
		char *folder = string_format("/sys/fs/cgroup%s", path);
		char *slash = strrchr(path, '/');

		read_group(root, folder, limits);
		free(folder);
		if (!slash || path[0] == '\0')
			break;
		*slash = '\0';
	}
	free(path);
}

static double usable_cores(void)
{
	cpu_set_t set;
	long online;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		return CPU_COUNT(&set);
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (double)online : 1;
}

struct host_limits host_limits_read(const char *root)
{
	struct host_limits limits = {usable_cores(), UINT64_MAX};
	struct text groups = file_text(root, "/proc/self", "cgroup");
	uint64_t available_kib = file_number(root, "/proc", "meminfo", "MemAvailable:");

	if (available_kib != UINT64_MAX)
		limits.memory_available_bytes = available_kib << 10;
	/* "0::/path" */
	if (string_starts_with(text_string(&groups), "0::")) {
		groups.data[strcspn(groups.data, "\n")] = '\0';
		read_upwards(root, groups.data + 3, &limits);
	}
	text_release(&groups);
	return limits;
}

unsigned host_limits_workers(const struct host_limits *limits)
{
	uint64_t by_memory = limits->memory_available_bytes / worker_memory_bytes;
	double workers = limits->cores;

	if ((double)by_memory < workers)
		workers = (double)by_memory;
	if (workers > WORKERS_MAX)
		workers = WORKERS_MAX;
	return workers < 1 ? 1 : (unsigned)workers;
}
