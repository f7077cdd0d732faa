/* SPDX-License-Identifier: MIT
 *
 * PTX instructions in C++, following the PTX ISA. kernels.py turns `asm("cp.async.ca.shared.global
 * ..." : outputs : inputs)` into ptx_cp_async_ca_shared_global(outputs, inputs).
 */
#ifndef HOST_PTX_H
#define HOST_PTX_H

#include "device.h"

namespace host
{

static inline void *shared_pointer(uint32_t address)
{
	return (void *)(uintptr_t)address;
}

/* Rounds away the lowest `drop` bits of the mantissa, to nearest even. */
static inline uint32_t round_bits(uint32_t bits, unsigned drop)
{
	return (bits + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) >> drop;
}

static inline uint16_t half_of(float value)
{
	const uint32_t bits = __float_as_uint(value), sign = bits >> 16 & 0x8000;
	const uint32_t magnitude = bits & 0x7fffffff;

	if (magnitude > 0x7f800000)
		return 0x7fff;
	if (magnitude >= 0x477ff000) /* 65520 and above */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) /* below 2^-14, in units of 2^-24 */
		return (uint16_t)(sign | (uint32_t)nearbyintf(fabsf(value) * 0x1p24f));
	return (uint16_t)(sign | (round_bits(magnitude, 13) - (112u << 10)));
}

static inline float of_half(uint16_t half)
{
	const uint32_t magnitude = half & 0x7fff;
	float value = magnitude < 0x400 ? (float)magnitude * 0x1p-24f
		      : magnitude >= 0x7c00
			      ? __uint_as_float(0x7f800000 | (magnitude & 0x3ff) << 13)
			      : __uint_as_float((magnitude << 13) + (112u << 23));

	return half & 0x8000 ? -value : value;
}

static inline uint16_t bfloat_of(float value)
{
	return value != value ? 0x7fff : (uint16_t)round_bits(__float_as_uint(value), 16);
}

static inline float of_bfloat(uint16_t bits)
{
	return __uint_as_float((uint32_t)bits << 16);
}

/* ---- mma: D += A B, 16 x 8, fragments as the ISA's tables have them ---- */
struct mma_lane {
	float *d[4];
	uint32_t a[4], b[2];
};

/* e4m3 has no infinities; 0x7f and 0xff are NaN */
static inline float of_fp8(uint8_t bits)
{
	const int exponent = bits >> 3 & 15, mantissa = bits & 7;
	const float value = (bits & 0x7f) == 0x7f ? NAN
			    : exponent            ? ldexpf((float)(8 + mantissa), exponent - 10)
						  : ldexpf((float)mantissa, -9);

	return bits & 0x80 ? -value : value;
}

static inline uint8_t fp8_of(float value) /* values up to 448, rounded to nearest */
{
	int nearest = 0;

	for (int bits = 1; bits < 0x7f; bits++)
		if (fabsf(of_fp8((uint8_t)bits) - fabsf(value)) <
			fabsf(of_fp8((uint8_t)nearest) - fabsf(value)))
			nearest = bits;
	return (uint8_t)(nearest | (value < 0 ? 0x80 : 0));
}

static inline float operand(uint32_t word, unsigned element, int kind)
{
	const uint16_t bits = (uint16_t)(word >> 16 * element % 32);

	if (kind == 32)
		return of_fp8((uint8_t)(word >> 8 * element));
	if (kind == 8) /* tf32: the bits of fp32 that the tensor core reads */
		return __uint_as_float(word & 0xffffe000u);
	return kind == 16 ? of_half(bits) : of_bfloat(bits);
}

/* KIND is 16 for fp16, 17 for bf16, 8 for tf32, 32 for fp8 */
template <int KIND> static void mma_whole(void **lanes, uint32_t living)
{
	constexpr int depth = KIND == 17 ? 16 : KIND, per_word = depth / 8;
	float a[16][depth], b[depth][8];

	if (living != 0xffffffffu)
		stop("mma without a whole warp");
	for (int lane = 0; lane < 32; lane++) {
		const mma_lane *from = (const mma_lane *)lanes[lane];
		const int g = lane / 4, t = lane % 4;

		for (int e = 0; e < per_word; e++) {
			for (int i = 0; i < 4; i++)
				a[g + i % 2 * 8][t * per_word + e + i / 2 * depth / 2] =
					operand(from->a[i], e, KIND);
			for (int i = 0; i < 2; i++)
				b[t * per_word + e + i * depth / 2][g] =
					operand(from->b[i], e, KIND);
		}
	}
	for (int lane = 0; lane < 32; lane++)
		for (int i = 0; i < 4; i++) {
			const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
			double sum = *((mma_lane *)lanes[lane])->d[i];

			for (int k = 0; k < depth; k++)
				sum += (double)a[row][k] * (double)b[k][column];
			*((mma_lane *)lanes[lane])->d[i] = (float)sum;
		}
}

