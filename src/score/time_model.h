/* SPDX-License-Identifier: MIT
 *
 * Predicts the time of a launch from its work, its resources and the device's rates (model and
 * sources: README.md). Nothing is fitted to timings. A change must update
 * tests/data/score/golden.csv.
 */
#ifndef SCORE_TIME_MODEL_H
#define SCORE_TIME_MODEL_H

#include "plan/work.h"
#include "score/score.h"
#include "score/traffic.h"
#include "spec/device_spec.h"

/* ---- tile and wave quantization (NVIDIA, "Matrix Multiplication Background User's Guide";
 * clusters: cudaOccupancyMaxActiveClusters) ---- */
/* Number of blocks that run concurrently. */
struct quantization_slots {
	double per_wave;
	double sm_count; /* usable SMs */
	double per_sm;   /* blocks on the fullest SM */
};

/* max_clusters comes from the driver. If it is unknown (0 or less), the sheet's number is
 * scaled. */
struct quantization_slots quantization_slots(const struct device_spec *device,
	const struct launch_work *launch, int blocks_per_sm, int max_clusters);

/* Sets the members for tiles and waves. waves_exact is units / slots. Stream-K leaves no partial
 * wave. */
void quantization_waves(const struct launch_work *launch, const struct quantization_slots *slots,
	struct launch_score *score);

/* ---- the time ---- */
struct time_model_input {
	const struct device_spec *device;
	const struct launch_work *launch;
	const struct traffic *traffic;
	const struct quantization_slots *slots;
	int threads;
	double spill_store_bytes, spill_load_bytes; /* per thread */
	bool wgmma_serialized;
};

struct time_model_result {
	double time_us; /* without `repeat`; infinite if a pipe is missing */
	enum bound_kind bound;
};

struct time_model_result time_model_launch(const struct time_model_input *input);

#endif
