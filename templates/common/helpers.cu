// Kernels with which the measuring worker prepares, checks and compares buffers. Their names and
// arguments are fixed, because a stand-in driver library implements them by name.
//
// Every kernel uses a grid-stride loop. Any one-dimensional grid and block are correct (blocks of
// at most 1024 threads; TT_BLOCK = 256 is usual), so the caller chooses the size only for speed.
// Pointers are device pointers. No kernel accesses a byte outside of its arguments' ranges.
//
//   dtype_code  0 fp32, 1 tf32, 2 fp16, 3 bf16, 4 fp8_e4m3, 5 i32; others below
//
//   tt_fill(void *data, int dtype_code, i64 rows, i64 cols, i64 ld, int contents, double low,
//       double high, u64 seed, u32 poison)
//       Sets element (r, c), at data[r*ld + c], to a value that depends only on contents, seed and
//       r*cols + c, and is rounded to the dtype. The value is uniform in [low, high], normal (mean
//       low, deviation high), 0, 1, the index r*cols + c, an element of a permutation of the indices
//       (integers below 2^32), or a value of a probe input (made.cuh). The pitch (cols <= c < ld)
//       is set to the poison, so that a kernel that reads it gives a wrong result. The tensor ends
//       after the last row's last column, and nothing is written behind it.
//   tt_offsets(i32 *data, i64 count, i64 total, double skew, u64 seed, int sizes)
//       Writes offsets or sizes of groups; see the comment at the kernel.
//   tt_poison(void *data, u64 bytes, u32 pattern, u64 stride, u64 count)
//       Fills `count` pieces of memory, which begin `stride` bytes apart, with the bytes of the
//       pattern in little-endian order. The stride is a multiple of 4.
//   tt_guard_check(const void *data, u64 bytes, u32 pattern, u64 stride, u64 count, u64 *bad_count)
//       Adds to *bad_count the number of bytes that differ from those that tt_poison wrote.
//   tt_compare_begin(struct tt_result *result)
//       Sets the result to "nothing compared yet". Launch <<<1, 1>>> before tt_compare.
//   tt_compare(const void *out, int dtype_code, i64 row_length, i64 ld, const i64 *units,
//              int unit_count, int unit_size, const void *expected, i64 expected_ld,
//              double abs_tol, double rel_tol, u32 poison, struct tt_result *result)
//       Compares units of a tensor whose rows have row_length elements and the pitch ld. Unit u
//       consists of the logical elements units[u]*unit_size + 0..unit_size-1: single elements if
//       unit_size is 1, whole rows if it is row_length. If expected_ld is 0, expected is an array of
//       doubles, and expected[u*unit_size + j] belongs to element j of unit u. Otherwise expected is
//       a tensor of the same type with the pitch expected_ld. An element is a violation if
//       |out - expected| > abs_tol + rel_tol*|expected|. An expected infinity requires the same
//       infinity. An expected NaN requires a NaN that is not the poison, because the kernel must
//       have written it. Other NaN are violations. If an expected double has the bits of `anything`,
//       every value is correct. Different 64-bit integers that are equal as doubles count as an error
//       of 1. The results of several launches into one struct add up, except first_out and
//       first_expected, which belong to first_bad_linear_index.
//   tt_magnitudes(const void *values, int dtype_code, i64 row_length, i64 ld, const i64 *units,
//                 int unit_count, int unit_size, u32 poison, u64 *counts)
//       Examines expected values, addressed as in tt_compare; with an ld of 0 they are doubles. Adds
//       the number of values that were not written to counts[0]. In a double, all bits are set then;
//       in a tensor whose type has NaN, the value is the poison. Adds the number of NaN to counts[1].
//       Each finite value other than 0 adds to one of 512 groups of 4 binades. A group has three
//       words, from counts[2] on: the number of values, the bits of the largest |value|, and the
//       inverted bits of the smallest.
//   tt_checksum(const void *data, i64 rows, i64 row_bytes, i64 pitch_bytes, u64 *sum)
//       Adds to *sum a 64-bit checksum of the logical bytes. It does not depend on grid, block or
//       the order of execution: two runs with the same bytes give the same sum.
//   tt_cipher(u64 *data, u64 words, u64 key)
//       Combines each word, by exclusive or, with a number that depends on the key and the word's
//       index. A second call restores the words.
//   tt_anchor_1(float *out, int iterations)
//       A fixed amount of fp32 arithmetic whose time depends on the clock alone. Launch with
//       2 blocks of 512 threads per SM: with 30000 iterations about 1 ms at 1.98 GHz. `out` holds one
//       float per thread. It never changes: recorded times name it; another would be tt_anchor_2.
#include "common/block_reduce.cuh"
#include "common/convert.cuh"
#include "common/made.cuh"