template <int KIND>
static void mma(float &d0, float &d1, float &d2, float &d3, uint32_t a0, uint32_t a1, uint32_t a2,
	uint32_t a3, uint32_t b0, uint32_t b1)
{
	mma_lane mine = {{&d0, &d1, &d2, &d3}, {a0, a1, a2, a3}, {b0, b1}};

	warp_meet(&mine, mma_whole<KIND>);
}

/* ---- ldmatrix ---- */
struct ldmatrix_lane {
	uint32_t address;
	uint32_t *word[4];
};

template <int MATRICES, bool TRANSPOSED> static void ldmatrix_whole(void **lanes, uint32_t living)
{
	if (living != 0xffffffffu)
		stop("ldmatrix without a whole warp");
	for (int lane = 0; lane < 32; lane++)
		for (int m = 0; m < MATRICES; m++) {
			uint32_t word = 0;

			for (int e = 0; e < 2; e++) {
				const int row = TRANSPOSED ? lane % 4 * 2 + e : lane / 4;
				const int column = TRANSPOSED ? lane / 4 : lane % 4 * 2 + e;
				const uint32_t address =
					((ldmatrix_lane *)lanes[8 * m + row])->address;

				if (address % 16)
					stop("ldmatrix: a row that is not aligned to 16 bytes");
				word |= (uint32_t)((uint16_t *)shared_pointer(address))[column]
					<< 16 * e;
			}
			*((ldmatrix_lane *)lanes[lane])->word[m] = word;
		}
}

/* wmma leaves the layout of fragments undefined. Here element i of 256 is in lane i / 8. */
struct wmma_lane {
	float *d[8];
	uint32_t a[4], b[4];
};

template <class WORD> static void wmma_load(WORD *const *words, uint32_t address, int leading)
{
	const uint16_t *from = (const uint16_t *)shared_pointer(address);

	if (address % 32 || leading % 8)
		stop("wmma: a fragment that is not aligned");
	for (int e = 0; e < 8; e++) {
		const int at = (int)(current % 32) * 8 + e, major = at / 16, minor = at % 16;
		const uint32_t bits = from[major * leading + minor];

		*words[e / 2] = (e % 2 ? *words[e / 2] : 0) | bits << 16 * (e % 2);
	}
}

/* KIND as for mma; with COLUMNS the columns of B are contiguous */
template <int KIND, bool COLUMNS> static void wmma_whole(void **lanes, uint32_t living)
{
	float a[256], b[256];

	if (living != 0xffffffffu)
		stop("wmma without a whole warp");
	for (int i = 0; i < 256; i++) {
		const wmma_lane *from = (const wmma_lane *)lanes[i / 8];

		a[i] = operand(from->a[i % 8 / 2], i % 2, KIND);
		b[i] = operand(from->b[i % 8 / 2], i % 2, KIND);
	}
	for (int i = 0; i < 256; i++) {
		float *d = ((wmma_lane *)lanes[i / 8])->d[i % 8];
		double sum = *d;

		for (int k = 0; k < 16; k++)
			sum += (double)a[i / 16 * 16 + k] *
			       (double)b[COLUMNS ? i % 16 * 16 + k : k * 16 + i % 16];
		*d = (float)sum;
	}
}

static inline float *wmma_place(uint32_t address, int leading, int e)
{
	const int at = (int)(current % 32) * 8 + e;

	if (address % 32 || leading % 4)
		stop("wmma: a fragment that is not aligned");
	return (float *)shared_pointer(address) + at / 16 * leading + at % 16;
}

static inline void ex2(float &y, float x)
{
	y = exp2f(x);
	if (fabsf(y) < 0x1p-126f)
		y = 0;
}

/* ---- cp.async: nothing arrives before it is waited for ---- */
static void cp_async(uint32_t to, const void *from, int bytes, int valid)
{
	if (to % bytes || (valid && (uintptr_t)from % bytes) || valid < 0 || valid > bytes)
		stop("cp.async: an address that is not aligned, or too much");
	fibers[current].copies.push_back(
		{shared_pointer(to), from, bytes, valid, fibers[current].group});
}

