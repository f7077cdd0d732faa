/* SPDX-License-Identifier: MIT
 *
 * Suites are read or refused.
 */
#include <string.h>

#include "advise/suite.h"
#include "fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const none[] = {NULL};
	struct fuzz_file file;
	struct suite suite;
	struct error err = {0};

	fuzz_file_open(&file, data, size);
	if (suite_load(file.path, none, &suite, &err) == STATUS_OK) {
		if (!suite.operation || !suite.problems || !suite.problems[0])
			abort();
	} else if (!err.message[0]) {
		abort();
	}
	suite_release(&suite);
	fuzz_file_close(&file);
	return err.message[0] ? -1 : 0;
}
