/* SPDX-License-Identifier: MIT
 *
 * The same problem in several files (two runs, two GPUs, two days): who is faster, and whether the
 * difference is more than noise.
 */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "report/report.h"

struct comparison_row {
	const struct report_entry *first, *second; /* of different files or runs */
	double ratio;                              /* second's time / first's */
	double low, high;                          /* of the ratio, from both intervals */
	const char *verdict;                       /* of the second: "faster", "slower", "same" */
};

struct comparison {
	struct comparison_row *rows;
	size_t count, capacity;
	bool devices_differ;
};

/* Each problem's first appearance against every later one. */
void comparison_make(const struct report *report, struct comparison *comparison);
void comparison_release(struct comparison *comparison);

#endif
