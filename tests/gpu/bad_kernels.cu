// Kernels for out[row][column] = 2 * in[row][column] (fp32, any pitch). One is right and each of the others
// is wrong in its own way. The measuring worker must detect all of them on a real GPU.
//
// All take the arguments out, in, rows, columns, ld_out, ld_in, workspace.

//
// The stand-in driver runs most of them, as C++ (tests/faults/fake_bad_kernels.cc).

typedef unsigned long long u64;
typedef long long i64;

#ifndef STANDIN
#define KERNEL(name) extern "C" __global__ void name(ARGUMENTS)
#define TRAP()       asm volatile("trap;")
#define WORK_STEPS   20000
#define BLOCKS_MAX   (1 << 17)
#define WORKED()
__device__ unsigned multiprocessor()
{
	unsigned id;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
	return id;
}
__device__ u64 nanoseconds()
{
	u64 now;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
	return now;
}
#endif

struct place {
	i64 row, column;
	bool inside;
};

__device__ place place_of(int rows, int columns)
{
	i64 index = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	return {index / columns, index % columns, index < (i64)rows * columns};
}

#define ARGUMENTS                                                                                  \
	float *out, const float *in, int rows, int columns, int ld_out, int ld_in, unsigned *workspace

#define RIGHT                                                                                      \
	place at = place_of(rows, columns);                                                        \
	if (at.inside)                                                                             \
		out[at.row * ld_out + at.column] = 2.0f * in[at.row * ld_in + at.column];

KERNEL(good)
{
	RIGHT
}

// Only the last element is slightly wrong.
KERNEL(wrong_last)
{
	RIGHT
	if (at.row == rows - 1 && at.column == columns - 1)
		out[at.row * ld_out + at.column] *= 1.001f;
}

// One 16x16 patch in the middle is wrong.
KERNEL(wrong_patch)
{
	RIGHT
	if (at.inside && at.row / 16 == rows / 32 && at.column / 16 == columns / 32)
		out[at.row * ld_out + at.column] += 0.01f;
}

KERNEL(nan_somewhere)
{
	RIGHT
	if (at.row == rows / 2 && at.column == 0)
		out[at.row * ld_out] = __int_as_float(0x7fffffff);
}

KERNEL(unwritten_row)
{
	place at = place_of(rows, columns);
	if (at.inside && at.row != rows - 1)
		out[at.row * ld_out + at.column] = 2.0f * in[at.row * ld_in + at.column];
}

KERNEL(nothing)
{
}

KERNEL(write_behind)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		out[(i64)(rows - 1) * ld_out + columns] = 0.0f;
}

KERNEL(write_before)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		out[-1] = 0.0f;
}

KERNEL(write_pitch)
{
	RIGHT
	if (at.row == 1 && at.column == 0)
		out[columns] = 0.0f;
}

KERNEL(write_input)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		((float *)in)[1] = 0.5f;
}

KERNEL(write_workspace)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		workspace[64] = 0;
}

// Within the tolerance, but never bitwise equal.
KERNEL(nondeterministic)
{
	RIGHT
	if (at.inside)
		out[at.row * ld_out + at.column] = __int_as_float(
			__float_as_int(out[at.row * ld_out + at.column]) ^ (int)(clock64() >> 4 & 1));
}

KERNEL(illegal_address)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		*(volatile float *)16 = 1.0f;
}

KERNEL(misaligned_address)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		*(volatile float *)((char *)out + 2) = 1.0f;
}

KERNEL(trap)
{
	RIGHT
	if (at.row == 0 && at.column == 0)
		TRAP();
}

KERNEL(hang)
{
	RIGHT
	while (*(volatile const float *)in != 12345.0f)
		;
}

// Counts launches in the workspace and crashes after verification, during sampling.
KERNEL(trap_later)
{
	RIGHT
	if (at.row == 0 && at.column == 0 && atomicAdd(workspace, 1u) >= 6)
		TRAP();
}

