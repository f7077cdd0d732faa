// SPDX-License-Identifier: MIT
// Declarations only: the replay tests compile nothing, but a family names its source and entries.
extern "C" __global__ void tile_direct(
	const void *A, const void *B, void *C, int M, int N, int K)
{
}

extern "C" __global__ void tile_split(
	const void *A, const void *B, void *partial, int M, int N, int K)
{
}

extern "C" __global__ void tile_add(const void *partial, void *C, int M, int N, int SPLIT)
{
}

extern "C" __global__ void tile_reference(const void *A, const void *B, int K,
	const long long *units, int unit_count, double *expected)
{
}
