/* SPDX-License-Identifier: MIT
 *
 * Reader of device sheets: any bytes give a sheet or an error.
 */
#include <stdint.h>
#include <stdlib.h>

#include "spec/sheet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct device_spec *spec;
	struct error err = {0};
	enum status status = device_spec_parse((const char *)data, size, "sheet.json", &spec, &err);

	if ((status == STATUS_OK) != (spec != NULL) || (status != STATUS_OK && !*err.message))
		abort();
	device_spec_free(spec);
	return status == STATUS_OK ? 0 : -1;
}
