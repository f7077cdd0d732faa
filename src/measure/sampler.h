/* SPDX-License-Identifier: MIT
 *
 * Samples several candidates in turn, so that clock drift affects all of them equally. Each round
 * visits the candidates in a random but reproducible order. A sample batch takes a batch of samples
 * and stores their median as one observation, because the samples of a batch are not independent.
 *
 * With rest_ratio the GPU rests after each sample batch, so that it does not reach its power limit.
 * With sustained_s it never rests, and a sample batch lasts until the clock has settled at that
 * limit.
 *
 * Samples that were taken while the clock was throttled are repeated a few times within the sample
 * batch. If that does not help, they count, and the result gets the flag THROTTLED.
 */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "base/random.h"
#include "measure/runner.h"

/* One candidate. */
struct series {
	struct runner *runner;     /* belongs to the caller, who reuses it in later requests */
	struct device_reply reply; /* collects the samples; its outcome must be ok at first */
	size_t capacity;           /* of the reply's samples */
	unsigned retries;
	bool is_retested; /* the last observation was on the second inputs and was verified */
	bool finished;
};

/* Called once per series, in the order in which they end; takes the reply. No call follows a fatal
 * reply. */
typedef void sampler_emit(struct device_reply *reply, void *context);

void sampler_serve(struct gpu_session *gpu, struct series *series, size_t count,
	const struct sampling *rule, struct random_state *random, sampler_emit *emit,
	void *context);

/* Returns whether the median of at least three observations is unreliable: half of the
 * interquartile range exceeds 10% of the median. Pure function. */
bool sampler_is_noisy(const double *observations_us, size_t count);

/* ---- throttling, read through NVML while kernels run ---- */
/* Only heat and hardware slowdowns count as throttling. The power cap does not, because dense
 * tensor kernels reach it on a healthy card; neither does a clock that the user locked. */
enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* the clock is still low after idling; work raises it */
	THROTTLE_HELD_DOWN,  /* heat or a hardware slowdown; a pause helps */
};

/* Interprets a reading from a card with this maximum clock; 0 accepts any clock. Pure function. */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
