/* SPDX-License-Identifier: MIT
 *
 * Inside of the cache: the bytes of an entry, and reading one file. For cache.c, cache_care.c and
 * their tests.
 */
#ifndef COMPILE_CACHE_ENTRY_H
#define COMPILE_CACHE_ENTRY_H

#include "compile/cache.h"

/* Between an entry's name and the random end of the temporary file that becomes it. */
#define CACHE_TEMPORARY ".new-"

enum cache_found {
	CACHE_GOOD,
	CACHE_ABSENT,
	CACHE_DAMAGED,
};

char *cache_entry_path(const struct cache *cache, const char key[HASH_SIZE]); /* caller frees */
void cache_entry_pack(const char key[HASH_SIZE], const struct cache_label *label,
	const struct compile_result *result, struct text *bytes);
/* False, and label and result empty, unless the bytes are a whole entry of this key. */
bool cache_entry_unpack(const char *bytes, size_t size, const char key[HASH_SIZE],
	struct cache_label *label, struct compile_result *result);
/* use: note that it was used. Label and result are filled only for CACHE_GOOD. */
enum cache_found cache_entry_read(const char *path, bool use, const char key[HASH_SIZE],
	struct cache_label *label, struct compile_result *result);
void cache_label_release(struct cache_label *label);

#endif
