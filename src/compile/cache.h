/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels on disk, found by what they were made of. FOLDER/kernels/ab/KEY holds one
 * compile_result, KEY beginning with "ab"; a file is complete or not there (temporary file,
 * rename), and several processes may use one folder at once.
 *
 * The cache may always be deleted. What is wrong with an entry (other format, wrong size or
 * checksum, no code for the architecture that it names, another's file, one that others can write
 * to) makes it a miss and removes it; it is never an error. It keeps itself below CACHE_BYTES_MAX:
 * once a day, and while much is written, the longest unused entries go, and temporary files that a
 * killed process left.
 *
 * Kernels are code, so folders are the user's alone. Another cache, the seed, may be named where
 * what is not in FOLDER is looked for; it is only read, and only its owner may write to it.
 */
#ifndef COMPILE_CACHE_H
#define COMPILE_CACHE_H

#include "compile/cache_entry.h"

/* About a million kernels: a suite of 10,000 problems on one architecture. */
#define CACHE_BYTES_MAX ((uint64_t)24 << 30)

struct cache;

/* Makes the folder. seed: NULL: $TILETUNE_CACHE_SEED, or none. STATUS_BAD_INPUT if the folder
 * cannot be made or written to, or a seed is none. */
enum status cache_open(
	const char *folder, const char *seed, struct cache **cache, struct error *err);
void cache_close(struct cache *cache); /* NULL is fine */

/* False: not there. Ticket and from_cache of the result are not set. */
bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result);

/* An outcome that is not the same each time (crash, timeout) must not be put. Not being able to
 * write is no reason to stop: the caller may say it once. */
enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_entry *entry, struct error *err);

/* Removes the longest unused entries until at most max_bytes are left, and old temporary files. */
void cache_trim(struct cache *cache, uint64_t max_bytes);

struct cache_size {
	uint64_t kernels, bytes;
};
/* Of FOLDER, without opening it; zeros where there is none. */
struct cache_size cache_measure(const char *folder);

#endif
