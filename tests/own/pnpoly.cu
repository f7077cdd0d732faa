// Which points are inside a polygon: pairs of numbers, a constant array of them, one-byte flags.
#define VERTICES 100

__constant__ float2 d_vertices[VERTICES];

__global__ void pnpoly(bool *inside, const float2 *points, unsigned int n)
{
#pragma unroll
	for (int t = 0; t < tile_size; t++) {
		const unsigned int i = (blockIdx.x * tile_size + t) * block_size_x + threadIdx.x;
		int crossings = 0;

		if (i >= n)
			return;
		for (int j = 0, k = VERTICES - 1; j < VERTICES; k = j++) {
			const float2 a = d_vertices[j], b = d_vertices[k], p = points[i];
#if method == 0
			if ((a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) / (b.y - a.y) * (p.y - a.y) + a.x)
				crossings = !crossings;
#elif method == 1
			crossings ^= (a.y > p.y) != (b.y > p.y) && p.x < (b.x - a.x) / (b.y - a.y) * (p.y - a.y) + a.x;
#endif
		}
		inside[i] = crossings;
	}
}
