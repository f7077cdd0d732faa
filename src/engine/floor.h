/* SPDX-License-Identifier: MIT
 *
 * The lower bound of a problem's time on a GPU. A shorter time cannot be right and never wins.
 */
#ifndef ENGINE_FLOOR_H
#define ENGINE_FLOOR_H

#include "family/problem.h"
#include "format/result.h"

/* Members are 0 if not known. */
struct time_floor {
	double bytes, bytes_per_s; /* bytes that must move, and maximum bandwidth */
	double flop, flop_per_s;
	bool is_l2; /* the bandwidth is that of the L2 cache */
};

/* warm_l2: runs find their data in the L2 cache. The floor assumes rates slightly above the
 * sheet's, and that part of the data stays in the L2 cache. */
struct time_floor time_floor_of(
	const struct problem *problem, const struct device_spec *device, bool warm_l2);
double time_floor_us(const struct time_floor *floor);
/* Sets the outcome to too_fast if the measured time is below the floor. */
void time_floor_apply(
	const struct problem *problem, const struct device_spec *device, struct result *result);

#endif
