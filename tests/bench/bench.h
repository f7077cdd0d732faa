/* SPDX-License-Identifier: MIT
 *
 * Shared by benchmarks of the library: the processor time so far, and an exit if a step fails.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"

/* Returns the processor time of all threads of this process. */
static inline double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void expect(enum status status, const struct error *err)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, err->message);
	exit(EXIT_FAILURE);
}

#endif
