/* SPDX-License-Identifier: MIT
 *
 * Computes how many blocks of a kernel fit on one SM, by NVIDIA's calculator (cuda_occupancy.h) or,
 * for architectures that it does not know, as limits divided by demands.
 */
#ifndef SCORE_OCCUPANCY_H
#define SCORE_OCCUPANCY_H

#include "spec/device_spec.h"

enum occupancy_limiter {
	LIMITER_BLOCKS,
	LIMITER_THREADS,
	LIMITER_REGISTERS,
	LIMITER_SMEM,
	LIMITER_BARRIERS,
	LIMITER_NONE_FITS,
};
extern const char *const occupancy_limiter_names[]; /* NULL-terminated */

struct occupancy_demand {
	int threads;
	int regs_per_thread; /* 0 if unknown */
	int64_t smem_static_bytes, smem_dynamic_bytes;
	int barriers; /* named barriers; 0 counts as 1 */
};

/* Returns the blocks per SM. *limiter (may be NULL) is LIMITER_NONE_FITS for 0 blocks; of several
 * limiters, the first of registers, smem, threads, blocks, barriers. */
int occupancy_compute(const struct device_spec *device, const struct occupancy_demand *demand,
	enum occupancy_limiter *limiter);

/* Returns the resident warps divided by the maximum of an SM. */
double occupancy_ratio(const struct device_spec *device, int threads, int blocks_per_sm);

int occupancy_blocks_per_sm(const struct device_spec *device, int threads, int regs_per_thread,
	int64_t smem_static_bytes, int64_t smem_dynamic_bytes, enum occupancy_limiter *limiter);

#endif
