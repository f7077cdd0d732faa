/* SPDX-License-Identifier: MIT
 *
 * Occupancy: how many blocks of a kernel fit on one SM, and what stops the next one.
 *
 * Source of the formulas: NVIDIA's stand-alone occupancy calculator, cuda_occupancy.h of the CUDA
 * toolkit. For architectures that it does not know, the plain quotients of the device's limits.
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
	LIMITER_NONE_FITS, /* not even one block */
};
extern const char *const occupancy_limiter_names[]; /* NULL-terminated */

/* What one block takes. */
struct occupancy_demand {
	int threads;
	int regs_per_thread; /* 0: not known, no limit from registers */
	int64_t smem_static_bytes, smem_dynamic_bytes;
	int barriers; /* named barriers, of which an SM has one or two for each block; 0 counts as 1
		       */
};

/* Blocks per SM, 0 if not even one fits; *limiter (may be NULL) is LIMITER_NONE_FITS then. Where
 * several resources stop the next block, the limiter is the first of registers, smem, threads,
 * barriers, blocks: what the kernel's author can change most easily. */
int occupancy_compute(const struct device_spec *device, const struct occupancy_demand *demand,
	enum occupancy_limiter *limiter);

/* Resident warps / the most that an SM can hold, 0..1. */
double occupancy_ratio(const struct device_spec *device, int threads, int blocks_per_sm);

/* Blocks of a launch that fit on one SM and why not more (NVIDIA's cuda_occupancy.h). */
int occupancy_blocks_per_sm(const struct device_spec *device, int threads, int regs_per_thread,
	int64_t smem_static_bytes, int64_t smem_dynamic_bytes, enum occupancy_limiter *limiter);

#endif
