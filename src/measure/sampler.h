/* SPDX-License-Identifier: MIT
 *
 * Samples several candidates in turn, so that clock drift hits all alike: rounds over the
 * candidates in a random but reproducible order, until each has enough.
 *
 * With rest_ratio the GPU rests after each visit, so that it does not reach its power limit.
 *
 * Samples taken while the clock was held down are taken again a few times; where that does not
 * help they are kept, and the result carries the flag THROTTLED.
 */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "base/random.h"
#include "measure/runner.h"

struct sampler_entry {
	uint32_t handle;
	const struct loaded *loaded; /* NULL: unknown handle */
	struct runner *runner;       /* lives on between requests */
};

/* Called once per entry, in the order in which they end; result is released by the sampler. After
 * a fatal one nothing more comes. */
typedef void sampler_emit(struct device_event *result, void *context);

void sampler_serve(struct gpu_session *gpu, struct sampler_entry *entries, size_t count,
	const struct sampling *request, struct random_state *random, sampler_emit *emit,
	void *context);

/* ---- when there are enough samples: pure functions of those so far ---- */
enum stop {
	STOP_NOT_YET,
	STOP_FULL,    /* rounds_max samples */
	STOP_PRECISE, /* the interval is narrow enough */
	STOP_STABLE,  /* more samples no longer change the noise: waiting buys little */
	STOP_GIVE_UP, /* clearly slower than give_up_us */
};

enum {
	STOP_GIVE_UP_SAMPLES = 2, /* all above give_up_us: enough to tell */
	STOP_STABLE_SAMPLES = 24, /* before this many nobody knows the noise */
};

/* Of the rule the rounds, the target and when to give up count. */
enum stop stop_decide(const struct sampling *rule, const double *samples_us, size_t count);

/* Half of the median's 95% confidence interval over the median; infinite without samples. */
double stop_half_interval_ratio(const double *samples_us, size_t count);

/* Whether samples are so scattered that their median says little: after at least 6 of them the half
 * interval is still above a tenth of the median. */
bool stop_is_noisy(const double *samples_us, size_t count);

/* ---- is the clock held down? Read through NVML while kernels run ---- */
/* The ordinary power cap is no fault: dense tensor kernels run into it on a healthy card. What
 * counts is heat, the hardware's brakes, and a clock far below what the card can do. */
enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* not up yet (after idling), or capped far down: more work helps */
	THROTTLE_HELD_DOWN,  /* heat or hardware brake: a pause helps */
};

/* Pure function: what a reading means on a card with that highest clock. */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
