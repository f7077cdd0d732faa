/* SPDX-License-Identifier: MIT */
#include "score/occupancy.h"

#include <cuda_occupancy.h>

const char *const occupancy_limiter_names[] = {
	[LIMITER_BLOCKS] = "blocks",
	[LIMITER_THREADS] = "threads",
	[LIMITER_REGISTERS] = "registers",
	[LIMITER_SMEM] = "smem",
	[LIMITER_BARRIERS] = "barriers",
	[LIMITER_NONE_FITS] = "none_fits",
	[LIMITER_NONE_FITS + 1] = NULL,
};

struct limits {
	int registers, smem, threads, barriers, blocks;
};

static bool limits_from_nvidia(const struct device_spec *device,
	const struct occupancy_demand *demand, struct limits *limits)
{
	const cudaOccDeviceProp properties = {
		.computeMajor = device->compute_capability / 10,
		.computeMinor = device->compute_capability % 10,
		.maxThreadsPerBlock = (int)device->max_threads_per_block,
		.maxThreadsPerMultiprocessor = (int)device->max_threads_per_sm,
		.regsPerBlock = (int)device->regs_per_block,
		.regsPerMultiprocessor = (int)device->regs_per_sm,
		.warpSize = (int)device->warp_size,
		.sharedMemPerBlock = (size_t)device->smem_static_max_bytes,
		.sharedMemPerMultiprocessor = (size_t)device->smem_per_sm_bytes,
		.numSms = (int)device->sm_count,
		.sharedMemPerBlockOptin = (size_t)device->smem_per_block_bytes,
		.reservedSharedMemPerBlock = (size_t)device->smem_reserved_bytes,
	};
	/* Without the opt-in limit, or with a dynamic limit of 0, at most 48 KB would fit. */
	const cudaOccFuncAttributes attributes = {
		.maxThreadsPerBlock = (int)device->max_threads_per_block,
		.numRegs = demand->regs_per_thread,
		.sharedSizeBytes = (size_t)demand->smem_static_bytes,
		.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
		.maxDynamicSharedSizeBytes = (size_t)demand->smem_dynamic_bytes,
		.numBlockBarriers = demand->barriers > 0 ? demand->barriers : 1,
	};
	/* Set the default, because zero means a carveout of 0%. */
	const cudaOccDeviceState state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
	cudaOccResult result = {0};

	if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &properties, &attributes, &state,
		    demand->threads, (size_t)demand->smem_dynamic_bytes) != CUDA_OCC_SUCCESS)
		return false;
	/* The calculator limits barriers only from 9.0 on, but Turing has the limit, too
	 * (forums.developer.nvidia.com/t/named-barriers-limit-occupancy/158005). */
	if (device->compute_capability < 90 &&
		cudaOccMaxBlocksPerSMBlockBarrierLimit(&result.blockLimitBarriers,
			result.blockLimitBlocks, &properties, &attributes) != CUDA_OCC_SUCCESS)
		return false;
	*limits = (struct limits){result.blockLimitRegs, result.blockLimitSharedMem,
		result.blockLimitWarps, result.blockLimitBarriers, result.blockLimitBlocks};
	return true;
}

static int64_t round_up(int64_t value, int64_t multiple)
{
	return (value + multiple - 1) / multiple * multiple;
}

/* Uses allocation units of 8.0 to 12.1: 256 registers per warp, 128 bytes per block. */
static struct limits limits_from_quotients(
	const struct device_spec *device, const struct occupancy_demand *demand)
{
	const int64_t warps = round_up(demand->threads, device->warp_size) / device->warp_size;
	const int64_t regs =
		warps * round_up((int64_t)demand->regs_per_thread * device->warp_size, 256);
	const int64_t asked = demand->smem_static_bytes + demand->smem_dynamic_bytes;
	const int64_t smem = round_up(asked + device->smem_reserved_bytes, 128);
	const int64_t warps_per_sm = device->max_threads_per_sm / device->warp_size;
	struct limits limits = {INT_MAX, INT_MAX, 0, INT_MAX, INT_MAX};

	if (demand->threads <= device->max_threads_per_block)
		limits.threads = (int)(warps_per_sm / warps);
	if (regs > 0)
		limits.registers =
			regs <= device->regs_per_block ? (int)(device->regs_per_sm / regs) : 0;
	if (asked > device->smem_per_block_bytes)
		limits.smem = 0;
	else if (smem > 0)
		limits.smem = (int)(device->smem_per_sm_bytes / smem);
	return limits;
}

static void take_least(
	int limit, enum occupancy_limiter limiter, int *least, enum occupancy_limiter *why)
{
	if (limit >= *least)
		return;
	*least = limit;
	*why = limiter;
}

int occupancy_compute(const struct device_spec *device, const struct occupancy_demand *demand,
	enum occupancy_limiter *limiter)
{
	enum occupancy_limiter why = LIMITER_NONE_FITS;
	struct limits limits = {0};
	int blocks = 0;

	if (demand->threads > 0 && demand->smem_static_bytes >= 0 &&
		demand->smem_dynamic_bytes >= 0 &&
		demand->smem_static_bytes + demand->smem_dynamic_bytes <=
			device->smem_per_block_bytes) {
		if (!limits_from_nvidia(device, demand, &limits))
			limits = limits_from_quotients(device, demand);
		if (device->max_blocks_per_sm > 0 && device->max_blocks_per_sm < limits.blocks)
			limits.blocks = (int)device->max_blocks_per_sm;
		blocks = INT_MAX;
		take_least(limits.registers, LIMITER_REGISTERS, &blocks, &why);
		take_least(limits.smem, LIMITER_SMEM, &blocks, &why);
		take_least(limits.threads, LIMITER_THREADS, &blocks, &why);
		take_least(limits.blocks, LIMITER_BLOCKS, &blocks, &why);
		/* Barriers come last, because on 8.6, 8.9 and 12.x they tie with other limits. */
		take_least(limits.barriers, LIMITER_BARRIERS, &blocks, &why);
	}
	if (limiter)
		*limiter = blocks > 0 ? why : LIMITER_NONE_FITS;
	return blocks > 0 ? blocks : 0;
}

int occupancy_blocks_per_sm(const struct device_spec *device, int threads, int regs_per_thread,
	int64_t smem_static_bytes, int64_t smem_dynamic_bytes, enum occupancy_limiter *limiter)
{
	const struct occupancy_demand demand = {
		.threads = threads,
		.regs_per_thread = regs_per_thread,
		.smem_static_bytes = smem_static_bytes,
		.smem_dynamic_bytes = smem_dynamic_bytes,
	};

	return occupancy_compute(device, &demand, limiter);
}

double occupancy_ratio(const struct device_spec *device, int threads, int blocks_per_sm)
{
	const int64_t warps = (threads + device->warp_size - 1) / device->warp_size;
	const int64_t most = device->max_threads_per_sm / device->warp_size;

	return most > 0 ? (double)(warps * blocks_per_sm) / (double)most : 0;
}
