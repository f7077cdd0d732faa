/* SPDX-License-Identifier: MIT
 *
 * The helper kernels in C (templates/common/helpers.cu says what each does).
 */
#include <math.h>
#include <string.h>

#include "faults/standin.h"
#include "plan/reference_plan.h"
#include "measure/helper_layout.h"

#define PARAM(type, index)   (*(const type *)launch->params[index])
#define POINTER(type, index) ((type *)(uintptr_t)PARAM(CUdeviceptr, index))

static uint64_t mix(uint64_t bits)
{
	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
	return bits ^ bits >> 31;
}

/* ---- elements ---- */
static uint32_t float_bits(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float bits_float(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Truncates; numbers whose half is not normal become 0. */
static uint16_t half_bits(float value)
{
	uint32_t bits = float_bits(value);
	uint32_t exponent = bits >> 23 & 0xff;

	if (exponent == 0xff)
		return 0x7e00;
	if (exponent < 113 || exponent > 142)
		return (uint16_t)(bits >> 16 & 0x8000);
	return (uint16_t)((bits >> 16 & 0x8000) | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
}

static float half_value(uint16_t half)
{
	uint32_t exponent = half >> 10 & 31;

	if (exponent == 31)
		return NAN;
	if (exponent == 0)
		return 0;
	return bits_float((uint32_t)(half & 0x8000) << 16 | (exponent + 112) << 23 |
			  (uint32_t)(half & 0x3ff) << 13);
}

/* Truncates; small numbers become 0. */
static uint8_t fp8_bits(float value)
{
	uint32_t bits = float_bits(value);
	uint32_t exponent = bits >> 23 & 0xff;

	if (exponent == 0xff)
		return 0x7f;
	if (exponent < 121 || exponent > 134)
		return (uint8_t)(bits >> 24 & 0x80);
	return (uint8_t)((bits >> 24 & 0x80) | (exponent - 120) << 3 | (bits >> 20 & 7));
}

static size_t element_size(int dtype)
{
	switch (dtype) {
	case DTYPE_FP64:
	case DTYPE_I64:
	case DTYPE_U64:
		return 8;
	case DTYPE_FP16:
	case DTYPE_BF16:
	case DTYPE_I16:
	case DTYPE_U16:
		return 2;
	case DTYPE_FP32:
	case DTYPE_TF32:
	case DTYPE_I32:
	case DTYPE_U32:
		return 4;
	default:
		return 1;
	}
}

static void element_write(void *data, int dtype, int64_t at, double value)
{
	switch (dtype) {
	case DTYPE_FP16:
		((uint16_t *)data)[at] = half_bits((float)value);
		break;
	case DTYPE_BF16:
		((uint16_t *)data)[at] = (uint16_t)(float_bits((float)value) >> 16);
		break;
	case DTYPE_FP8_E4M3:
		((uint8_t *)data)[at] = fp8_bits((float)value);
		break;
	case DTYPE_FP8_E5M2:
		((uint8_t *)data)[at] = (uint8_t)(half_bits((float)value) >> 8);
		break;
	case DTYPE_FP64:
		((double *)data)[at] = value;
		break;
	case DTYPE_I8:
	case DTYPE_U8:
		((uint8_t *)data)[at] = (uint8_t)llrint(value);
		break;
	case DTYPE_BOOL:
		((uint8_t *)data)[at] = llrint(value) != 0;
		break;
	case DTYPE_I16:
	case DTYPE_U16:
		((uint16_t *)data)[at] = (uint16_t)llrint(value);
		break;
	case DTYPE_I32:
	case DTYPE_U32:
		((uint32_t *)data)[at] = (uint32_t)llrint(value);
		break;
	case DTYPE_I64:
	case DTYPE_U64:
		((int64_t *)data)[at] = llrint(value);
		break;
	case DTYPE_TF32:
		((uint32_t *)data)[at] = float_bits((float)value) & 0xffffe000u;
		break;
	default:
		((float *)data)[at] = (float)value;
		break;
	}
}

static double element_read(const void *data, int dtype, int64_t at)
{
	uint32_t code;

	switch (dtype) {
	case DTYPE_FP16:
		return (double)half_value(((const uint16_t *)data)[at]);
	case DTYPE_BF16:
		return (double)bits_float((uint32_t)((const uint16_t *)data)[at] << 16);
	case DTYPE_FP8_E4M3:
		code = ((const uint8_t *)data)[at];
		if ((code & 0x7f) == 0x7f)
			return NAN;
		return (double)bits_float(
			(code & 0x80) << 24 | ((code & 0x7f) + (120u << 3)) << 20);
	case DTYPE_FP8_E5M2:
		return (double)half_value((uint16_t)(((const uint8_t *)data)[at] << 8));
	case DTYPE_FP64:
		return ((const double *)data)[at];
	case DTYPE_I8:
		return ((const int8_t *)data)[at];
	case DTYPE_U8:
	case DTYPE_BOOL:
		return ((const uint8_t *)data)[at];
	case DTYPE_I16:
		return ((const int16_t *)data)[at];
	case DTYPE_U16:
		return ((const uint16_t *)data)[at];
	case DTYPE_U32:
		return ((const uint32_t *)data)[at];
	case DTYPE_I64:
		return (double)((const int64_t *)data)[at];
	case DTYPE_U64:
		return (double)((const uint64_t *)data)[at];
	case DTYPE_I32:
		return ((const int32_t *)data)[at];
	default:
		return (double)((const float *)data)[at];
	}
}

/* ---- kernels ---- */
/* A rotation by the seed in place of a permutation; of a normal number the mean and a little. */
static double content(const struct standin_launch *launch, int64_t index, int64_t count)
{
	const double low = PARAM(double, FILL_LOW), high = PARAM(double, FILL_HIGH);
	const uint64_t seed = PARAM(uint64_t, FILL_SEED);
	const uint64_t bits = mix(mix(seed) + (uint64_t)index * 0x9e3779b97f4a7c15u);
	const double unit = (double)(bits >> 40) * 0x1p-24;

	const double sign = bits >> 9 & 1 ? -1 : 1;

	switch (PARAM(int32_t, FILL_CONTENTS)) {
	case MADE_MIXED:
		return sign * high * (bits % 64 == 0 ? low : ldexp(unit, -(int)(bits >> 6 & 7)));
	case MADE_SIGNS:
		return sign * high * (bits >> 8 & 1 ? 2 : 1);
	case CONTENTS_NORMAL:
		return low + high * (unit - 0.5);
	case CONTENTS_ZERO:
		return 0;
	case CONTENTS_ONE:
		return 1;
	case CONTENTS_IOTA:
		return (double)index;
	case CONTENTS_PERMUTATION:
		return (double)((index + (int64_t)(seed % 1000)) % count);
	default:
		return low + (high - low) * unit;
	}
}

static void fill(const struct standin_launch *launch)
{
	void *data = POINTER(void, FILL_DATA);
	int dtype = PARAM(int32_t, FILL_DTYPE);
	int64_t rows = PARAM(int64_t, FILL_ROWS), columns = PARAM(int64_t, FILL_COLUMNS);
	int64_t ld = PARAM(int64_t, FILL_LD);
	const size_t size = element_size(dtype);
	uint64_t pitch = PARAM(uint32_t, FILL_POISON);

	pitch |= pitch << 32;
	standin_mark(MARK_FILLED, PARAM(CUdeviceptr, FILL_DATA), 0, 0);
	for (int64_t row = 0; row < rows; row++)
		for (int64_t column = 0; column < (row + 1 < rows ? ld : columns); column++) {
			const int64_t at = row * ld + column;

			if (column < columns)
				element_write(data, dtype, at,
					content(launch, row * columns + column, rows * columns));
			else
				memcpy((char *)data + (size_t)at * size, &pitch, size);
		}
}

/* Even, whatever the exponent. */
static void offsets(const struct standin_launch *launch)
{
	int32_t *data = POINTER(int32_t, OFFSETS_DATA);
	int64_t count = PARAM(int64_t, OFFSETS_COUNT), total = PARAM(int64_t, OFFSETS_TOTAL);

	const bool sizes = PARAM(int32_t, OFFSETS_SIZES) != 0;
	const int64_t groups = count - !sizes;

	for (int64_t i = 0; i < count; i++)
		data[i] = (int32_t)(sizes ? total * (i + 1) / groups - total * i / groups
					  : total * i / groups);
}

static void poison(const struct standin_launch *launch)
{
	CUdeviceptr data = PARAM(CUdeviceptr, POISON_DATA);
	unsigned char *byte = POINTER(unsigned char, POISON_DATA);
	uint64_t bytes = PARAM(uint64_t, POISON_BYTES);
	uint32_t pattern = PARAM(uint32_t, POISON_PATTERN);

	for (uint64_t i = 0; i < bytes; i++)
		byte[i] = (unsigned char)(pattern >> 8 * (i & 3));
	if (pattern == helper_workspace_poison)
		standin_mark(MARK_WORKSPACE, data, bytes, pattern);
	for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
		if (pattern == helper_output_poison[dtype] ||
			pattern == helper_trusted_poison((enum dtype)dtype))
			standin_mark(MARK_OUTPUT, data, bytes, (uint32_t)dtype);
}

static void guard_check(const struct standin_launch *launch)
{
	const unsigned char *byte = POINTER(const unsigned char, GUARD_DATA);
	uint64_t bytes = PARAM(uint64_t, GUARD_BYTES), bad = 0;
	uint32_t pattern = PARAM(uint32_t, GUARD_PATTERN);

	for (uint64_t i = 0; i < bytes; i++)
		bad += byte[i] != (unsigned char)(pattern >> 8 * (i & 3));
	*POINTER(uint64_t, GUARD_BAD_COUNT) += bad;
}

static void compare_one(struct helper_compare_result *result, double out, double expected,
	double allowed, int64_t linear, bool differs)
{
	double error = out == expected ? differs : fabs(out - expected);
	bool bad = isnan(out) || !(error <= allowed);

	if (error > result->max_abs_error)
		result->max_abs_error = error;
	if (error > 0 && error / allowed > result->max_tolerance_ratio)
		result->max_tolerance_ratio = error / allowed;
	result->nan_count += isnan(out) != 0;
	result->violations += bad;
	if (bad && (uint64_t)linear < result->first_bad) {
		result->first_bad = (uint64_t)linear;
		result->first_out = out;
		result->first_expected = expected;
	}
}

static void compare(const struct standin_launch *launch)
{
	const void *out = POINTER(const void, COMPARE_OUT);
	const int64_t *units = POINTER(const int64_t, COMPARE_UNITS);
	const double *expected = POINTER(const double, COMPARE_EXPECTED);
	int64_t expected_ld = PARAM(int64_t, COMPARE_EXPECTED_LD);
	struct helper_compare_result *result =
		POINTER(struct helper_compare_result, COMPARE_RESULT);
	int dtype = PARAM(int32_t, COMPARE_DTYPE), size = PARAM(int32_t, COMPARE_UNIT_SIZE);
	int64_t row_length = PARAM(int64_t, COMPARE_ROW_LENGTH), ld = PARAM(int64_t, COMPARE_LD);

	for (int32_t unit = 0; unit < PARAM(int32_t, COMPARE_UNIT_COUNT); unit++)
		for (int32_t j = 0; j < size; j++) {
			int64_t linear = units[unit] * size + j;
			double wanted = expected_ld > 0
						? element_read(expected, dtype,
							  linear / row_length * expected_ld +
								  linear % row_length)
						: expected[(int64_t)unit * size + j];

			compare_one(result,
				element_read(
					out, dtype, linear / row_length * ld + linear % row_length),
				wanted,
				PARAM(double, COMPARE_ABS) +
					PARAM(double, COMPARE_REL) * fabs(wanted),
				linear,
				expected_ld > 0 && element_size(dtype) == 8 &&
					((const int64_t *)out)[linear / row_length * ld +
							       linear % row_length] !=
						((const int64_t *)(const void *)
								expected)[linear / row_length *
										  expected_ld +
									  linear % row_length]);
		}
}

enum {
	ROWS_BACK = 1 << 14
};

static void mark_pitch(CUdeviceptr data, uint64_t bytes, uint32_t pitch)
{
	uint64_t whole;
	uint32_t dtype;

	for (uint64_t row = 0; row < ROWS_BACK; row++)
		if (standin_marked(data - row * pitch, MARK_OUTPUT, &whole, &dtype) &&
			row * pitch < whole)
			return;
	standin_mark(MARK_PITCH, data, bytes, pitch);
}

static void checksum(const struct standin_launch *launch)
{
	const unsigned char *data = POINTER(const unsigned char, CHECKSUM_DATA);
	int64_t rows = PARAM(int64_t, CHECKSUM_ROWS), bytes = PARAM(int64_t, CHECKSUM_ROW_BYTES);
	int64_t pitch = PARAM(int64_t, CHECKSUM_PITCH_BYTES), groups = (bytes + 7) / 8;
	uint64_t total = 0;

	/* Rows with something between them: only what lies between an output's rows is summed so,
	 * or an output itself, which begins with its mark; of a digest, parts of the outputs. */
	if (pitch > bytes && bytes > 0)
		mark_pitch(PARAM(CUdeviceptr, CHECKSUM_DATA), (uint64_t)bytes, (uint32_t)pitch);
	for (int64_t row = 0; row < rows; row++)
		for (int64_t i = 0; i < groups; i++) {
			uint64_t group = 0;
			int64_t left = bytes - 8 * i;

			memcpy(&group, data + row * pitch + 8 * i, (size_t)(left < 8 ? left : 8));
			total += mix(group + mix((uint64_t)(row * groups + i)));
		}
	*POINTER(uint64_t, CHECKSUM_SUM) += total;
}

bool standin_helper(const struct standin_launch *launch, double *us)
{
	const char *name = launch->kernel->name;

	*us = 3;
	if (strcmp(name, "tt_fill") == 0)
		fill(launch);
	else if (strcmp(name, "tt_offsets") == 0)
		offsets(launch);
	else if (strcmp(name, "tt_poison") == 0)
		poison(launch);
	else if (strcmp(name, "tt_guard_check") == 0)
		guard_check(launch);
	else if (strcmp(name, "tt_compare_begin") == 0)
		*POINTER(struct helper_compare_result, 0) =
			(struct helper_compare_result){.first_bad = UINT64_MAX};
	else if (strcmp(name, "tt_compare") == 0)
		compare(launch);
	else if (strcmp(name, "tt_checksum") == 0)
		checksum(launch);
	else if (strcmp(name, "tt_anchor_1") == 0)
		*us = 1000.0 * PARAM(int32_t, ANCHOR_COUNT) / ANCHOR_ITERATIONS;
	else
		return false;
	return true;
}
