/* SPDX-License-Identifier: MIT
 *
 * Reads any bytes as a cubin: the reader never reads outside them, and finds every kernel that it
 * lists.
 */
#include <stdint.h>
#include <stdlib.h>

#include "compile/cubin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cubin cubin;
	struct cubin_kernel kernel;
	struct error err;
	const char *name;
	uint32_t counts[CUBIN_INSTRUCTIONS];

	if (cubin_open(&cubin, data, size, &err) != STATUS_OK)
		return -1;
	/* only a few, because damaged files with thousands of symbols take quadratic time */
	for (size_t i = 0; i < 4 && (name = cubin_kernel_name(&cubin, i)); i++)
		if (!cubin_kernel_find(&cubin, name, &kernel) || kernel.param_count < -1 ||
			kernel.param_count > CUBIN_PARAMS_MAX)
			abort();
	if ((name = cubin_kernel_name(&cubin, 0)))
		cubin_instructions(&cubin, name, counts);
	return 0;
}
