/* SPDX-License-Identifier: MIT
 *
 * Hand-written devices and matrix products for tests and benchmarks of the score. They are small
 * enough to read. Rates are per clock and SM.
 */
#ifndef TESTS_UNIT_SCORE_CASES_H
#define TESTS_UNIT_SCORE_CASES_H

#include <stdio.h>

#include "base/text.h"
#include "score/score.h"

#define CASE_UNUSED __attribute__((unused))

CASE_UNUSED static struct device_spec case_device_ampere(void)
{
	struct device_spec device = {
		.compute_capability = 80,
		.sm_count = 108,
		.warp_size = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 2048,
		.max_blocks_per_sm = 32,
		.regs_per_block = 65536,
		.regs_per_sm = 65536,
		.smem_per_block_bytes = 166912,
		.smem_static_max_bytes = 49152,
		.smem_per_sm_bytes = 167936,
		.smem_reserved_bytes = 1024,
		.l2_bytes = 41943040,
		.clock_hz = 1.41e9,
		.tensor_clock_hz = 1.41e9,
		.dram_bytes_per_s = 2.039e12,
		.l2_bytes_per_clock = 5120,
		.smem_bytes_per_clock_sm = 128,
		.instructions_per_clock_sm = 4,
		.launch_us = 1.5,
		.dram_latency_us = 0.4,
		.l2_latency_us = 0.15,
		.sync_us = 0.02,
	};

	device.rate[PIPE_TENSOR_MMA][DTYPE_FP16] = 2048;
	device.rate[PIPE_TENSOR_MMA][DTYPE_BF16] = 2048;
	device.rate[PIPE_FP32][DTYPE_FP32] = 128;
	device.rate[PIPE_MUFU][DTYPE_FP32] = 16;
	return device;
}

CASE_UNUSED static struct device_spec case_device_hopper(void)
{
	struct device_spec device = case_device_ampere();

	device.compute_capability = 90;
	device.sm_count = 132;
	device.smem_per_block_bytes = 232448;
	device.smem_per_sm_bytes = 233472;
	device.l2_bytes = 62914560;
	device.clock_hz = 1.98e9;
	device.tensor_clock_hz = 1.7e9;
	device.dram_bytes_per_s = 4.8e12;
	device.l2_bytes_per_clock = 5500;
	device.rate[PIPE_TENSOR_MMA][DTYPE_FP16] = 2600; /* mma.sync reaches 0.63 of wgmma's rate */
	device.rate[PIPE_TENSOR_MMA][DTYPE_BF16] = 2600;
	device.rate[PIPE_TENSOR_WGMMA][DTYPE_BF16] = 4096;
	device.rate[PIPE_FP32][DTYPE_FP32] = 256;
	device.max_clusters[0] = 132;
	device.max_clusters[1] = 66;
	device.max_clusters[2] = 32;
	device.max_clusters[3] = 15;
	device.max_clusters[4] = 6;
	return device;
}

struct case_mma {
	int m, n, k;
	int bm, bn, bk, wm, wn, stages, split_k;
};

struct case_work {
	struct work work;
	struct launch_work launches[2];
	struct work_smem_access access;
	struct work_tile tiles[2];
};

CASE_UNUSED static double case_ceil_div(double a, double b)
{
	const double quotient = (double)(long long)(a / b);

	return quotient * b < a ? quotient + 1 : quotient;
}

/* Fills in the work of a tensor-core product with a 16-bit type, by mma.sync, ldmatrix with a
 * swizzle, and cp.async. The result contains pointers into itself and must not be copied. */
