/* SPDX-License-Identifier: MIT
 *
 * The helper kernels run unchanged (fake_helpers.cc). Their arguments reveal the purpose of each
 * piece of memory.
 */
#include <string.h>

#include "faults/standin.h"
#include "measure/helper_layout.h"

/* Returns an argument by its position (see the head of helpers.cu). */
#define PARAM(type, index) (*(const type *)launch->params[index])

static void mark_poison(const struct standin_launch *launch)
{
	const CUdeviceptr data = PARAM(CUdeviceptr, 0);
	const uint64_t bytes = PARAM(uint64_t, 1);
	const uint32_t pattern = PARAM(uint32_t, 2);
	const uint64_t stride = PARAM(uint64_t, 3), count = PARAM(uint64_t, 4);

	if (pattern == helper_workspace_poison)
		standin_mark(MARK_WORKSPACE, data, bytes, pattern);
	for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
		if (pattern == helper_output_poison[dtype] ||
			pattern == helper_trusted_poison((enum dtype)dtype))
			for (uint64_t i = 0; i < count; i++)
				standin_mark(
					MARK_OUTPUT, data + i * stride, bytes, (uint32_t)dtype);
}

enum {
	ROWS_BACK = 1 << 14
};

/* Marks memory that a kernel sums as rows with gaps: either the gaps between an output's rows, or
 * an output itself, which begins with its mark. A digest covers parts of the outputs. */
static void mark_pitch(const struct standin_launch *launch)
{
	const CUdeviceptr data = PARAM(CUdeviceptr, 0);
	const uint64_t bytes = PARAM(uint64_t, 2);
	const uint32_t pitch = (uint32_t)PARAM(uint64_t, 3);
	uint64_t whole;
	uint32_t dtype;

	if (pitch <= bytes || bytes == 0)
		return;
	for (uint64_t row = 0; row < ROWS_BACK; row++)
		if (standin_marked(data - row * pitch, MARK_OUTPUT, &whole, &dtype) &&
			row * pitch < whole)
			return;
	standin_mark(MARK_PITCH, data, bytes, pitch);
}

bool standin_helper(const struct standin_launch *launch, double *us)
{
	const char *name = launch->kernel->name;

	*us = 3;
	if (strcmp(name, "tt_anchor_1") == 0) {
		*us = 1000.0 * PARAM(int32_t, 1) / ANCHOR_ITERATIONS;
		return true;
	}
	if (strcmp(name, "tt_fill") == 0)
		standin_mark(MARK_FILLED, PARAM(CUdeviceptr, 0), 0, 0);
	else if (strcmp(name, "tt_poison") == 0)
		mark_poison(launch);
	else if (strcmp(name, "tt_checksum") == 0)
		mark_pitch(launch);
	return standin_run_helper(name, (void *const *)launch->params);
}
