/* SPDX-License-Identifier: MIT
 *
 * Content hashes: XXH3 with 128 bits, as 32 hexadecimal digits. The length of each part is hashed,
 * so that ("ab","c") and ("a","bc") differ.
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HASH_SIZE = 33
};

struct hash;

struct hash *hash_new(void);
void hash_add(struct hash *hash, const void *data, size_t size);
void hash_add_string(struct hash *hash, const char *string);
void hash_finish(struct hash *hash, char digits[HASH_SIZE]); /* frees hash */
uint64_t hash_bytes(const void *data, size_t size, uint64_t seed);
/* XXH64 with seed 0, the hash of bundle files. */
uint64_t hash_xxh64(const void *data, size_t size);

#endif
