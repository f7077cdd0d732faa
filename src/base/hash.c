/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header-only form needs no shared library. */
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
