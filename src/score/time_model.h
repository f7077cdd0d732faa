/* SPDX-License-Identifier: MIT
 *
 * The time model: how long one launch takes, from its work, the device's rates and its resources.
 * One model for every operation; it knows pipes, steps and units, no kernels.
 *
 * On one SM, r blocks share the pipes. What threads issue overlaps with asynchronous work
 * (copies, shared memory, wgmma), except for what a warp waits for while its scheduler has no
 * other. A wave of blocks takes the longer of
 *   throughput: r blocks' amounts of the busiest pipe / its rate, and what does not overlap;
 *   chain:      one block's own work in turn: prologue, first load, steps, epilogue;
 * and the part of the latency of each step's loads that stages and resident blocks do not hide.
 * Waves follow each other; the last one runs with the blocks that are left, each of them faster.
 * DRAM is a roofline over the whole launch. Sources: S. Williams et al., "Roofline" (2009);
 * J. Zahorjan et al., "Balanced job bound analysis of queueing networks" (1982);
 * V. Volkov, "Understanding latency hiding on GPUs" (2016); NVIDIA's guide on wave quantization.
 *
 * Nothing here is fitted to timings of kernels: rates and latencies are the device sheet's,
 * amounts the family's. What physics leaves out is learned (src/learn). A change of the model is
 * a change of tests/data/score/golden.csv.
 *
 * Not modelled: L2 hit rates (the family's DRAM bytes carry them), clocks under power limits
 * beyond the sheet's tensor clock, instruction dependencies inside a step.
 */
#ifndef SCORE_TIME_MODEL_H
#define SCORE_TIME_MODEL_H

#include "plan/work.h"
#include "score/score.h"
#include "score/traffic.h"
#include "spec/device_spec.h"

/* ---- tile and wave quantization: what is lost because work comes in whole tiles and whole waves.
 * Source: NVIDIA, "Matrix Multiplication Background User's Guide", chapters on tile and wave
 * quantization; for clusters the largest number of them that fits at once counts (CUDA C++
 * Programming Guide, cudaOccupancyMaxActiveClusters). ---- */
/* Where the blocks of a launch can be at one moment. */
struct quantization_slots {
	double per_wave; /* blocks that run at once */
	double sm_count; /* SMs that they can use: clusters leave some idle, as does a small
			  * persistent grid */
	double per_sm;   /* blocks on the fullest SM */
};

/* max_clusters: from the driver, of clusters of this size with this many blocks per SM; 0 or less:
 * not known (the device sheet's figures for one block per SM are scaled). */
struct quantization_slots quantization_slots(const struct device_spec *device,
	const struct launch_work *launch, int blocks_per_sm, int max_clusters);

/* The waves of a score: exact are units / slots, at least one whole if there is work, and the
 * efficiency is their quotient; stream-K cuts units so that no wave is partial. */
void quantization_waves(const struct launch_work *launch, const struct quantization_slots *slots,
	struct launch_score *score);

/* ---- the time ---- */
struct time_model_input {
	const struct device_spec *device;
	const struct launch_work *launch;
	const struct traffic *traffic;
	const struct quantization_slots *slots;
	int threads;                                /* of a block */
	double spill_store_bytes, spill_load_bytes; /* per thread; 0 if not known */
	bool wgmma_serialized;
};

struct time_model_result {
	double time_us; /* of one launch, without `repeat`; infinite if a pipe does not exist */
	enum bound_kind bound;
};

struct time_model_result time_model_launch(const struct time_model_input *input);

#endif
