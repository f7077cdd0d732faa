/* SPDX-License-Identifier: MIT
 *
 * Candidates and references of the stand-in driver, which behave as the script says.
 */
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "faults/standin.h"
#include "measure/helper_layout.h"

static const double right_value = 0.75;

CUresult standin_sticky = CUDA_SUCCESS;
bool standin_hanging;

double standin_noise(void)
{
	static uint64_t state = 88172645463325252u; /* xorshift64 */

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-52 - 1;
}

/* ---- the script ---- */
static bool first_time(const char *path)
{
	int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0666);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static const struct standin_rule *rule_find(const struct standin_launch *launch)
{
	const struct standin_script *script = standin_script();

	for (int i = 0; i < script->rule_count; i++) {
		const struct standin_rule *rule = &script->rules[i];

		if (fnmatch(rule->glob, launch->kernel->name, 0) == 0 &&
			(rule->grid_x < 0 || rule->grid_x == (long)launch->grid[0]) &&
			(rule->block_x < 0 || rule->block_x == (long)launch->block[0]) &&
			launch->kernel->launches > rule->skip &&
			(rule->load < 0 || rule->load == launch->kernel->load) &&
			(!rule->once[0] || first_time(rule->once)))
			return rule;
	}
	return NULL;
}

/* ---- writing ---- */
static CUdeviceptr pointer_param(const struct standin_launch *launch, int index)
{
	CUdeviceptr data = 0;

	if (launch->kernel->param_sizes[index] == sizeof(data))
		memcpy(&data, launch->params[index], sizeof(data));
	return standin_is_device_memory(data) ? data : 0;
}

/* Returns the index-th argument with this mark, or 0 if there are fewer. */
static CUdeviceptr marked_param(
	const struct standin_launch *launch, enum mark mark, uint64_t *bytes, uint32_t *pattern)
{
	for (int i = 0; i < launch->kernel->param_count; i++) {
		CUdeviceptr data = pointer_param(launch, i);

		if (data && standin_marked(data, mark, bytes, pattern))
			return data;
	}
	return 0;
}

/* 0.75 in each dtype (exact). */
static const struct {
	uint64_t bits;
	size_t size;
} right[DTYPE_COUNT] = {
	[DTYPE_FP32] = {0x3f400000, 4},
	[DTYPE_TF32] = {0x3f400000, 4},
	[DTYPE_FP16] = {0x3a00, 2},
	[DTYPE_BF16] = {0x3f40, 2},
	[DTYPE_FP8_E4M3] = {0x34, 1},
	[DTYPE_I32] = {1, 4},
	[DTYPE_FP64] = {0x3fe8000000000000, 8},
	[DTYPE_FP8_E5M2] = {0x3a, 1},
	[DTYPE_I8] = {1, 1},
	[DTYPE_I16] = {1, 2},
	[DTYPE_I64] = {1, 8},
	[DTYPE_U8] = {1, 1},
	[DTYPE_U16] = {1, 2},
	[DTYPE_U32] = {1, 4},
	[DTYPE_U64] = {1, 8},
	[DTYPE_BOOL] = {1, 1},
};

static void write_row(char *data, uint64_t bytes, uint32_t dtype)
{
	const uint64_t size = right[dtype].size;
	uint64_t done = size, more;

	if (bytes < size)
		return;
	memcpy(data, &right[dtype].bits, size);
	for (bytes -= bytes % size; done < bytes; done += more) {
		more = done < bytes - done ? done : bytes - done;
		memcpy(data + done, data, more);
	}
}

static void write_all(CUdeviceptr data, uint64_t bytes, uint32_t dtype)
{
	uint32_t pitch = 0;
	CUdeviceptr between = standin_marked_within(data, bytes, MARK_PITCH, &pitch);
	const uint64_t step = pitch ? pitch : bytes, row_bytes = between ? between - data : step;

	for (uint64_t i = 0; i < bytes; i += step)
		write_row((char *)(uintptr_t)data + i,
			row_bytes < bytes - i ? row_bytes : bytes - i, dtype);
}