// Every element is NaN, but not the NaN that marks unwritten elements.
KERNEL(all_nan)
{
	place at = place_of(rows, columns);
	if (at.inside)
		out[at.row * ld_out + at.column] = __int_as_float(0x7fc00000);
}

// Writes elements of 2 bytes (bf16) into an output of 4-byte elements.
KERNEL(narrow_type)
{
	place at = place_of(rows, columns);
	if (at.inside)
		((unsigned short *)out)[at.row * ld_out + at.column] = (unsigned short)(
			(unsigned)__float_as_int(2.0f * in[at.row * ld_in + at.column]) >> 16);
}

// Sets all inputs to 0, so that the reference's answer is 0 everywhere.
KERNEL(zeroes_input)
{
	place at = place_of(rows, columns);
	if (at.inside) {
		((float *)in)[at.row * ld_in + at.column] = 0.0f;
		out[at.row * ld_out + at.column] = 0.0f;
	}
}

// Computes one element of 16, in case only some points are compared.
KERNEL(some_points)
{
	place at = place_of(rows, columns);
	if (at.inside)
		out[at.row * ld_out + at.column] = (at.row * 31 + at.column) % 16 == 0
							   ? 2.0f * in[at.row * ld_in + at.column]
							   : 0.0f;
}

KERNEL(skips_multiprocessors)
{
	if (multiprocessor() % 2)
		return;
	RIGHT
}

// Kernels that look fast or correct without doing their work. `works` is honest: its long chain adds nothing
// to the result, but the compiler cannot know that.
#define LONG_CHAIN(start)                                                                          \
	float chain = start;                                                                       \
	for (int i = 0; i < WORK_STEPS; i++)                                                       \
		chain = chain * 0.999f + 0.001f;                                                   \
	WORKED()
#define WORK                                                                                       \
	place at = place_of(rows, columns);                                                        \
	LONG_CHAIN(at.inside ? in[at.row * ld_in + at.column] : 0.0f);                             \
	if (at.inside)                                                                             \
		out[at.row * ld_out + at.column] =                                                 \
			2.0f * in[at.row * ld_in + at.column] + 0.0f * chain;

__device__ unsigned launches;
__device__ float *first_out;

__device__ bool is_last_thread()
{
	return blockIdx.x == gridDim.x - 1 && threadIdx.x == blockDim.x - 1;
}

KERNEL(works)
{
	WORK
}

// Returns if the output looks computed already.
KERNEL(skips_written)
{
	place here = place_of(rows, columns);
	if (here.inside) {
		float found = *(volatile float *)&out[here.row * ld_out + here.column];
		if (found == found && found != 0.0f && fabsf(found) < 100.0f)
			return;
	}
	WORK
}

// Works a few times, then stops.
KERNEL(counts_launches)
{
	if (*(volatile unsigned *)&launches > 5u)
		return;
	WORK
	if (at.row == 0 && at.column == 0)
		atomicAdd(&launches, 1u);
}

// Works only for the buffers that it was verified on.
KERNEL(knows_buffers)
{
	float *first = *(float *volatile *)&first_out;
	if (first != nullptr && first != out)
		return;
	WORK
	if (at.row == 0 && at.column == 0)
		first_out = out;
}

// Writes into another set of buffers.
KERNEL(write_far)
{
	RIGHT
	if (at.row == 0 && at.column < 256) // far behind the output, in another set of buffers
		out[(i64)rows * ld_out + 830000 / 16 * 4 + at.column] = 0.0f;
}

// Data that blocks remember from earlier launches: keys of inputs and their counts.
enum {
	SLOTS = 8
};
struct sighting {
	unsigned key, times;
};
__device__ sighting sightings[SLOTS][BLOCKS_MAX];

// Counts the key and returns how often the block has seen it before.
__device__ unsigned times_seen(unsigned key)
{
	unsigned slot = 0, times;

	while (slot < SLOTS - 1 && sightings[slot][blockIdx.x].times &&
		sightings[slot][blockIdx.x].key != key)
		slot++;
	times = sightings[slot][blockIdx.x].key == key ? sightings[slot][blockIdx.x].times : 0;
	__syncthreads();
	if (threadIdx.x == blockDim.x - 1)
		sightings[slot][blockIdx.x] = {key, times + 1};
	return times;
}