struct tt_result {
	u64 violations;
	u64 first_bad_linear_index; // the smallest logical index of a violation; all ones if none
	double max_abs_error;       // over elements that are not NaN
	double first_out;           // the value at first_bad_linear_index, and its expected value
	double first_expected;
	u64 nan_count;              // violations that are NaN or were not written
	u64 blocks_done; // internal: 0 between launches
};

static_assert(sizeof(tt_result) == 56, "read by the host as seven 8-byte words");

// The other dtypes' codes (expr/dtype.h).
enum {
	code_i32 = 5,
	code_fp64,
	code_fp8_e5m2,
	code_i8,
	code_i16,
	code_i64,
	code_u8,
	code_u16,
	code_u32,
	code_u64,
	code_bool
};
constexpr u64 no_index = ~0ull;
constexpr u64 anything = 0x7ff8000000000a11ull; // expected value where every value is correct

__device__ __forceinline__ u64 thread_index()
{
	return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ u64 thread_count()
{
	return (u64)gridDim.x * blockDim.x;
}

// The finalizer of splitmix64 (Steele, Lea, Flood, 2014): every input bit flips half the output
// bits.
__device__ __forceinline__ u64 mix(u64 bits)
{
	bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9ull;
	bits = (bits ^ bits >> 27) * 0x94d049bb133111ebull;
	return bits ^ bits >> 31;
}

__device__ __forceinline__ u64 random_bits(u64 seed, u64 counter)
{
	return mix(mix(seed) + counter * 0x9e3779b97f4a7c15ull);
}

// Uniform in [low, high]; 24 bits, as many as a float's mantissa holds.
__device__ __forceinline__ float uniform(u64 seed, u64 counter, float low, float high)
{
	return low + (high - low) * ((float)(u32)(random_bits(seed, counter) >> 40) * 0x1p-24f);
}

__device__ __forceinline__ double uniform(u64 seed, u64 counter, double low, double high)
{
	return low + (high - low) * ((double)(random_bits(seed, counter) >> 11) * 0x1p-53);
}

// Box and Muller, 1958.
__device__ __forceinline__ double normal(u64 seed, u64 counter, double mean, double deviation)
{
	float radius = uniform(seed, counter, 0x1p-24f, 1.0f);
	float turn = uniform(~seed, counter, 0.0f, 2.0f);
	return mean + deviation * (double)(sqrtf(-2.0f * logf(radius)) * cospif(turn));
}

__device__ __forceinline__ int element_bytes(int dtype_code)
{
	switch (dtype_code) {
	case fp16::code:
	case bf16::code:
	case code_i16:
	case code_u16:
		return 2;
	case fp8_e4m3::code:
	case code_fp8_e5m2:
	case code_i8:
	case code_u8:
	case code_bool:
		return 1;
	case code_fp64:
	case code_i64:
	case code_u64:
		return 8;
	default:
		return 4;
	}
}

// The lowest bytes of the bits.
__device__ __forceinline__ void write_bits(void *data, int bytes, i64 position, u64 bits)
{
	switch (bytes) {
	case 1:
		((u8 *)data)[position] = (u8)bits;
		break;
	case 2:
		((u16 *)data)[position] = (u16)bits;
		break;
	case 4:
		((u32 *)data)[position] = (u32)bits;
		break;
	default:
		((u64 *)data)[position] = bits;
	}
}

// The upper half of an fp16, rounded to nearest, ties to even.
__device__ __forceinline__ u8 e5m2_of(float value)
{
	u32 half = fp16::store(value);
	return (u8)((half + 0x7fu + (half >> 8 & 1u)) >> 8);
}

__device__ __forceinline__ u64 element_of(int dtype_code, double value)
{
	switch (dtype_code) {
	case fp32::code:
		return __float_as_uint(fp32::store((float)value));
	case tf32::code:
		return __float_as_uint(tf32::store((float)value));
	case fp16::code:
		return fp16::store((float)value);
	case bf16::code:
		return bf16::store((float)value);
	case fp8_e4m3::code:
		return fp8_e4m3::store((float)value);
	case code_fp8_e5m2:
		return e5m2_of((float)value);
	case code_fp64:
		return (u64)__double_as_longlong(value);
	case code_bool:
		return rint(value) != 0.0;
	case code_u64:
		return value < 0.0 ? (u64)(i64)rint(value) : (u64)rint(value);
	default: // integers
		return (u64)(i64)rint(value);
	}
}

// Returns the position of `index` in a permutation of 0 .. count-1. A Feistel network permutes the
// numbers below a power of four that is at least count. Results that are not below count pass
// through the network again.
__device__ __forceinline__ u32 permuted(u32 index, u32 count, u64 seed)
{
	int half = 1;
	while (half < 16 && 1ull << 2 * half < count)
		half++;
	u32 mask = (1u << half) - 1;
	do {
		u32 left = index >> half, right = index & mask;
		for (u64 round = 0; round < 4; round++) {
			u32 next = left ^ ((u32)mix(mix(seed + round) + right) & mask);
			left = right;
			right = next;
		}
		index = left << half | right;
	} while (index >= count);
	return index;
}

extern "C" __global__ void tt_fill(void *data, int dtype_code, i64 rows, i64 cols, i64 ld,
	int contents, double low, double high, u64 seed, u32 poison)
{
	i64 total = rows > 0 ? (rows - 1) * ld + cols : 0;
	int bytes = element_bytes(dtype_code);
	for (i64 i = (i64)thread_index(); i < total; i += (i64)thread_count()) {
		i64 row = i / ld, col = i - row * ld;
		u64 index = (u64)(row * cols + col);
		double value = (double)index;
		switch (contents) {
		case contents_uniform:
			value = bytes == 8 ? uniform(seed, index, low, high)
					   : uniform(seed, index, (float)low, (float)high);
			break;
		case contents_normal:
			value = normal(seed, index, low, high);
			break;
		case contents_zero:
			value = 0.0;
			break;
		case contents_one:
			value = 1.0;
			break;
		case contents_permutation:
			value = permuted((u32)index, (u32)(rows * cols), seed);
			break;
		}
		if (contents >= contents_mixed)
			value = made(contents, random_bits(seed, index), low, high);
		write_bits(data, bytes, i,
			col < cols ? element_of(dtype_code, value) : (u64)poison << 32 | poison);
	}
}

// Writes the offsets of count - 1 groups, which have `total` elements together; the last offset is
// the total. The share of a group is proportional to (r + 1)^-skew, where r is its rank in a
// permutation. With `sizes`, writes the numbers of elements of `count` groups instead.
extern "C" __global__ void tt_offsets(i32 *data, i64 count, i64 total, double skew, u64 seed, int sizes)
{
	u32 groups = (u32)count - !sizes;
	for (i64 i = (i64)thread_index(); i < count; i += (i64)thread_count()) {
		double before = 0.0, upto = 0.0, all = 0.0;
		for (u32 group = 0; group < groups; group++) {
			before = group == i ? all : before;
			all += pow(1.0 + permuted(group, groups, seed), -skew);
			upto = group == i ? all : upto;
		}
		i32 end = i + 1 < groups ? (i32)((double)total * (upto / all)) : (i32)total;
		i32 first = i < groups ? (i32)((double)total * (before / all)) : (i32)total;
		data[i] = sizes ? end - first : first;
	}
}

// Returns the number of bytes before the first 4-byte boundary.
__device__ __forceinline__ u64 unaligned_bytes(const void *data, u64 bytes)
{
	u64 head = (4 - ((u64)data & 3)) & 3;
	return head < bytes ? head : bytes;
}

__device__ __forceinline__ u8 pattern_byte(u32 pattern, u64 offset)
{
	return (u8)(pattern >> 8 * (u32)(offset & 3));
}

// A piece of memory that holds a pattern: 4-byte words, and bytes before and behind them.
struct piece {
	u8 *byte;
	u32 *word;
	u64 head, words, odd_bytes;
};

__device__ __forceinline__ piece piece_of(const void *data, u64 bytes)
{
	u64 head = unaligned_bytes(data, bytes), words = (bytes - head) / 4;
	u8 *byte = (u8 *)data;
	return {byte, (u32 *)(byte + head), head, words, bytes - 4 * words};
}

// Returns the offset of the i-th byte that belongs to no word.
__device__ __forceinline__ u64 odd_offset(const piece &part, u64 i)
{
	return i < part.head ? i : i + 4 * part.words;
}

extern "C" __global__ void tt_poison(void *data, u64 bytes, u32 pattern, u64 stride, u64 count)
{
	piece first = piece_of(data, bytes);
	// A word that starts at offset `head` holds the pattern rotated by that many bytes.
	u32 rotated = __funnelshift_r(pattern, pattern, 8 * (u32)first.head);
	for (u64 i = thread_index(); i < count * first.words; i += thread_count())
		first.word[i / first.words * (stride / 4) + i % first.words] = rotated;
	for (u64 i = thread_index(); i < count * first.odd_bytes; i += thread_count()) {
		u64 offset = odd_offset(first, i % first.odd_bytes);
		first.byte[i / first.odd_bytes * stride + offset] = pattern_byte(pattern, offset);
	}
}

extern "C" __global__ void tt_guard_check(
	const void *data, u64 bytes, u32 pattern, u64 stride, u64 count, u64 *bad_count)
{
	piece first = piece_of(data, bytes);
	u32 rotated = __funnelshift_r(pattern, pattern, 8 * (u32)first.head);
	u64 bad = 0;
	for (u64 i = thread_index(); i < count * first.words; i += thread_count()) {
		u32 difference =
			first.word[i / first.words * (stride / 4) + i % first.words] ^ rotated;
		for (int b = 0; difference != 0 && b < 4; b++)
			bad += (difference >> 8 * b & 0xffu) != 0;
	}
	for (u64 i = thread_index(); i < count * first.odd_bytes; i += thread_count()) {
		u64 offset = odd_offset(first, i % first.odd_bytes);
		bad += first.byte[i / first.odd_bytes * stride + offset] !=
		       pattern_byte(pattern, offset);
	}
	if (bad != 0)
		atomicAdd(bad_count, bad);
}

__device__ __forceinline__ double read(const void *data, int dtype_code, i64 position)
{
	switch (dtype_code) {
	case fp16::code:
		return fp16::load(((const u16 *)data)[position]);
	case bf16::code:
		return bf16::load(((const u16 *)data)[position]);
	case fp8_e4m3::code:
		return fp8_e4m3::load(((const u8 *)data)[position]);
	case code_fp8_e5m2:
		return fp16::load((u16)(((const u8 *)data)[position] << 8));
	case code_fp64:
		return ((const double *)data)[position];
	case code_i8:
		return ((const signed char *)data)[position];
	case code_i16:
		return ((const short *)data)[position];
	case code_i32:
		return ((const i32 *)data)[position];
	case code_i64:
		return (double)((const i64 *)data)[position];
	case code_u8:
	case code_bool:
		return ((const u8 *)data)[position];
	case code_u16:
		return ((const u16 *)data)[position];
	case code_u32:
		return ((const u32 *)data)[position];
	case code_u64:
		return (double)((const u64 *)data)[position];
	default:
		return ((const float *)data)[position]; // fp32 and tf32
	}
}

// Integers that doubles do not tell apart.
__device__ __forceinline__ bool differs_as_integer(
	const void *out, i64 position, const void *expected, i64 expected_position, int dtype_code)
{
	return (dtype_code == code_i64 || dtype_code == code_u64) &&
	       ((const u64 *)out)[position] != ((const u64 *)expected)[expected_position];
}

// The largest of all threads' values. Doubles that are not negative are ordered as their bits are.
__device__ __forceinline__ void atomic_max(double *target, double value)
{
	u64 bits = (u64)__double_as_longlong(value);
	bits = block_reduce(bits, [](u64 a, u64 b) { return a > b ? a : b; });
	if (threadIdx.x == 0)
		atomicMax((u64 *)target, bits);
}

extern "C" __global__ void tt_compare_begin(tt_result *result)
{
	*result = tt_result{0, no_index, 0.0, 0.0, 0.0, 0, 0};
}

// The last block to finish knows the smallest bad index, and stores its two values.
__device__ void describe_first_bad(const void *out, int dtype_code, i64 row_length, i64 ld,
	const i64 *units, i64 count, int unit_size, const void *expected, i64 expected_ld,
	tt_result *result)
{
	u64 first = *(volatile u64 *)&result->first_bad_linear_index;
	for (i64 i = threadIdx.x; first != no_index && i < count; i += blockDim.x) {
		i64 linear = units[i / unit_size] * unit_size + i % unit_size;
		if ((u64)linear != first)
			continue;
		i64 row = linear / row_length, col = linear - row * row_length;
		result->first_out = read(out, dtype_code, row * ld + col);
		result->first_expected =
			expected_ld > 0 ? read(expected, dtype_code, row * expected_ld + col)
					: ((const double *)expected)[i];
	}
}

__device__ __forceinline__ bool is_nan(double value)
{
	return value != value;
}

__device__ __forceinline__ bool is_finite(double value)
{
	return fabs(value) < __longlong_as_double(0x7ff0000000000000ll);
}

// Returns whether an element of a type that has NaN still has the bits that tt_poison wrote.
__device__ __forceinline__ bool is_poison(const void *data, int dtype_code, i64 position, u32 poison)
{
	switch (dtype_code) {
	case fp16::code:
	case bf16::code:
		return ((const u16 *)data)[position] == (u16)poison;
	case fp8_e4m3::code:
	case code_fp8_e5m2:
		return ((const u8 *)data)[position] == (u8)poison;
	case code_fp64:
		return ((const u64 *)data)[position] == ((u64)poison << 32 | poison);
	case fp32::code:
	case tf32::code:
		return ((const u32 *)data)[position] == poison;
	default:
		return false;
	}
}

extern "C" __global__ void tt_compare(const void *out, int dtype_code, i64 row_length, i64 ld,
	const i64 *units, int unit_count, int unit_size, const void *expected, i64 expected_ld,
	double abs_tol, double rel_tol, u32 poison, tt_result *result)
{
	i64 count = (i64)unit_count * unit_size;
	u64 violations = 0, nans = 0, first = no_index;
	double max_error = 0.0;
	for (i64 i = (i64)thread_index(); i < count; i += (i64)thread_count()) {
		i64 linear = units[i / unit_size] * unit_size + i % unit_size;
		i64 row = linear / row_length, col = linear - row * row_length;
		double value = read(out, dtype_code, row * ld + col);
		double wanted = expected_ld > 0
					? read(expected, dtype_code, row * expected_ld + col)
					: ((const double *)expected)[i];
		if (expected_ld == 0 && (u64)__double_as_longlong(wanted) == anything)
			continue;
		bool is_unset = is_nan(value) && is_poison(out, dtype_code, row * ld + col, poison);
		bool same = value == wanted || (is_nan(value) && is_nan(wanted) && !is_unset);
		double error = same ? 0.0 : fabs(value - wanted);
		if (same && expected_ld > 0 &&
			differs_as_integer(
				out, row * ld + col, expected, row * expected_ld + col, dtype_code)) {
			same = false;
			error = 1.0;
		}
		double allowed = abs_tol + rel_tol * fabs(wanted);
		bool bad = !same && !(is_finite(wanted) && error <= allowed);
		if (!is_nan(error))
			max_error = fmax(max_error, error);
		violations += bad;
		nans += bad && is_nan(value);
		if (bad && (u64)linear < first)
			first = (u64)linear;
	}
	atomic_max(&result->max_abs_error, max_error);
	if (violations != 0) {
		atomicAdd(&result->violations, violations);
		atomicAdd(&result->nan_count, nans);
		atomicMin(&result->first_bad_linear_index, first);
	}
	__threadfence();
	__syncthreads();
	__shared__ bool is_last;
	if (threadIdx.x == 0)
		is_last = atomicAdd(&result->blocks_done, 1ull) == gridDim.x - 1;
	__syncthreads();
	if (!is_last)
		return;
	__threadfence();
	describe_first_bad(out, dtype_code, row_length, ld, units, count, unit_size, expected,
		expected_ld, result);
	if (threadIdx.x == 0)
		result->blocks_done = 0;
}

struct magnitude_group {
	u64 count, largest, smallest_inverted;
};

enum {
	magnitude_shift = 54 // of a double's bits: exponents in groups of 4
};

__device__ __forceinline__ void magnitude_add(
	magnitude_group *groups, int index, const magnitude_group &found)
{
	if (found.count == 0)
		return;
	atomicAdd(&groups[index].count, found.count);
	atomicMax(&groups[index].largest, found.largest);
	atomicMax(&groups[index].smallest_inverted, found.smallest_inverted);
}

extern "C" __global__ void tt_magnitudes(const void *values, int dtype_code, i64 row_length, i64 ld,
	const i64 *units, int unit_count, int unit_size, u32 poison, u64 *counts)
{
	i64 count = (i64)unit_count * unit_size;
	magnitude_group *groups = (magnitude_group *)(counts + 2);
	magnitude_group found = {}; // of the group of this thread's last value
	int last = 0;
	u64 unset = 0, nans = 0;
	for (i64 i = (i64)thread_index(); i < count; i += (i64)thread_count()) {
		i64 linear = units[i / unit_size] * unit_size + i % unit_size;
		i64 row = linear / row_length, col = linear - row * row_length;
		double value = fabs(ld > 0 ? read(values, dtype_code, row * ld + col)
					   : ((const double *)values)[i]);
		if (is_nan(value)) {
			u64 bits = ld > 0 ? 0 : ((const u64 *)values)[i];
			bool is_unset = ld > 0 ? is_poison(values, dtype_code, row * ld + col, poison)
					       : bits == ~0ull;
			unset += is_unset;
			nans += !is_unset && bits != anything;
			continue;
		}
		if (!is_finite(value) || value == 0.0)
			continue;
		u64 bits = (u64)__double_as_longlong(value);
		int group = (int)(bits >> magnitude_shift);
		if (group != last) {
			magnitude_add(groups, last, found);
			found = {};
			last = group;
		}
		found.count++;
		found.largest = bits > found.largest ? bits : found.largest;
		found.smallest_inverted = ~bits > found.smallest_inverted ? ~bits
									  : found.smallest_inverted;
	}
	magnitude_add(groups, last, found);
	if (unset != 0)
		atomicAdd(&counts[0], unset);
	if (nans != 0)
		atomicAdd(&counts[1], nans);
}

extern "C" __global__ void tt_checksum(
	const void *data, i64 rows, i64 row_bytes, i64 pitch_bytes, u64 *sum)
{
	i64 groups_per_row = ceil_div(row_bytes, (i64)8);
	bool aligned = (((u64)data | (u64)row_bytes | (u64)pitch_bytes) & 7) == 0;
	u64 total = 0;
	for (i64 i = (i64)thread_index(); i < rows * groups_per_row; i += (i64)thread_count()) {
		i64 row = i / groups_per_row;
		i64 offset = (i - row * groups_per_row) * 8;
		const u8 *from = (const u8 *)data + row * pitch_bytes + offset;
		u64 group = 0;
		if (aligned)
			group = *(const u64 *)from;
		else
			for (int b = 0; b < 8 && offset + b < row_bytes; b++)
				group |= (u64)from[b] << 8 * b;
		// The position enters too, so that exchanged values change the sum.
		total += mix(group + mix((u64)i));
	}
	total = block_reduce(total, [](u64 a, u64 b) { return a + b; });
	if (threadIdx.x == 0)
		atomicAdd(sum, total);
}

extern "C" __global__ void tt_cipher(u64 *data, u64 words, u64 key)
{
	for (u64 i = thread_index(); i < words; i += thread_count())
		data[i] ^= random_bits(key, mix(i + key));
}

// Eight independent chains per thread hide the latency of an FMA (4 cycles) with room to spare.
// x -> x*a + b with a < 1 tends to b / (1 - a): no overflow, no denormals, no data-dependent speed.
extern "C" __global__ void __launch_bounds__(512, 2) tt_anchor_1(float *out, int iterations)
{
	const float a = 0.999f, b = 0.001f;
	float chain[8];
	for (int c = 0; c < 8; c++)
		chain[c] = (float)(threadIdx.x + c) * 0x1p-10f;
	for (int i = 0; i < iterations; i++)
#pragma unroll
		for (int c = 0; c < 8; c++)
			chain[c] = fmaf(chain[c], a, b);
	float total = 0.0f;
	for (int c = 0; c < 8; c++)
		total += chain[c];
	out[(u64)blockIdx.x * blockDim.x + threadIdx.x] = total;
}