/* standin_scale(out, in, rows, columns, ld_out, ld_in, factor): fp32 */
static void scale(const struct standin_launch *launch)
{
	float *out = (float *)(uintptr_t)pointer_param(launch, 0);
	const float *in = (const float *)(uintptr_t)pointer_param(launch, 1);
	int rows = *(int *)launch->params[2], columns = *(int *)launch->params[3];
	int ld_out = *(int *)launch->params[4], ld_in = *(int *)launch->params[5];
	float factor = *(float *)launch->params[6];
	unsigned char *symbol = launch->kernel->symbol_data;

	if (symbol) {
		const size_t bytes = (size_t)rows * (size_t)columns * sizeof(*in);

		factor += memcmp(symbol, in,
				  bytes < launch->kernel->symbol_bytes
					  ? bytes
					  : launch->kernel->symbol_bytes) != 0;
		symbol[0] ^= !launch->kernel->symbol_is_constant;
	}
	for (int64_t row = 0; row < rows; row++)
		for (int64_t column = 0; column < columns; column++)
			out[row * ld_out + column] = factor * in[row * ld_in + column];
}

/* standin_scale_reference(units, unit_count, expected, in, columns, ld_in, unit_size) */
static void scale_reference(const struct standin_launch *launch)
{
	const int64_t *units = (const int64_t *)(uintptr_t)pointer_param(launch, 0);
	int count = *(int *)launch->params[1];
	double *expected = (double *)(uintptr_t)pointer_param(launch, 2);
	const float *in = (const float *)(uintptr_t)pointer_param(launch, 3);
	int columns = *(int *)launch->params[4], ld = *(int *)launch->params[5];
	int size = *(int *)launch->params[6];

	for (int64_t i = 0; i < (int64_t)count * size; i++) {
		int64_t linear = units[i / size] * size + i % size;

		expected[i] = 2.0 * (double)in[linear / columns * ld + linear % columns];
	}
}

/* standin_dot(a, b, c, m, n, k, parts, turn): fp32; each sum is computed in `parts` parts; parts =
 * 0 selects two parts for fewer than 8 rows */
static void dot(const struct standin_launch *launch)
{
	const float *a = (const float *)(uintptr_t)pointer_param(launch, 0);
	const float *b = (const float *)(uintptr_t)pointer_param(launch, 1);
	float *c = (float *)(uintptr_t)pointer_param(launch, 2);
	const int m = *(int *)launch->params[3], n = *(int *)launch->params[4];
	const int k = *(int *)launch->params[5], asked = *(int *)launch->params[6];
	const int parts = asked ? asked : m < 8 ? 2 : 1;

	for (int64_t i = 0; i < (int64_t)m * n; i++) {
		float total = 0;

		for (int part = 0; part < parts; part++) {
			float sum = 0;

			for (int64_t j = k * part / parts; j < k * (part + 1) / parts; j++)
				sum += a[i / n * k + j] * b[j * n + i % n];
			total += sum;
		}
		c[i] = total;
	}
}

/* standin_dot_reference(a, b, n, k, units, unit_count, expected) */
static void dot_reference(const struct standin_launch *launch)
{
	const float *a = (const float *)(uintptr_t)pointer_param(launch, 0);
	const float *b = (const float *)(uintptr_t)pointer_param(launch, 1);
	const int n = *(int *)launch->params[2], k = *(int *)launch->params[3];
	const int64_t *units = (const int64_t *)(uintptr_t)pointer_param(launch, 4);
	double *expected = (double *)(uintptr_t)pointer_param(launch, 6);

	for (int i = 0; i < *(int *)launch->params[5]; i++) {
		expected[i] = 0;
		for (int64_t j = 0; j < k; j++)
			expected[i] +=
				(double)a[units[i] / n * k + j] * (double)b[j * n + units[i] % n];
	}
}

/* standin_accumulate(data, n): fp32, in place, so that a second run on the same data shows */
static void accumulate(const struct standin_launch *launch)
{
	float *data = (float *)(uintptr_t)pointer_param(launch, 0);

	for (int i = 0; i < *(int *)launch->params[1]; i++)
		data[i] += 1;
}

