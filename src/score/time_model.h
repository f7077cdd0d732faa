/* SPDX-License-Identifier: MIT
 *
 * The time model predicts the time of a launch from its work, its resources and the device's rates.
 * One model serves every operation: it knows pipes, steps and units, but no kernels.
 *
 * On one SM, r blocks share the pipes. Work that threads issue overlaps with asynchronous work
 * (copies, shared memory, wgmma), except while a warp waits and its scheduler has no other warp.
 * A wave of blocks takes the longer of two times. The throughput time is r blocks' work of the
 * busiest pipe divided by its rate, plus work that does not overlap. The chain time is that of one
 * block's prologue, first load, steps and epilogue in turn. The load latency of each step that
 * stages and resident blocks do not hide is added. Waves run one after the other. Blocks of the
 * last, partial wave are faster. DRAM is a roofline over the whole launch.
 *
 * Sources: S. Williams et al., "Roofline" (2009); J. Zahorjan et al., "Balanced job bound analysis
 * of queueing networks" (1982); V. Volkov, "Understanding latency hiding on GPUs" (2016); NVIDIA's
 * guide on wave quantization.
 *
 * The model is not fitted to timings of kernels: rates and latencies come from the device sheet,
 * amounts from the family. Learned corrections are applied separately (score/learned.h). A change
 * of the model must update tests/data/score/golden.csv.
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

/* ---- tile and wave quantization: the loss because work is divided into whole tiles and waves ----
 * Source: NVIDIA, "Matrix Multiplication Background User's Guide", chapters on tile and wave
 * quantization. Clusters are limited by the largest number that fits at once (CUDA C++ Programming
 * Guide, cudaOccupancyMaxActiveClusters). */
/* Places for the blocks of a launch that run at the same time. */
struct quantization_slots {
	double per_wave; /* concurrent blocks */
	double sm_count; /* usable SMs; clusters and small persistent grids leave some idle */
	double per_sm;   /* blocks on the fullest SM */
};

/* max_clusters is the driver's number of concurrent clusters of this size and blocks per SM. If it
 * is 0 or less, it is unknown, and the sheet's figures for one block per SM are scaled. */
struct quantization_slots quantization_slots(const struct device_spec *device,
	const struct launch_work *launch, int blocks_per_sm, int max_clusters);

/* Sets the waves of a score. waves_exact is units / slots, waves is rounded up, and the efficiency
 * is their quotient. Stream-K splits units so that no wave is partial. */
void quantization_waves(const struct launch_work *launch, const struct quantization_slots *slots,
	struct launch_score *score);

/* ---- the time ---- */
struct time_model_input {
	const struct device_spec *device;
	const struct launch_work *launch;
	const struct traffic *traffic;
	const struct quantization_slots *slots;
	int threads;
	double spill_store_bytes, spill_load_bytes; /* per thread; 0 if unknown */
	bool wgmma_serialized;
};

struct time_model_result {
	double time_us; /* of one launch, without `repeat`; infinite if the device lacks a pipe */
	enum bound_kind bound;
};

struct time_model_result time_model_launch(const struct time_model_input *input);

#endif
