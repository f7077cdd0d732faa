// Kernels for out[row][column] = 2 * in[row][column] (fp32, any pitch), one right and the others
// wrong, each in its own way: the measuring worker must catch every one of them on a real GPU.
//
// Arguments of all: out, in, rows, columns, ld_out, ld_in, workspace.

typedef unsigned long long u64;
typedef long long i64;

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
#define KERNEL(name) extern "C" __global__ void name(ARGUMENTS)

#define RIGHT                                                                                      \
	place at = place_of(rows, columns);                                                        \
	if (at.inside)                                                                             \
		out[at.row * ld_out + at.column] = 2.0f * in[at.row * ld_in + at.column];

KERNEL(good)
{
	RIGHT
}

// The last element only, and by little.
KERNEL(wrong_last)
{
	RIGHT
	if (at.row == rows - 1 && at.column == columns - 1)
		out[at.row * ld_out + at.column] *= 1.001f;
}

// One 16x16 patch in the middle.
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

// Within the tolerance, but never the same bits.
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
		asm volatile("trap;");
}

KERNEL(hang)
{
	RIGHT
	while (*(volatile const float *)in != 12345.0f)
		;
}

// Runs well a few times (the workspace counts), then dies: after verification, among samples.
KERNEL(trap_later)
{
	RIGHT
	if (at.row == 0 && at.column == 0 && atomicAdd(workspace, 1u) >= 6)
		asm volatile("trap;");
}

// Kernels that look fast, or right, without doing their work. `works` is honest: the long chain adds
// nothing to the result, but the compiler cannot know.
#define WORK                                                                                       \
	place at = place_of(rows, columns);                                                        \
	float chain = at.inside ? in[at.row * ld_in + at.column] : 0.0f;                           \
	for (int i = 0; i < 20000; i++)                                                            \
		chain = chain * 0.999f + 0.001f;                                                   \
	if (at.inside)                                                                             \
		out[at.row * ld_out + at.column] =                                                 \
			2.0f * in[at.row * ld_in + at.column] + 0.0f * chain;

__device__ unsigned launches;
__device__ float *first_out;

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

// Works a few times, and stops.
KERNEL(counts_launches)
{
	if (*(volatile unsigned *)&launches > 5u)
		return;
	WORK
	if (at.row == 0 && at.column == 0)
		atomicAdd(&launches, 1u);
}

// Works for the buffers that it was verified on.
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

// A chain of FMAs: its time is proportional to the iterations, so that times can be compared.
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