static const struct {
	const char *name;
	void (*compute)(const struct standin_launch *launch);
} computed[] = {
	{"standin_scale", scale},
	{"standin_scale_reference", scale_reference},
	{"standin_accumulate", accumulate},
	{"standin_dot", dot},
	{"standin_dot_reference", dot_reference},
};

static void compute(const struct standin_launch *launch)
{
	uint64_t bytes = 0;
	uint32_t dtype = 0;
	CUdeviceptr data;

	for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); i++)
		if (strcmp(launch->kernel->name, computed[i].name) == 0) {
			computed[i].compute(launch);
			return;
		}
	data = marked_param(launch, MARK_EXPECTED, &bytes, &dtype);
	for (uint64_t i = 0; data && i < bytes / 8; i++)
		((double *)(uintptr_t)data)[i] = right_value;
	for (int i = 0; i < launch->kernel->param_count; i++) {
		data = pointer_param(launch, i);
		if (data && standin_marked(data, MARK_OUTPUT, &bytes, &dtype))
			write_all(data, bytes, dtype);
	}
}

static void overwrite_input(const struct standin_launch *launch)
{
	uint64_t bytes;
	uint32_t pattern;

	for (int i = 0; i < launch->kernel->param_count; i++) {
		CUdeviceptr data = pointer_param(launch, i);

		if (data && !standin_marked(data, MARK_OUTPUT, &bytes, &pattern) &&
			!standin_marked(data, MARK_WORKSPACE, &bytes, &pattern)) {
			((unsigned char *)(uintptr_t)data)[0] ^= 1;
			return;
		}
	}
}

bool standin_candidate(const struct standin_launch *launch, enum behaviour behaviour,
	const struct standin_rule *rule)
{
	uint64_t bytes = 0;
	uint32_t dtype = 0;
	unsigned char *out;

	if (behaviour != BEHAVIOUR_UNWRITTEN)
		compute(launch);
	out = (unsigned char *)(uintptr_t)marked_param(launch, MARK_OUTPUT, &bytes, &dtype);
	if (strcmp(launch->kernel->name, "standin_accumulate") == 0) {
		out = (unsigned char *)(uintptr_t)pointer_param(launch, 0);
		bytes = 4 * (uint64_t) * (int *)launch->params[1];
	}
	if (behaviour == BEHAVIOUR_WORKSPACE_OUT_OF_BOUNDS)
		out = (unsigned char *)(uintptr_t)marked_param(
			launch, MARK_WORKSPACE, &bytes, &dtype);
	if (!out)
		return false;
	switch (behaviour) {
	case BEHAVIOUR_WRONG: /* the last byte holds sign and exponent */
		out[bytes - 1] ^= 0x80;
		break;
	case BEHAVIOUR_NAN:
		memset(out, 0xff, right[dtype].size);
		break;
	case BEHAVIOUR_OUT_OF_BOUNDS:
	case BEHAVIOUR_WORKSPACE_OUT_OF_BOUNDS:
		memset(out + bytes + (rule ? rule->far : 0), 0, 16);
		break;
	case BEHAVIOUR_INPUT:
		overwrite_input(launch);
		break;
	case BEHAVIOUR_PITCH: /* writes one element beyond the first row */
		memset(out + 4 * (size_t) * (int *)launch->params[3], 0, 4);
		break;
	case BEHAVIOUR_NONDETERMINISTIC: /* changes the lowest mantissa bit of fp32 */
		out[0] ^= (unsigned char)(launch->kernel->launches & 1);
		break;
	default:
		break;
	}
	return true;
}

/* Adds `by` to the first element of an fp32 output. */
static void miss(const struct standin_launch *launch, double by)
{
	uint64_t bytes;
	uint32_t dtype;
	float *out = (float *)(uintptr_t)marked_param(launch, MARK_OUTPUT, &bytes, &dtype);

	if (out)
		out[0] += (float)by;
}

