/* SPDX-License-Identifier: MIT
 *
 * Samples several candidates in turn, so that clock drift hits all alike: rounds over the
 * candidates in a random but reproducible order. A visit to a candidate gives one observation, the
 * median of its samples: those depend on each other.
 *
 * With rest_ratio the GPU rests after each visit, so that it does not reach its power limit.
 *
 * Samples taken while the clock was held down are taken again a few times, within the visit; where
 * that does not help they are kept, and the result carries the flag THROTTLED.
 */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "base/random.h"
#include "measure/runner.h"

/* One candidate. */
struct series {
	struct runner *runner;     /* lives on between requests */
	struct device_reply reply; /* to its job so far: outcome ok; samples are added */
	size_t capacity;           /* of these */
	unsigned retries;
	bool is_retested; /* its last observation was on other inputs, and it was right */
	bool finished;
};

/* Called once per series, in the order in which they end; takes the reply. After a fatal one
 * nothing more comes. */
typedef void sampler_emit(struct device_reply *reply, void *context);

void sampler_serve(struct gpu_session *gpu, struct series *series, size_t count,
	const struct sampling *rule, struct random_state *random, sampler_emit *emit,
	void *context);

/* Pure function: whether observations are so scattered that their median says little: at least
 * three, and half the distance of their quartiles is above a tenth of it. */
bool sampler_is_noisy(const double *observations_us, size_t count);

/* ---- is the clock held down? Read through NVML while kernels run ---- */
/* The power cap is no fault: dense tensor kernels run into it on a healthy card; neither is a
 * clock that was set. What counts is heat and the hardware's brakes; a clock that idled is warmed
 * up. */
enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* not up yet (after idling): work helps */
	THROTTLE_HELD_DOWN,  /* heat or hardware brake: a pause helps */
};

/* Pure function: what a reading means on a card with that highest clock (0: any clock will do). */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
