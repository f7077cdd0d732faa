// The last step has a source of its own, a second binary, and there the name of another step's template.
// It adds the same whatever PER_THREAD is: configurations must agree.
template <int PER_THREAD> __global__ void add(float *x, int n)
{
	const int i = blockIdx.x * THREADS + threadIdx.x;

	if (i < n)
		x[i] += 1;
}
