// Copies matrices whose row pitch TMA cannot take (not a multiple of 16 bytes), or whose rows do
// not begin with a cache line, into workspace with an aligned pitch, for the kernel in wgmma.cu.
// One launch serves A (REPACK_A) and B (REPACK_B). A warp moves PACK_UNROLL times 512 bytes of one
// row: aligned 16-byte loads, a shift by the row's misalignment in registers, aligned 16-byte
// stores. Behind a row's last element the workspace holds whatever followed it: TMA reads zeros
// there, because the tensor map ends with the row.
#include "gemm_types.cuh"

constexpr int pack_threads = 256;
constexpr int element_bytes = sizeof(input::memory);
constexpr int vector_elements = 16 / element_bytes;
constexpr int segment_vectors = 32 * PACK_UNROLL;

// The 16 bytes at `address` (a multiple of 16) of a buffer that ends at `end`; zeros from there on.
__device__ __forceinline__ vec16 load_inside(const u8 *buffer, i64 address, i64 end)
{
	if (address + 16 <= end)
		return *(const vec16 *)(buffer + address);
	vec16 value = {};
	for (int i = 0; i < 16; ++i)
		if (address + i < end)
			value.word[i / 4] |= (u32)buffer[address + i] << i % 4 * 8;
	return value;
}

// The 16 bytes that begin `shift` (0..15) bytes inside low:high.
__device__ __forceinline__ vec16 shift_bytes(const vec16 &low, const vec16 &high, u32 shift)
{
	u32 word[8] = {low.word[0], low.word[1], low.word[2], low.word[3], high.word[0],
		high.word[1], high.word[2], high.word[3]};
#pragma unroll
	for (int i = 0; i < 7; ++i)
		word[i] = shift & 4 ? word[i + 1] : word[i];
#pragma unroll
	for (int i = 0; i < 5; ++i)
		word[i] = shift & 8 ? word[i + 2] : word[i];
	vec16 result;
#pragma unroll
	for (int i = 0; i < 4; ++i)
		result.word[i] = __funnelshift_r(word[i], word[i + 1], shift % 4 * 8);
	return result;
}

__device__ __forceinline__ i64 segments_of(i32 rows, i32 columns)
{
	return (i64)rows * ceil_div(ceil_div(columns, vector_elements), segment_vectors);
}

// Copies segment number `segment` of a matrix with pitch `from_pitch` to one with `to_pitch`
// elements.
__device__ __forceinline__ void pack_segment(const u8 *from, u8 *to, i32 rows, i32 columns,
	i32 from_pitch, i32 to_pitch, i64 segment, u32 lane)
{
	i32 vectors = ceil_div(columns, vector_elements);
	i32 per_row = ceil_div(vectors, segment_vectors);
	i64 row = segment / per_row;
	i32 first = (i32)(segment - row * per_row) * segment_vectors + (i32)lane;
	i64 begin = row * from_pitch * element_bytes;
	i64 end = ((i64)(rows - 1) * from_pitch + columns) * element_bytes;
	u32 shift = (u32)begin % 16;
	vec16 *line = (vec16 *)(to + row * to_pitch * element_bytes);
	vec16 low[PACK_UNROLL], high[PACK_UNROLL];
	begin -= shift;
#pragma unroll
	for (int i = 0; i < PACK_UNROLL; ++i) {
		i32 vector = first + i * 32;
		if (vector < vectors) {
			low[i] = load_inside(from, begin + (i64)vector * 16, end);
			// Rows of even pitch need no shift.
			high[i] = shift ? load_inside(from, begin + (i64)vector * 16 + 16, end)
					: low[i];
		}
	}
#pragma unroll
	for (int i = 0; i < PACK_UNROLL; ++i) {
		i32 vector = first + i * 32;
		if (vector < vectors)
			line[vector] = shift_bytes(low[i], high[i], shift);
	}
}

// A is m x k; B is b_rows x b_columns as it lies in memory.
extern "C" __global__ void __launch_bounds__(pack_threads)
	gemm_repack(const u8 *a, u8 *a_packed, const u8 *b, u8 *b_packed, i32 m, i32 k, i32 lda,
		i32 a_pitch, i32 b_rows, i32 b_columns, i32 ldb, i32 b_pitch)
{
	i64 a_segments = REPACK_A ? segments_of(m, k) : 0;
	i64 all_segments = a_segments + (REPACK_B ? segments_of(b_rows, b_columns) : 0);
	i64 segment = (i64)blockIdx.x * (pack_threads / 32) + threadIdx.x / 32;
	if (segment >= all_segments)
		return;
	if (segment < a_segments)
		pack_segment(a, a_packed, m, k, lda, a_pitch, segment, threadIdx.x % 32);
	else
		pack_segment(b, b_packed, b_rows, b_columns, ldb, b_pitch, segment - a_segments,
			threadIdx.x % 32);
}
