/* SPDX-License-Identifier: MIT
 *
 * What entries are held against: the same problem in other files (two runs, two GPUs, two days),
 * the other sizes of a sweep, the ceilings of the device.
 */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "report/report.h"

/* Who is faster, and whether the difference is more than noise. */
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

/* ---- the device's ceilings ---- */
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

/* ---- sizes of a sweep ---- */
struct size_point {
	double size;
	const struct report_entry *entry;
};

struct size_group {
	char *keys; /* "M=N=K": those that move, in the problem's order, without leading dimensions
		       and the like that only follow */
	char *others;              /* "dtype=bf16,...": what all share */
	struct size_point *points; /* ascending */
	size_t count, capacity;
};

struct size_group_list {
	struct size_group *items;
	size_t count, capacity;
};

/* Groups of three sizes or more, the largest first. */
void size_groups_find(const struct report *report, struct size_group_list *groups);
void size_groups_release(struct size_group_list *groups);

#endif
