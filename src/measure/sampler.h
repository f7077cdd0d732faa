/* SPDX-License-Identifier: MIT
 *
 * Samples several candidates in turn, so that clock drift hits all alike: rounds over the
 * candidates in a random but reproducible order, until each has enough (measure/stop.h).
 *
 * Samples taken while the clock was held down are taken again a few times; where that does not
 * help they are kept, and the result carries the flag THROTTLED.
 */
#ifndef MEASURE_SAMPLER_H
#define MEASURE_SAMPLER_H

#include "base/random.h"
#include "measure/runner.h"
#include "measure/throttle.h"

struct sampler_entry {
	uint32_t handle;
	const struct loaded *loaded; /* NULL: unknown handle */
	struct runner *runner;       /* lives on between requests */
};

/* Called once per entry, in the order in which they end; result is released by the sampler. After
 * a fatal one nothing more comes. */
typedef void sampler_emit(struct measure_result *result, void *context);

void sampler_serve(struct gpu_session *gpu, struct sampler_entry *entries, size_t count,
	const struct sampling *request, struct random_state *random, sampler_emit *emit,
	void *context);

#endif
