/* SPDX-License-Identifier: MIT
 *
 * Computes the score of a candidate: predicted time, tiles, waves, occupancy and memory traffic.
 * All functions are pure.
 */
#ifndef SCORE_SCORE_H
#define SCORE_SCORE_H

#include "record/record.h"
#include "candidate/resources.h"
#include "plan/work.h"
#include "score/occupancy.h"
#include "spec/device_spec.h"

enum bound_kind {
	BOUND_TENSOR,
	BOUND_FP32,
	BOUND_MUFU,
	BOUND_INSTRUCTIONS,
	BOUND_SMEM,
	BOUND_L2,
	BOUND_DRAM,
	BOUND_LATENCY,
};
extern const char *const bound_kind_names[]; /* NULL-terminated */

struct launch_score {
	double tiles;
	double slots_per_wave;
	double waves; /* rounded up */
	double waves_exact;
	double wave_efficiency_ratio;
	double tile_efficiency_ratio;
	int blocks_per_sm;
	double occupancy_ratio;
	enum occupancy_limiter occupancy_limiter;
	int regs_per_thread;
	int64_t smem_bytes;         /* static and dynamic, without the system's reserve */
	int stack_bytes;            /* 0 before compilation */
	double bank_conflict_ratio; /* wavefronts / minimum over all accesses */
	double lines_per_row_ratio; /* cache lines touched / minimum, averaged over rows */
	double sectors_per_row_ratio;
	double dram_bytes, l2_bytes;
	double arithmetic_intensity; /* FLOP per DRAM byte */
	enum bound_kind bound;
	double predicted_time_us;
};

struct score {
	struct launch_score *launches; /* owned */
	size_t launch_count;
	size_t longest;
	bool regs_estimated;
	bool without_model; /* the time is a lower bound */
	double floor_us;    /* time of FLOP and bytes at peak rates */
	double predicted_time_us;
	double predicted_tflops; /* NaN if the FLOP are unknown */
};

/* `resources` has one item per launch; NULL selects estimates. A launch that cannot run gets an
 * infinite time. */
void score_compute(const struct device_spec *device, const struct work *work,
	const struct kernel_resources *resources, struct score *score);
void score_release(struct score *score);
/* Returns false if the longest launch is bound by DRAM. */
static inline bool score_is_clock_bound(const struct score *score)
{
	return !score->launch_count || score->launches[score->longest].bound != BOUND_DRAM;
}
/* JSON omits a score without launches. */
extern const struct record_custom score_custom;
extern const struct record score_record;
RECORD_DECLARE(struct launch_score, launch_score_record);

#endif
