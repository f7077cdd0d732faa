/* layer: compile */
/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a cache entry, and, behind the checksum, any bytes as a packed result. What is
 * accepted must pack again into the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/cache_entry.h"
#include "compile/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char key[HASH_SIZE] = "0123456789abcdef0123456789abcdef";
	struct cache_label label;
	struct compile_result result;

	if (cache_entry_unpack((const char *)data, size, key, &label, &result)) {
		cache_label_release(&label);
		compile_result_release(&result);
	}
	if (compile_result_unpack((const char *)data, size, &result)) {
		struct text again = {0};

		compile_result_pack(&result, &again);
		if (again.length != size || memcmp(again.data, data, size) != 0)
			abort();
		text_release(&again);
		compile_result_release(&result);
	}
	return 0;
}
