/* SPDX-License-Identifier: MIT
 *
 * The known wrong kernels (tests/gpu/bad_kernels.cu) as C++. The threads of a launch run one after another.
 * The duration of a launch is proportional to the work that the kernel really does.
 */
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>

struct position {
	unsigned x = 0;
};
static position threadIdx, blockIdx, blockDim, gridDim;
static double now_us, work;

#define __device__
#define __global__
#define __syncthreads()
#define STANDIN
#define KERNEL(name) static void name(ARGUMENTS)
#define TRAP()
#define WORK_STEPS 1
#define BLOCKS_MAX 64
#define WORKED()   work++

static int __float_as_int(float value)
{
	int bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}
static float __int_as_float(int bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}
static unsigned atomicAdd(unsigned *at, unsigned value)
{
	const unsigned before = *at;

	*at += value;
	return before;
}
static unsigned multiprocessor()
{
	return blockIdx.x;
}
static unsigned long long nanoseconds()
{
	return (unsigned long long)(now_us * 1000);
}
static long long clock64()
{
	static long long clock;

	return clock += 16 * (1 + rand() % 5);
}

#include "gpu/bad_kernels.cu"

typedef void bad_kernel(ARGUMENTS);

#define NAMED(name)                                                                                \
	{                                                                                          \
#name, name                                                                        \
	}
static const struct {
	const char *name;
	bad_kernel *run;
} kernels[] = {
	NAMED(good),
	NAMED(wrong_last),
	NAMED(wrong_patch),
	NAMED(nan_somewhere),
	NAMED(unwritten_row),
	NAMED(nothing),
	NAMED(write_behind),
	NAMED(write_before),
	NAMED(write_pitch),
	NAMED(write_input),
	NAMED(write_workspace),
	NAMED(nondeterministic),
	NAMED(all_nan),
	NAMED(narrow_type),
	NAMED(zeroes_input),
	NAMED(some_points),
	NAMED(skips_multiprocessors),
	NAMED(works),
	NAMED(skips_written),
	NAMED(counts_launches),
	NAMED(knows_buffers),
	NAMED(knows_address),
	NAMED(knows_checksum),
	NAMED(writes_one),
	NAMED(computes_ahead),
	NAMED(counts_in_workspace),
	NAMED(stops_by_clock),
};

/* Variables of the source, which the driver may reset between launches. */
#define VARIABLE(name)                                                                             \
	{                                                                                          \
#name, &name, sizeof(name)                                                         \
	}
static const struct {
	const char *name;
	void *here;
	size_t bytes;
} variables[] = {VARIABLE(launches), VARIABLE(first_out), VARIABLE(sightings), VARIABLE(known),
	VARIABLE(sixth_launch_ns)};

extern "C" void *standin_variable(const void *kernel, const char *name);

template <class T> static T argument(void *const *params, int index)
{
	return *(const T *)params[index];
}

static void copy_variables(const void *kernel, bool to_driver)
{
	for (const auto &variable : variables) {
		void *there = standin_variable(kernel, variable.name);

		if (there && to_driver)
			memcpy(there, variable.here, variable.bytes);
		else if (there)
			memcpy(variable.here, there, variable.bytes);
	}
}

static bool run_reference(void *const *params, unsigned threads)
{
	for (blockIdx.x = 0; blockIdx.x < gridDim.x; blockIdx.x++)
		for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
			bad_reference(argument<const i64 *>(params, 0), argument<int>(params, 1),
				argument<double *>(params, 2), argument<const float *>(params, 3),
				argument<int>(params, 4), argument<int>(params, 5));
	return true;
}

/* Returns false if this is not one of these kernels. clock_us is the time of the launch. */
extern "C" bool standin_run_bad_kernel(const void *kernel, const char *name, void *const *params,
	unsigned blocks, unsigned threads, double clock_us, double *us)
{
	const double launch_us = 2, work_us = 40;

	/* kernels of other sources have the same names */
	if (!standin_variable(kernel, "sightings"))
		return false;
	gridDim.x = blocks;
	blockDim.x = threads;
	now_us = clock_us;
	work = 0;
	*us = launch_us;
	if (strcmp(name, "bad_reference") == 0)
		return run_reference(params, threads);
	for (const auto &one : kernels) {
		if (strcmp(name, one.name) != 0)
			continue;
		copy_variables(kernel, false);
		for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++)
			for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++)
				one.run(argument<float *>(params, 0),
					argument<const float *>(params, 1),
					argument<int>(params, 2), argument<int>(params, 3),
					argument<int>(params, 4), argument<int>(params, 5),
					argument<unsigned *>(params, 6));
		copy_variables(kernel, true);
		*us += work_us * work / (blocks * threads);
		return true;
	}
	return false;
}
