/* SPDX-License-Identifier: MIT
 *
 * Entries of one file that differ in one size alone (or in several that move together, as in
 * M=N=K): what a sweep leaves behind.
 */
#ifndef REPORT_SIZE_GROUP_H
#define REPORT_SIZE_GROUP_H

#include "report/report.h"

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
