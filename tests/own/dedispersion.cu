// Dedispersion: 8-bit samples, a header next to the source, a macro with the name of a device constant.
#include "dedispersion.h"

#ifndef blocks_per_sm
#define blocks_per_sm 0
#endif

extern "C" __global__ void
#if blocks_per_sm > 0
__launch_bounds__(block_size_x *block_size_y, blocks_per_sm)
#endif
dedispersion(const unsigned char *input, float *output, const float *shifts)
{
	const int sample = blockIdx.x * block_size_x + threadIdx.x;

	for (int t = 0; t < tile_size_y; t++) {
		const int dm = (blockIdx.y * tile_size_y + t) * block_size_y + threadIdx.y;
		float sum = 0;

		if (sample >= nr_samples || dm >= nr_dms)
			continue;
		for (int channel = 0; channel < nr_channels; channel++)
			sum += input[channel * nr_samples_per_channel + sample +
				     (unsigned int)(dm * shifts[channel])];
		output[dm * nr_samples + sample] = sum;
	}
}
