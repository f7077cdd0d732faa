// x = a*x + b in place, for KTT's file.
extern "C" __global__ void scale(float *x, const float *b, float a, int n)
{
	for (int i = blockIdx.x * WORK_GROUP_SIZE_X * PER_THREAD + threadIdx.x, t = 0; t < PER_THREAD && i < n;
		i += WORK_GROUP_SIZE_X, t++)
		x[i] = a * x[i] + b[i];
}