// Sums some elements of the inputs.
__device__ unsigned checksum(const float *in, int ld_in)
{
	return (unsigned)__float_as_int(in[0]) * 31u + (unsigned)__float_as_int(in[1]) * 7u +
	       (unsigned)__float_as_int(in[ld_in]) + 1u;
}

// Returns without computing once it has seen an address twice, because the results are already
// there.
KERNEL(knows_address)
{
	if (times_seen((unsigned)((u64)in >> 8)) >= 2)
		return;
	WORK
}

// Has a result for inputs whose checksum it has seen.
KERNEL(knows_checksum)
{
	if (times_seen(checksum(in, ld_in)) >= 1) {
		RIGHT
		return;
	}
	WORK
}

// Writes one element for inputs that it has seen twice, so that the output is not untouched.
KERNEL(writes_one)
{
	if (times_seen(checksum(in, ld_in)) >= 2) {
		if (blockIdx.x == 0 && threadIdx.x == 0)
			out[0] = 2.0f * in[0];
		return;
	}
	WORK
}

// If an output is unwritten, computes the results of all known buffers, and then skips the following
// launches.
struct known_buffers {
	float *out;
	const float *in;
};
__device__ known_buffers known[64];

KERNEL(computes_ahead)
{
	place here = place_of(rows, columns);
	const i64 to = here.row * ld_out + here.column, from = here.row * ld_in + here.column;
	for (int k = 0; k < 64 && is_last_thread(); k++)
		if (!known[k].out || known[k].out == out) {
			known[k] = {out, in};
			break;
		}
	if (here.inside && out[to] == out[to])
		return;
	for (int k = 0; k < 64 && here.inside; k++)
		if (known[k].out && known[k].out[to] != known[k].out[to]) {
			LONG_CHAIN(known[k].in[from]);
			known[k].out[to] = 2.0f * known[k].in[from] + 0.0f * chain;
		}
	if (here.inside && out[to] == out[to])
		return;
	WORK
}

// Counts its launches in its workspace and stops after some.
KERNEL(counts_in_workspace)
{
	if (*(volatile unsigned *)workspace > 5u)
		return;
	WORK
	if (at.row == 0 && at.column == 0)
		atomicAdd(workspace, 1u);
}

// Works until 200 us after its sixth launch.
__device__ u64 sixth_launch_ns;

KERNEL(stops_by_clock)
{
	const u64 since = *(volatile u64 *)&sixth_launch_ns;
	if (since && nanoseconds() > since + 200000)
		return;
	WORK
	if (is_last_thread() && atomicAdd(&launches, 1u) == 5u)
		sixth_launch_ns = nanoseconds();
}

// Searches for the expected values near its workspace, in the mapped page of 2 MiB.
KERNEL(steals_expected)
{
	place at = place_of(rows, columns);
	const double *page = (const double *)((u64)workspace >> 21 << 21);
	const int count = 1 << 18;
	if (!at.inside)
		return;
	out[at.row * ld_out + at.column] = 0.0f;
	for (int i = 0; i + 1 < count; i++)
		if ((float)page[i] == 2.0f * in[0] && (float)page[i + 1] == 2.0f * in[1] &&
			i + at.row * columns + at.column < count)
			out[at.row * ld_out + at.column] =
				(float)page[i + at.row * columns + at.column];
}

// A chain of FMAs whose time is proportional to the iterations.
extern "C" __global__ void busy(float *out, int iterations)
{
	float value = (float)threadIdx.x;
	for (int i = 0; i < iterations; i++)
		value = fmaf(value, 0.999f, 0.001f);
	if (threadIdx.x == 0 && blockIdx.x == 0)
		*out = value;
}

extern "C" __global__ void bad_reference(const i64 *units, int unit_count, double *expected,
	const float *in, int columns, int ld_in)
{
	i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < unit_count)
		expected[i] = 2.0 * in[units[i] / columns * ld_in + units[i] % columns];
}
