/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* header-only, without a shared library */
#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

#include "base/memory.h"

struct hash {
	XXH3_state_t state;
};

struct hash *hash_new(void)
{
	struct hash *hash = aligned_alloc(_Alignof(struct hash), sizeof(*hash));

	if (!hash)
		memory_exhausted(sizeof(*hash));
	XXH3_128bits_reset(&hash->state);
	return hash;
}

void hash_add(struct hash *hash, const void *data, size_t size)
{
	uint64_t length = size;

	XXH3_128bits_update(&hash->state, &length, sizeof(length));
	XXH3_128bits_update(&hash->state, data, size);
}

void hash_add_string(struct hash *hash, const char *string)
{
	hash_add(hash, string, strlen(string));
}

void hash_finish(struct hash *hash, char digits[HASH_SIZE])
{
	XXH128_hash_t value = XXH3_128bits_digest(&hash->state);

	snprintf(digits, HASH_SIZE, "%016llx%016llx", (unsigned long long)value.high64,
		(unsigned long long)value.low64);
	free(hash);
}

uint64_t hash_bytes(const void *data, size_t size, uint64_t seed)
{
	return XXH3_64bits_withSeed(data, size, seed);
}

uint64_t hash_xxh64(const void *data, size_t size)
{
	return XXH64(data, size, 0);
}

bool hash_set_add(struct hash_set *set, uint64_t hash)
{
	size_t place;

	hash += !hash;
	if (2 * set->count >= set->size) {
		const struct hash_set old = *set;

		*set = (struct hash_set){.size = 2 * old.size + 1023};
		set->items = memory_zeroed(set->size, sizeof(*set->items));
		for (size_t i = 0; i < old.size; i++)
			if (old.items[i])
				hash_set_add(set, old.items[i]);
		free(old.items);
	}
	for (place = hash % set->size; set->items[place]; place = (place + 1) % set->size)
		if (set->items[place] == hash)
			return false;
	set->items[place] = hash;
	set->count++;
	return true;
}

void hash_set_release(struct hash_set *set)
{
	free(set->items);
	*set = (struct hash_set){0};
}
