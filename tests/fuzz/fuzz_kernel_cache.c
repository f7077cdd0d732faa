/* SPDX-License-Identifier: MIT
 *
 * Reads any bytes as a cache entry, and as its JSON behind a header with a valid checksum.
 * An accepted entry gives the same bytes when it is written, read and written again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/cache.h"
#include "compile/worker.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char key[HASH_SIZE] = "0123456789abcdef0123456789abcdef";

/* Returns false if the bytes are not a valid entry. */
static bool rewrite(const struct text *bytes, struct text *again)
{
	struct cache_entry entry;

	if (!cache_entry_unpack(bytes, key, &entry))
		return false;
	cache_entry_pack(key, &entry, again);
	cache_entry_release(&entry);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text body = {0}, sealed = {0}, first = {0}, second = {0};

	text_append_bytes(&body, data, size);
	rewrite(&body, &first);
	text_clear(&first);
	cache_entry_seal(key, &body, &sealed);
	if (rewrite(&sealed, &first) &&
		(!rewrite(&first, &second) ||
			strcmp(text_string(&first), text_string(&second)) != 0))
		abort();
	text_release(&body);
	text_release(&sealed);
	text_release(&first);
	text_release(&second);
	return 0;
}
