/* SPDX-License-Identifier: MIT
 *
 * Occupancy: the number of blocks of a kernel that fit on one SM, and the limiting resource.
 *
 * Source of the formulas: NVIDIA's stand-alone occupancy calculator, cuda_occupancy.h of the CUDA
 * toolkit. For architectures that it does not know, the device's limits are divided by the demand
 * of a block, in the allocation units of 8.0 to 12.1; barriers do not limit there.
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

/* Resources that one block needs. */
struct occupancy_demand {
	int threads;
	int regs_per_thread; /* 0: unknown, registers do not limit */
	int64_t smem_static_bytes, smem_dynamic_bytes;
	int barriers; /* named barriers, of which an SM has one or two per block; 0 counts as 1 */
};

/* Returns the blocks per SM. If none fits, returns 0, and *limiter (may be NULL) is
 * LIMITER_NONE_FITS. If several resources are exhausted, the limiter is the first of registers,
 * smem, threads, blocks, barriers, which is what a kernel's author can change most easily. */
int occupancy_compute(const struct device_spec *device, const struct occupancy_demand *demand,
	enum occupancy_limiter *limiter);

/* Returns resident warps / the maximum of an SM, from 0 to 1. */
double occupancy_ratio(const struct device_spec *device, int threads, int blocks_per_sm);

/* Returns the blocks of a launch that fit on one SM and sets the limiter (NVIDIA's
 * cuda_occupancy.h). */
int occupancy_blocks_per_sm(const struct device_spec *device, int threads, int regs_per_thread,
	int64_t smem_static_bytes, int64_t smem_dynamic_bytes, enum occupancy_limiter *limiter);

#endif
