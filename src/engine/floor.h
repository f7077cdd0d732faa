/* SPDX-License-Identifier: MIT
 *
 * The lower bound of a problem's time on a GPU. A measured time below it cannot be right and
 * never wins.
 */
#ifndef ENGINE_FLOOR_H
#define ENGINE_FLOOR_H

#include "family/problem.h"
#include "format/result.h"
#include "spec/device_spec.h"

/* Members that are not known are 0. */
struct time_floor {
	double bytes, bytes_per_s; /* bytes that must move; maximum bandwidth */
	double flop, flop_per_s;   /* flop is 0 if the operation does not say it */
	bool is_l2;                /* bytes come from the L2 cache */
};

/* warm_l2 says that runs find their data in the L2 cache. The floor assumes rates slightly above
 * those of the sheet and that part of the data stays in the L2 cache, so no correct kernel is
 * faster. */
struct time_floor time_floor_of(
	const struct problem *problem, const struct device_spec *device, bool warm_l2);
double time_floor_us(const struct time_floor *floor);
/* Sets the result's outcome to too_fast if it was measured and its time is below the floor. */
void time_floor_apply(
	const struct problem *problem, const struct device_spec *device, struct result *result);

#endif
