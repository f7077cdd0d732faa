/* SPDX-License-Identifier: MIT */
#include "engine/floor.h"

#include <math.h>

/* Sheets state the bandwidth of a copy. The fastest recorded kernel reads 1.07 times as fast; the
 * margin is twice this excess. */
static const double memory_margin = 1.15;
/* Sheets state the peak at the highest clock. The fastest recorded kernel reaches 0.78 of it, so 5%
 * covers the error of timers and clocks. */
static const double flop_margin = 1.05;
/* Buffer sets are at least twice as large as the L2 cache. If data is read cyclically and half of
 * it fits, a cache with random replacement keeps a fifth. */
static const double part_of_l2_that_stays = 0.5;

/* Counts every tensor once, or only outputs: integer inputs may be indices, so that other inputs
 * are read only in part. */
static double tensor_bytes(
	const struct operation *operation, const struct plan_buffer *tensors, bool outputs_only)
{
	double bytes = 0;

	for (size_t i = 0; i < operation->tensor_count; i++)
		if (buffer_is_output(tensors[i].role) || !outputs_only)
			bytes += (double)tensors[i].rows * (double)tensors[i].columns *
				 (double)dtype_size(tensors[i].dtype);
	return bytes;
}

/* Returns infinity if not known. fp32 may be split into tf32; 8-bit integers are as fast as fp8. */
static double peak_of(const struct device_spec *device, enum dtype dtype)
{
	switch (dtype) {
	case DTYPE_FP32:
	case DTYPE_TF32:
		return fmax(device_spec_peak_flop_per_s(device, DTYPE_FP32),
			device_spec_peak_flop_per_s(device, DTYPE_TF32));
	case DTYPE_FP16:
	case DTYPE_BF16:
		return device_spec_peak_flop_per_s(device, dtype);
	case DTYPE_FP8_E4M3:
	case DTYPE_FP8_E5M2:
	case DTYPE_I8:
	case DTYPE_U8:
		return fmax(device_spec_peak_flop_per_s(device, DTYPE_FP8_E4M3),
			2 * device_spec_peak_flop_per_s(device, DTYPE_FP16));
	default:
		return INFINITY;
	}
}

struct time_floor time_floor_of(
	const struct problem *problem, const struct device_spec *device, bool warm_l2)
{
	const struct operation *operation = problem->operation;
	CLEANUP(memory_free)
	struct plan_buffer *tensors = memory_zeroed(operation->tensor_count + 1, sizeof(*tensors));
	struct time_floor floor = {.is_l2 = warm_l2};
	const double l2_bytes = (double)device->l2_bytes;
	bool has_integers = false;
	double all_bytes;

	if (operation_tensors_evaluate(operation, problem->values, tensors, NULL) != STATUS_OK)
		return (struct time_floor){0};
	for (size_t i = 0; i < operation->tensor_count; i++) {
		has_integers |=
			!buffer_is_output(tensors[i].role) && !dtype_is_float(tensors[i].dtype);
		floor.flop_per_s =
			fmax(floor.flop_per_s, flop_margin * peak_of(device, tensors[i].dtype));
	}
	all_bytes = tensor_bytes(operation, tensors, false);
	if (!operation->min_bytes)
		floor.bytes = tensor_bytes(operation, tensors, has_integers);
	else if (problem_min_bytes(problem, &floor.bytes, NULL) != STATUS_OK)
		floor.bytes = 0;
	if (problem_flop(problem, &floor.flop, NULL) != STATUS_OK)
		floor.flop = 0;
	floor.bytes_per_s = memory_margin * (warm_l2 ? device->l2_bytes_per_clock * device->clock_hz
						     : device->dram_bytes_per_s);
	if (!warm_l2)
		floor.bytes_per_s /= 1 - part_of_l2_that_stays * l2_bytes /
						 fmax(2 * l2_bytes, fmax(2 * all_bytes, 1));
	return floor;
}

static double us_of(double amount, double per_s)
{
	return amount > 0 && per_s > 0 ? 1e6 * amount / per_s : 0;
}

double time_floor_us(const struct time_floor *floor)
{
	return fmax(us_of(floor->bytes, floor->bytes_per_s), us_of(floor->flop, floor->flop_per_s));
}

static void describe(const struct time_floor *floor, double time_us, struct text *words)
{
	text_appendf(words,
		"%.4g us, but no kernel takes less than %.4g us: %.4g MB at %.4g GB/s of %s take "
		"%.4g us",
		time_us, time_floor_us(floor), 1e-6 * floor->bytes, 1e-9 * floor->bytes_per_s,
		floor->is_l2 ? "the L2 cache" : "memory", us_of(floor->bytes, floor->bytes_per_s));
	if (floor->flop > 0 && isfinite(floor->flop_per_s))
		text_appendf(words, ", %.4g GFLOP at %.4g TFLOP/s take %.4g us", 1e-9 * floor->flop,
			1e-12 * floor->flop_per_s, us_of(floor->flop, floor->flop_per_s));
}

void time_floor_apply(
	const struct problem *problem, const struct device_spec *device, struct result *result)
{
	CLEANUP(text_release) struct text words = {0};
	struct time_floor floor;
	double time_us;

	if (!problem || result->outcome != OUTCOME_OK || !result->sample_count ||
		result->predicted || result->by_program)
		return;
	time_us = statistics_quantile(result->samples_us, result->sample_count, 0.5);
	floor = time_floor_of(problem, device, (result->flags & FLAG_MASK(WARM_L2)) != 0);
	if (time_us >= time_floor_us(&floor))
		return;
	describe(&floor, time_us, &words);
	result->outcome = OUTCOME_TOO_FAST;
	free(result->detail);
	result->detail = text_detach(&words);
}
