/* SPDX-License-Identifier: MIT
 *
 * What one run of a candidate takes of the GPU's energy: it runs alone, again and again, while the
 * card's energy counter is read; between the first and the last step of the counter that are seen
 * the time and the energy belong together. A card without a counter tells its power instead.
 */
#ifndef MEASURE_ENERGY_H
#define MEASURE_ENERGY_H

#include "measure/runner.h"

/* A prepared runner, busy for `seconds` at least and three times that at most. *measured stays as
 * it is where the card says nothing. */
bool energy_measure(struct gpu_session *gpu, struct runner *runner, double seconds,
	struct measured *measured, struct failure *failure);

#endif