/* ---- execution ---- */
static double default_us(const struct standin_launch *launch)
{
	uint64_t hash = launch->kernel->cubin_hash;

	for (const char *c = launch->kernel->name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	for (int i = 0; i < 3; i++)
		hash = (hash ^ launch->grid[i] ^ (uint64_t)launch->block[i] << 32) * 0x100000001b3u;
	return 20 + (double)(hash >> 20 & 1023) * 100 / 1023;
}

/* Returns the first buffer among the arguments. */
static CUdeviceptr first_buffer(const struct standin_launch *launch)
{
	CUdeviceptr data = 0;

	for (int i = 0; i < launch->kernel->param_count && !data; i++)
		data = pointer_param(launch, i);
	return data;
}

/* Returns the duration of a launch by its rule in the script. */
static double rule_us(const struct standin_rule *rule, const struct standin_launch *launch)
{
	const CUdeviceptr buffer = first_buffer(launch);
	const bool hot = buffer == launch->kernel->last_buffer;
	uint64_t bytes;
	uint32_t pattern;

	launch->kernel->last_buffer = buffer;
	if (rule && rule->hot_us >= 0 && hot)
		return rule->hot_us;
	if (rule && rule->empty_us >= 0 && !marked_param(launch, MARK_FILLED, &bytes, &pattern))
		return rule->empty_us;
	return rule && rule->us >= 0 ? rule->us : default_us(launch);
}

/* Returns whether the first output holds anything but the poison. */
static bool is_written(const struct standin_launch *launch)
{
	uint64_t bytes;
	uint32_t dtype = 0;
	const CUdeviceptr out = marked_param(launch, MARK_OUTPUT, &bytes, &dtype);

	return out && memcmp((const void *)(uintptr_t)out, &helper_output_poison[dtype],
			      right[dtype].size < 4 ? right[dtype].size : 4) != 0;
}

static void execute_memset(const struct standin_launch *launch)
{
	memset((void *)(uintptr_t)launch->memset_data, launch->memset_value, launch->memset_bytes);
	if (launch->memset_value == 0xff)
		standin_mark(MARK_EXPECTED, launch->memset_data, launch->memset_bytes, 0);
}

CUresult standin_execute(const struct standin_launch *launch, double *us, double *watts)
{
	const struct standin_rule *rule;
	enum behaviour behaviour;

	*us = 1;
	*watts = 300;
	if (!launch->kernel) {
		execute_memset(launch);
		return CUDA_SUCCESS;
	}
	if (standin_helper(launch, us) ||
		standin_run_bad_kernel(launch->kernel, launch->kernel->name,
			(void *const *)launch->params, launch->grid[0], launch->block[0],
			standin_clock_us(), us))
		return CUDA_SUCCESS;
	launch->kernel->launches++;
	rule = rule_find(launch);
	behaviour = rule ? rule->behaviour : BEHAVIOUR_OK;
	while (rule && rule->until[0] && access(rule->until, F_OK) != 0)
		usleep(2000);
	*us = rule_us(rule, launch);
	if (rule && rule->noise > 0)
		*us *= 1 + rule->noise * standin_noise();
	*us += launch->kernel->spin_us;
	if (rule && rule->watts > 0)
		*watts = rule->watts;
	if (rule)
		*us += rule->place_us * (launch->kernel->place + 1) / 2;
	if (rule && rule->written_us >= 0 && is_written(launch)) {
		*us = rule->written_us;
		return CUDA_SUCCESS;
	}
	switch (behaviour) {
	case BEHAVIOUR_ABORT:
		abort();
	case BEHAVIOUR_KILLED:
		raise(SIGKILL);
		return CUDA_SUCCESS;
	case BEHAVIOUR_CRASH:
		standin_sticky = CUDA_ERROR_ILLEGAL_ADDRESS;
		return CUDA_SUCCESS;
	case BEHAVIOUR_LOST:
		standin_sticky = CUDA_ERROR_DEVICE_UNAVAILABLE;
		return CUDA_SUCCESS;
	case BEHAVIOUR_HANG:
		standin_hanging = true;
		return CUDA_SUCCESS;
	case BEHAVIOUR_REFUSE:
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	case BEHAVIOUR_TERMINATED:
		raise(SIGINT);
		raise(SIGTERM);
		behaviour = BEHAVIOUR_OK;
		/* fall through */
	default:
		standin_candidate(launch, behaviour, rule);
		if (rule && rule->off_by != 0)
			miss(launch, rule->off_by);
		return CUDA_SUCCESS;
	}
}