static void cp_async_wait(unsigned open)
{
	fiber &f = fibers[current];
	size_t kept = 0;

	for (const copy &c : f.copies)
		if (c.group + open >= f.group) {
			f.copies[kept++] = c;
		} else {
			memcpy(c.to, c.from, (size_t)c.valid);
			memset((char *)c.to + c.valid, 0, (size_t)(c.bytes - c.valid));
		}
	f.copies.resize(kept);
}

} // namespace host

#define ptx_mma_sync_aligned_m16n8k16_row_col_f32_f16_f16_f32   host::mma<16>
#define ptx_mma_sync_aligned_m16n8k16_row_col_f32_bf16_bf16_f32 host::mma<17>
#define ptx_mma_sync_aligned_m16n8k8_row_col_f32_tf32_tf32_f32  host::mma<8>
#define ptx_mma_sync_aligned_m16n8k32_row_col_f32_e4m3_e4m3_f32 host::mma<32>

static inline void ptx_ldmatrix_sync_aligned_m8n8_x4_shared_b16(
	uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t address)
{
	host::ldmatrix_lane mine = {address, {&a, &b, &c, &d}};

	host::warp_meet(&mine, host::ldmatrix_whole<4, false>);
}

static inline void ptx_ldmatrix_sync_aligned_m8n8_x4_trans_shared_b16(
	uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t address)
{
	host::ldmatrix_lane mine = {address, {&a, &b, &c, &d}};

	host::warp_meet(&mine, host::ldmatrix_whole<4, true>);
}

static inline void ptx_ldmatrix_sync_aligned_m8n8_x2_shared_b16(
	uint32_t &a, uint32_t &b, uint32_t address)
{
	host::ldmatrix_lane mine = {address, {&a, &b}};

	host::warp_meet(&mine, host::ldmatrix_whole<2, false>);
}

static inline void ptx_ldmatrix_sync_aligned_m8n8_x2_trans_shared_b16(
	uint32_t &a, uint32_t &b, uint32_t address)
{
	host::ldmatrix_lane mine = {address, {&a, &b}};

	host::warp_meet(&mine, host::ldmatrix_whole<2, true>);
}

#define PTX_WMMA_LOAD(FORM)                                                                        \
	static inline void ptx_wmma_load_##FORM##_m16n16k16_shared_f16(uint32_t &a, uint32_t &b,   \
		uint32_t &c, uint32_t &d, uint32_t &, uint32_t &, uint32_t &, uint32_t &,          \
		uint32_t address, int leading)                                                     \
	{                                                                                          \
		uint32_t *const words[] = {&a, &b, &c, &d};                                        \
		host::wmma_load(words, address, leading);                                          \
	}                                                                                          \
	static inline void ptx_wmma_load_##FORM##_m16n16k16_shared_bf16(                           \
		uint32_t &a, uint32_t &b, uint32_t &c, uint32_t &d, uint32_t address, int leading) \
	{                                                                                          \
		uint32_t *const words[] = {&a, &b, &c, &d};                                        \
		host::wmma_load(words, address, leading);                                          \
	}
PTX_WMMA_LOAD(a_sync_aligned_row)
PTX_WMMA_LOAD(b_sync_aligned_row)
PTX_WMMA_LOAD(b_sync_aligned_col)

#define PTX_WMMA_SUMS                                                                              \
	float &d0, float &d1, float &d2, float &d3, float &d4, float &d5, float &d6, float &d7
#define PTX_WMMA_MMA(LAYOUTS, COLUMNS)                                                             \
	static inline void ptx_wmma_mma_sync_aligned_##LAYOUTS##_m16n16k16_f32_f32(PTX_WMMA_SUMS,  \
		uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t, uint32_t, uint32_t,  \
		uint32_t, uint32_t b0, uint32_t b1, uint32_t b2, uint32_t b3, uint32_t, uint32_t,  \
		uint32_t, uint32_t)                                                                \
	{                                                                                          \
		host::wmma_lane mine = {{&d0, &d1, &d2, &d3, &d4, &d5, &d6, &d7},                  \
			{a0, a1, a2, a3}, {b0, b1, b2, b3}};                                       \
		host::warp_meet(&mine, host::wmma_whole<16, COLUMNS>);                             \
	}                                                                                          \
	static inline void ptx_wmma_mma_sync_aligned_##LAYOUTS##_m16n16k16_f32_bf16_bf16_f32(      \
		PTX_WMMA_SUMS, uint32_t a0, uint32_t a1, uint32_t a2, uint32_t a3, uint32_t b0,    \
		uint32_t b1, uint32_t b2, uint32_t b3)                                             \
	{                                                                                          \
		host::wmma_lane mine = {{&d0, &d1, &d2, &d3, &d4, &d5, &d6, &d7},                  \
			{a0, a1, a2, a3}, {b0, b1, b2, b3}};                                       \
		host::warp_meet(&mine, host::wmma_whole<17, COLUMNS>);                             \
	}