CASE_UNUSED static void case_mma_work(const struct case_mma *mma, struct case_work *into)
{
	const double m = mma->m, n = mma->n, k = mma->k, bm = mma->bm, bn = mma->bn, bk = mma->bk;
	const double wm = mma->wm, wn = mma->wn, split = mma->split_k;
	const double warps = bm / wm * (bn / wn);
	const double tiles = case_ceil_div(m, bm) * case_ceil_div(n, bn);
	const double mma_count = warps * (wm / 16) * (wn / 8) * (bk / 16);
	const double slice = (bm + bn) * bk * 2;
	struct launch_work *main_launch = &into->launches[0], *reduce = &into->launches[1];

	*into = (struct case_work){0};
	into->work = (struct work){
		.flop = 2 * m * n * k,
		.min_bytes = 2 * (m * k + n * k + m * n),
		.launches = into->launches,
		.launch_count = mma->split_k > 1 ? 2 : 1,
	};
	into->access = (struct work_smem_access){
		.when = true,
		.width_bytes = 16,
		.bytes_per_step = warps * (wm + wn) * bk * 2,
	};
	for (uint32_t lane = 0; lane < WORK_LANES; lane++)
		into->access.address[lane] = 16 * lane;
	for (int i = 0; i < 2; i++)
		into->tiles[i] = (struct work_tile){
			.when = true,
			.rows = (uint32_t)(i ? mma->bn : mma->bm),
			.row_bytes = (uint32_t)mma->bk * 2,
			.pitch_bytes = (uint64_t)mma->k * 2,
		};
	*main_launch = (struct launch_work){
		.shape.grid = {(uint32_t)tiles, (uint32_t)mma->split_k, 1},
		.shape.block = {(uint32_t)(32 * warps), 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.smem_dynamic_bytes = (uint32_t)(mma->stages * slice),
		.shape.repeat = 1,
		.regs_estimate = (int32_t)(wm * wn / 32 + (wm + wn) / 2 + 40),
		.units = tiles * split,
		.useful_ratio = m * n / (tiles * bm * bn),
		.steps_mean = case_ceil_div(k, bk * split),
		.stages = mma->stages,
		.dtype = DTYPE_BF16,
		.dram_read_bytes = 2 * (m * k + n * k),
		.dram_write_bytes = m * n * (mma->split_k > 1 ? 4 * split : 2),
		.smem_accesses = &into->access,
		.smem_access_count = 1,
		.tiles = into->tiles,
		.tile_count = 2,
	};
	if (main_launch->regs_estimate > 255)
		main_launch->regs_estimate = 255;
	main_launch->steps_max = main_launch->steps_mean;
	main_launch->per_step[PIPE_TENSOR_MMA] = 2 * bm * bn * bk;
	main_launch->per_step[PIPE_INSTRUCTIONS] =
		mma_count + warps * (wm + wn) / 16 * (bk / 16) + slice / 512 + warps * 30;
	main_launch->per_step[PIPE_SMEM_WRITE] = slice;
	main_launch->per_step[PIPE_L2_READ] = slice;
	main_launch->per_step[PIPE_BARRIERS] = 1;
	main_launch->epilogue[PIPE_L2_WRITE] = bm * bn * (mma->split_k > 1 ? 4 : 2);
	main_launch->epilogue[PIPE_INSTRUCTIONS] = bm * bn / 32;
	*reduce = (struct launch_work){
		.shape.grid = {(uint32_t)case_ceil_div(m * n, 1024), 1, 1},
		.shape.block = {256, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.repeat = 1,
		.regs_estimate = 32,
		.units = case_ceil_div(m * n, 1024),
		.useful_ratio = 1,
		.steps_mean = split,
		.steps_max = split,
		.stages = 4,
		.dram_read_bytes = m * n * 4 * split,
		.dram_write_bytes = m * n * 2,
	};
	reduce->per_step[PIPE_L2_READ] = 4096;
	reduce->per_step[PIPE_INSTRUCTIONS] = 16;
	reduce->epilogue[PIPE_L2_WRITE] = 2048;
	/* Partial sums that fit into L2 are not read from memory again. */
	if (m * n * 4 * split < 40e6)
		reduce->dram_read_bytes = 0;
}

CASE_UNUSED static void case_mma_name(const struct case_mma *mma, struct text *text)
{
	text_appendf(text, "M=%d N=%d K=%d BM=%d BN=%d BK=%d WM=%d WN=%d STAGES=%d SPLIT_K=%d",
		mma->m, mma->n, mma->k, mma->bm, mma->bn, mma->bk, mma->wm, mma->wn, mma->stages,
		mma->split_k);
}

/* Calls visit for each of the 7328 legal tiles of a product. */
typedef void case_mma_visit(const struct case_mma *mma, void *context);
CASE_UNUSED static void case_mma_space(int m, int n, int k, case_mma_visit *visit, void *context)
{
	static const int sides[] = {16, 32, 64, 96, 128, 192, 256};
	static const int warp_sides[] = {16, 32, 64, 128};
	static const int depths[] = {32, 64};
	static const int splits[] = {1, 2, 4, 8};

	for (int i = 0; i < 7; i++)
		for (int j = 0; j < 7; j++)
			for (int w = 0; w < 16; w++)
				for (int s = 0; s < 32; s++) {
					const struct case_mma mma = {m, n, k, sides[i], sides[j],
						depths[s & 1], warp_sides[w & 3],
						warp_sides[w >> 2], 2 + (s >> 1 & 3),
						splits[s >> 3]};
					const int warps = mma.bm / mma.wm * (mma.bn / mma.wn);

					if (mma.bm % mma.wm == 0 && mma.bn % mma.wn == 0 &&
						warps >= 1 && warps <= 16 &&
						mma.wm * mma.wn <= 4096)
						visit(&mma, context);
				}
}

#endif
