/* SPDX-License-Identifier: MIT */
#include "report/ceiling.h"

#include <stdio.h>

#include "report/pair.h"
#include "spec/dtype.h"

static int dtype_of(const struct report_entry *entry)
{
	char name[32];
	struct pair pair;

	if (!pair_find(entry->problem, "dtype", &pair))
		return DTYPE_FP32;
	snprintf(name, sizeof(name), "%.*s", pair.value_length, pair.value);
	return dtype_find(name);
}

size_t ceilings_find(const struct report_entry *entry, struct ceiling ceilings[CEILINGS_MAX])
{
	static const struct {
		enum pipe pipe;
		const char *name, *brief;
	} pipes[CEILINGS_MAX] = {{PIPE_TENSOR_WGMMA, "tensor cores (wgmma)", "wgmma"},
		{PIPE_TENSOR_MMA, "tensor cores (mma.sync)", "mma.sync"},
		{PIPE_FP32, "CUDA cores, fp32", "CUDA cores"}};
	const struct device_spec *spec = entry->spec;
	const int dtype = dtype_of(entry);
	size_t count = 0;

	for (int i = 0; spec && i < CEILINGS_MAX; i++) {
		const bool tensor = pipes[i].pipe != PIPE_FP32;
		const int column = tensor ? dtype : DTYPE_FP32;
		const double rate = column < 0 ? 0 : spec->rate[pipes[i].pipe][column];
		const double tflop_per_clock = rate * (double)spec->sm_count * 1e-12;

		if (rate <= 0)
			continue;
		ceilings[count++] = (struct ceiling){.name = pipes[i].name,
			.brief = pipes[i].brief,
			.tflops = tflop_per_clock * spec->clock_hz,
			.sustained_tflops = tensor ? tflop_per_clock * spec->tensor_clock_hz : 0};
	}
	return count;
}
