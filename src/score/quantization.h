/* SPDX-License-Identifier: MIT
 *
 * Tile and wave quantization: what is lost because work comes in whole tiles and whole waves.
 *
 * Source: NVIDIA, "Matrix Multiplication Background User's Guide", chapters on tile and wave
 * quantization; for clusters the largest number of them that fits at once counts (CUDA C++
 * Programming Guide, cudaOccupancyMaxActiveClusters).
 */
#ifndef SCORE_QUANTIZATION_H
#define SCORE_QUANTIZATION_H

#include "family/plan.h"
#include "spec/device_spec.h"

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

struct quantization_waves {
	double exact;            /* units / slots */
	double count;            /* whole waves, at least 1 if there is work */
	double efficiency_ratio; /* exact / count; stream-K cuts units so that no wave is partial */
};
struct quantization_waves quantization_waves(
	const struct launch_work *launch, const struct quantization_slots *slots);

#endif
