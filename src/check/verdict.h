/* SPDX-License-Identifier: MIT
 *
 * The verdict of a row that was timed.
 */
#ifndef CHECK_VERDICT_H
#define CHECK_VERDICT_H

#include "check/row.h"

/* The verdict of a row that was timed; anchor: sampled in the same blocks. */
void check_time(struct check *check, struct check_row *row, const struct block_series *anchor);
/* Whether the row's intervals are narrow enough for a verdict that more blocks would not change. */
bool check_time_is_settled(
	const struct check *check, struct check_row *row, const struct block_series *anchor);

#endif
