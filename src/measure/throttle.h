/* SPDX-License-Identifier: MIT
 *
 * Is the GPU's clock held down while we measure? Read through NVML while kernels run.
 *
 * The ordinary power cap is no fault: dense tensor kernels run into it on a healthy card. What
 * counts is heat, the hardware's brakes, and a clock far below what the card can do.
 */
#ifndef MEASURE_THROTTLE_H
#define MEASURE_THROTTLE_H

#include "measure/gpu_session.h"

enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* not up yet (after idling), or capped far down: more work helps */
	THROTTLE_HELD_DOWN,  /* heat or hardware brake: a pause helps */
};

struct throttle_watch {
	double last_read_s;
	enum throttle last;
};

/* A reading costs up to a millisecond on some systems: one per 2 ms, the last one is repeated. */
enum throttle throttle_check(const struct gpu_session *gpu, struct throttle_watch *watch);
/* Pure function: what a reading means on a card with that highest clock. */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
