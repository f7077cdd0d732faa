/* SPDX-License-Identifier: MIT
 *
 * Blocks in waves: how many clocks the SMs take for all units of a launch, by schedule.
 */
#ifndef SCORE_WAVE_MODEL_H
#define SCORE_WAVE_MODEL_H

#include "score/block_model.h"

struct wave_time {
	double clocks;         /* of the fullest SM */
	double exposed_clocks; /* of these, before the first data and after the last */
	enum bound_kind bound; /* what the largest part of it waits for */
};

/* slots: where blocks can be (quantization.h); per_wave > 0, units > 0. */
struct wave_time wave_model_clocks(const struct block_model *model,
	const struct quantization_slots *slots, double units, enum schedule schedule);

#endif
