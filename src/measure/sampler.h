/* SPDX-License-Identifier: MIT
 *
 * Samples candidates in turn, in random but reproducible order, so that clock drift affects all
 * equally (README.md). Samples under a throttled clock are repeated a few times, then flagged
 * THROTTLED.
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

/* Takes the reply of an ended series. After a fatal reply, none follows. */
typedef void sampler_emit(struct device_reply *reply, void *context);

void sampler_serve(struct gpu_session *gpu, struct series *series, size_t count,
	const struct sampling *rule, struct random_state *random, sampler_emit *emit,
	void *context);

/* Returns whether half of the interquartile range of at least three observations exceeds 10% of the
 * median. */
bool sampler_is_noisy(const double *observations_us, size_t count);

/* Only heat and hardware slowdowns count: tensor kernels reach the power cap on a healthy card, and
 * users lock clocks. */
enum throttle {
	THROTTLE_NONE,
	THROTTLE_SLOW_CLOCK, /* the idle clock is low; work raises it */
	THROTTLE_HELD_DOWN,  /* the card is hot or slowed down; a pause helps */
};

/* clock_sm_max_hz 0 accepts any clock. */
enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz);

#endif
