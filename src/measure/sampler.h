/* SPDX-License-Identifier: MIT
 *
 * Samples candidates in turn, in random but reproducible order, so that clock drift affects all
 * equally (README.md). The median of a sample batch is one observation. Samples under a throttled
 * clock are repeated a few times; then they count, with the flag THROTTLED.
 */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "base/random.h"
#include "measure/runner.h"

struct series {
	struct runner *runner; /* borrowed */
	struct device_reply reply;
	size_t capacity;
	unsigned retries;
	bool is_retested; /* its last observation was verified on the second inputs */
	bool finished;
};

/* Takes the reply of an ended series; a fatal one is the last. */
typedef void sampler_emit(struct device_reply *reply, void *context);

void sampler_serve(struct gpu_session *gpu, struct series *series, size_t count,
	const struct sampling *rule, struct random_state *random, sampler_emit *emit,
	void *context);

/* Returns whether half of the interquartile range of at least three observations exceeds 10% of the
 * median. Pure function. */
bool sampler_is_noisy(const double *observations_us, size_t count);

/* Only heat and hardware slowdowns count: tensor kernels reach the power cap on a healthy card, and
 * users lock clocks. */
enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* low after idling; work raises it */
	THROTTLE_HELD_DOWN,  /* a pause helps */
};

/* clock_sm_max_hz 0 accepts any clock. Pure function. */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
