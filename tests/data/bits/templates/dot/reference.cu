extern "C" __global__ void standin_dot_reference(const float *A, const float *B, int N, int K,
	const long long *units, int unit_count, double *expected)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	double sum = 0.0;
	if (i >= unit_count)
		return;
	for (int k = 0; k < K; k++)
		sum += (double)A[units[i] / N * K + k] * B[(long long)k * N + units[i] % N];
	expected[i] = sum;
}
