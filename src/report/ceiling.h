/* SPDX-License-Identifier: MIT
 *
 * How fast the pipes of a device can compute with a problem's element type: rates of the device's
 * sheet times multiprocessors times clock.
 */
#ifndef REPORT_CEILING_H
#define REPORT_CEILING_H

#include "report/report.h"

enum {
	CEILINGS_MAX = 3
};

struct ceiling {
	const char *name;        /* "tensor cores (mma.sync)" */
	const char *brief;       /* "mma.sync": for a label in a crowded place */
	double tflops;           /* at the boost clock */
	double sustained_tflops; /* at the clock that dense tensor load leaves; 0: the same */
};

/* Fastest first; 0 without a sheet. */
size_t ceilings_find(const struct report_entry *entry, struct ceiling ceilings[CEILINGS_MAX]);

#endif