PTX_WMMA_MMA(row_row, false)
PTX_WMMA_MMA(row_col, true)

static inline void ptx_wmma_load_c_sync_aligned_row_m16n16k16_shared_f32(
	PTX_WMMA_SUMS, uint32_t address, int leading)
{
	float *const sums[] = {&d0, &d1, &d2, &d3, &d4, &d5, &d6, &d7};

	for (int e = 0; e < 8; e++)
		*sums[e] = *host::wmma_place(address, leading, e);
}

static inline void ptx_wmma_store_d_sync_aligned_row_m16n16k16_shared_f32(float d0, float d1,
	float d2, float d3, float d4, float d5, float d6, float d7, uint32_t address, int leading)
{
	const float sums[] = {d0, d1, d2, d3, d4, d5, d6, d7};

	for (int e = 0; e < 8; e++)
		*host::wmma_place(address, leading, e) = sums[e];
}

static inline void ptx_cp_async_cg_shared_global(uint32_t to, const void *from, int valid = 16)
{
	host::cp_async(to, from, 16, valid);
}

static inline void ptx_cp_async_ca_shared_global(
	uint32_t to, const void *from, int bytes, int valid)
{
	host::cp_async(to, from, bytes, valid);
}

static inline void ptx_cp_async_ca_shared_global(uint32_t to, const void *from, int bytes)
{
	host::cp_async(to, from, bytes, bytes);
}

static inline void ptx_cp_async_commit_group()
{
	host::fibers[host::current].group++;
}

static inline void ptx_cp_async_wait_group(unsigned open)
{
	host::cp_async_wait(open);
}

static inline void ptx_bar_sync(unsigned id, unsigned count = 128)
{
	host::barrier_wait(id, count);
}

static inline void ptx_bar_arrive(unsigned id, unsigned count)
{
	host::barrier_arrive(id, count);
}

template <class T> static void ptx_ld_shared_b32(T &word, uint32_t address)
{
	memcpy(&word, host::shared_pointer(address), 4);
}

static inline void ptx_ld_shared_f32(float &value, uint32_t address)
{
	memcpy(&value, host::shared_pointer(address), 4);
}

static inline void ptx_ld_shared_u16(uint16_t &value, uint32_t address)
{
	memcpy(&value, host::shared_pointer(address), 2);
}

static inline void ptx_ld_shared_v4_f32(float &a, float &b, float &c, float &d, uint32_t address)
{
	const float *from = (const float *)host::shared_pointer(address);

	a = from[0], b = from[1], c = from[2], d = from[3];
}

template <class T> static void ptx_st_shared_b32(uint32_t address, T word)
{
	memcpy(host::shared_pointer(address), &word, 4);
}

static inline void ptx_st_shared_v4_b32(
	uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t words[4] = {a, b, c, d};

	if (address % 16)
		host::stop("st.shared.v4: an address that is not aligned");
	memcpy(host::shared_pointer(address), words, 16);
}

static inline void ptx_rcp_approx_ftz_f32(float &y, float x)
{
	y = 1.0f / x;
}

static inline void ptx_ex2_approx_ftz_f32(float &y, float x)
{
	host::ex2(y, x);
}

static inline void ptx_cvt_f32_f16(float &value, uint16_t bits)
{
	value = host::of_half(bits);
}

static inline void ptx_cvt_rn_f16_f32(uint16_t &bits, float value)
{
	bits = host::half_of(value);
}

static inline void ptx_cvt_rn_bf16_f32(uint16_t &bits, float value)
{
	bits = host::bfloat_of(value);
}

/* The first operand becomes the upper half of the register. */
static inline void ptx_cvt_rn_f16x2_f32(uint32_t &word, float high, float low)
{
	word = host::half_of(low) | (uint32_t)host::half_of(high) << 16;
}

static inline void ptx_cvt_rn_bf16x2_f32(uint32_t &word, float high, float low)
{
	word = host::bfloat_of(low) | (uint32_t)host::bfloat_of(high) << 16;
}

#endif
