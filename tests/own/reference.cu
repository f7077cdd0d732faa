extern "C" __global__ void vector_add_reference(const float *a, const float *b, const long long *units, int unit_count, double *expected)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < unit_count)
		expected[i] = (double)a[units[i]] + b[units[i]];
}
