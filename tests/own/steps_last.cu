// The last step has a source of its own: a second binary.
__global__ void halve(float *x, int n)
{
	const int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		x[i] /= 2;
}
