/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a cache entry, and, behind the checksum, any bytes as a packed result. What is
 * accepted must pack again into the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_wire.h"
#include "compile/cache.h"
#include "compile/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char key[HASH_SIZE] = "0123456789abcdef0123456789abcdef";
	struct cache_entry entry;
	struct compile_result result = {0};

	if (cache_entry_unpack((const char *)data, size, key, &entry))
		cache_entry_release(&entry);
	if (record_unpack(&compile_result_record, data, size, "fuzz", &result, NULL, NULL) ==
		STATUS_OK) {
		struct text again = {0};

		record_pack(&compile_result_record, &result, &again);
		if (again.length != size || memcmp(again.data, data, size) != 0)
			abort();
		text_release(&again);
		compile_result_release(&result);
	}
	return 0;
}
