/* SPDX-License-Identifier: MIT
 *
 * How many compilers this machine can run at once: cores that we may use and memory that is free,
 * bounded by what control groups (version 2) allow where they can be seen.
 */
#ifndef PROCESS_HOST_LIMITS_H
#define PROCESS_HOST_LIMITS_H

#include <stdint.h>

struct host_limits {
	double cores;                    /* a quota may be a fraction */
	uint64_t memory_available_bytes; /* UINT64_MAX: not known */
};

/* root: in front of /proc and /sys, "" for the real ones; a test gives a folder. */
struct host_limits host_limits_read(const char *root);

/* One worker per core, each with memory for a heavy compilation; at least 1. */
unsigned host_limits_workers(const struct host_limits *limits);

#endif
