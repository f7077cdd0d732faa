// What made inputs hold, on which kernels run for the digest of their bits: numbers whose sums lose
// bits that depend on the order in which they are made.
#pragma once

#include "common/types.cuh"

// What tt_fill is told.
enum {
	contents_uniform,
	contents_normal,
	contents_zero,
	contents_one,
	contents_iota,
	contents_permutation,
	contents_mixed = 64,
	contents_signs
};

// Sums of such numbers lose bits that depend on the order: one in 64 is `large`, and where these
// cancel, what is left has been rounded at their size; others are spread over eight octaves below
// `scale`.
__device__ __forceinline__ double mixed(u64 bits, double large, double scale)
{
	double fraction = (double)(u32)(bits >> 40) * 0x1p-24;
	double value = bits % 64 == 0 ? large : ldexp(fraction, -(int)(bits >> 6 & 7));
	return (bits >> 9 & 1 ? -value : value) * scale;
}

// One or two times the scale: twice as large in half the places, so that an odd number of large
// products cancels, too.
__device__ __forceinline__ double signs(u64 bits, double scale)
{
	return (bits >> 8 & 1 ? 2.0 : 1.0) * (bits >> 9 & 1 ? -scale : scale);
}

__device__ __forceinline__ double made(int contents, u64 bits, double large, double scale)
{
	return contents == contents_mixed ? mixed(bits, large, scale) : signs(bits, scale);
}
