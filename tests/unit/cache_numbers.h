/* SPDX-License-Identifier: MIT
 *
 * Entries of a kernel cache by number.
 */
#ifndef UNIT_CACHE_NUMBERS_H
#define UNIT_CACHE_NUMBERS_H

#include "compile/cache.h"

static inline void key_of(int number, char key[HASH_SIZE])
{
	struct hash *hash = hash_new();

	hash_add(hash, &number, sizeof(number));
	hash_finish(hash, key);
}

static inline bool has(struct cache *cache, int number)
{
	struct compile_result result;
	char key[HASH_SIZE];

	key_of(number, key);
	if (!cache_get(cache, key, &result))
		return false;
	compile_result_release(&result);
	return true;
}

#endif
