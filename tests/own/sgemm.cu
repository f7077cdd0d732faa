// C = alpha*A*B + beta*C as a C++ template: C is read and written, and BM is also the name of a macro.
#include <cassert>

template <int BM, int BN, int BK, int TM>
__global__ void __launch_bounds__(BM *BN / TM) sgemm(
	int M, int N, int K, float alpha, const float *A, const float *B, float beta, float *C)
{
	__shared__ float As[BM][BK], Bs[BK][BN];
	const int column = threadIdx.x % BN, row = threadIdx.x / BN * TM;
	float sums[TM] = {};

	assert(blockDim.x == BM * BN / TM);
	A += blockIdx.y * BM * K;
	B += blockIdx.x * BN;
	C += blockIdx.y * BM * N + blockIdx.x * BN;
	for (int k = 0; k < K; k += BK) {
		for (int i = threadIdx.x; i < BM * BK; i += BM * BN / TM)
			As[i / BK][i % BK] = A[i / BK * K + k + i % BK];
		for (int i = threadIdx.x; i < BK * BN; i += BM * BN / TM)
			Bs[i / BN][i % BN] = B[(k + i / BN) * N + i % BN];
		__syncthreads();
		for (int i = 0; i < BK; i++)
			for (int t = 0; t < TM; t++)
				sums[t] += As[row + t][i] * Bs[i][column];
		__syncthreads();
	}
	for (int t = 0; t < TM; t++)
		C[(row + t) * N + column] = alpha * sums[t] + beta * C[(row + t) * N + column];
}

// another kernel whose constant has the name of a parameter that only the entry reads
template <int N> __global__ void halve(float *x)
{
	constexpr int BM = N / 2;

	x[threadIdx.x] *= BM > 4 ? 0.5f : 1;
}
template __global__ void halve<8>(float *);
