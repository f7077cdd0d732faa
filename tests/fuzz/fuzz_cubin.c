/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a cubin: nothing outside them is read, and every kernel that is listed is found.
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
	/* a few: the time is quadratic in damaged files with thousands of symbols */
	for (size_t i = 0; i < 4 && (name = cubin_kernel_name(&cubin, i)); i++)
		if (!cubin_kernel_find(&cubin, name, &kernel) || kernel.param_count < -1 ||
			kernel.param_count > CUBIN_PARAMS_MAX)
			abort();
	if ((name = cubin_kernel_name(&cubin, 0)))
		cubin_instructions(&cubin, name, counts);
	return 0;
}
