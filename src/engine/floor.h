/* SPDX-License-Identifier: MIT
 *
 * The least time that any kernel takes for a problem: a measured time below it is no kernel's, and
 * never wins.
 */
#ifndef ENGINE_FLOOR_H
#define ENGINE_FLOOR_H

#include "family/problem.h"
#include "format/result.h"
#include "spec/device_spec.h"

/* 0: not known. */
struct time_floor {
	double bytes, bytes_per_s; /* that must move; what the memory can do at most */
	double flop, flop_per_s;   /* flop 0: the operation does not say */
	bool is_l2;                /* the bytes come from the L2 cache */
};

/* warm_l2: runs find their data in the L2 cache. Rates are a little above what the sheet says, and
 * part of the data may stay in the L2 in any case: no right kernel is below the floor. */
struct time_floor time_floor_of(
	const struct problem *problem, const struct device_spec *device, bool warm_l2);
double time_floor_us(const struct time_floor *floor);
/* The result becomes too_fast if it was measured, and its time is below the floor. */
void time_floor_apply(
	const struct problem *problem, const struct device_spec *device, struct result *result);

#endif
