/* SPDX-License-Identifier: MIT
 *
 * Inside tune/check*.c only: the rows of a check that are on the GPU together.
 */
#ifndef CHECK_CHECK_GROUP_H
#define CHECK_CHECK_GROUP_H

#include "check/check_parts.h"

enum {
	GROUP_ROWS = 8
};

struct check_group {
	struct check *check;
	struct check_row *rows[GROUP_ROWS];
	size_t count;
	struct check_series series[2 * GROUP_ROWS * CHECK_LOADS + 1]; /* the anchor first */
	size_t series_count;
	/* of each row: where the loads of today's kernel and of the kept one begin, and the loads
	 * merged */
	struct check_series *now[GROUP_ROWS], *then[GROUP_ROWS];
	struct check_series merged_now[GROUP_ROWS], merged_then[GROUP_ROWS];
};

/* Compiled, and nothing is wrong with it so far. */
bool check_row_can_run(const struct check_row *row);
/* Submits the loading of all rows. */
enum status check_load(struct check_group *group, struct error *err);
/* Until everything is loaded and verified; what fails has its verdict. */
enum status check_verify(struct check_group *group, struct error *err);
/* Those that are not 0; they are then. */
void check_unload(struct device *device, device_handle *handles, size_t count);

#endif
