/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels on disk, found by a hash of all inputs of the compilation. FOLDER/kernels/ab/KEY
 * stores one compile_result; KEY begins with "ab". Several processes may use one folder.
 *
 * An invalid entry, or one of another user or that others may write to, is a miss and is removed.
 * Once a day, and after many writes, the least recently used entries above CACHE_BYTES_MAX and
 * temporary files of killed processes are removed.
 *
 * If FOLDER lacks an entry, a second cache, the seed, is read. Only its owner may have write
 * permission.
 */
#ifndef COMPILE_CACHE_H
#define COMPILE_CACHE_H

#include "compile/cache_entry.h"

/* About a million kernels: a suite of 10,000 problems on one architecture. */
#define CACHE_BYTES_MAX ((uint64_t)24 << 30)

struct cache;

/* Creates the folder. A NULL seed means $TILETUNE_CACHE_SEED. Returns STATUS_BAD_INPUT if the
 * folder cannot be written to, or if the seed is not a cache. */
enum status cache_open(
	const char *folder, const char *seed, struct cache **cache, struct error *err);
void cache_close(struct cache *cache); /* cache may be NULL */
/* Opens a cache in a new folder, which cache_close() removes. */
enum status cache_open_temporary(struct cache **cache, struct error *err);

/* Returns false if there is no valid entry. Does not set from_cache. */
bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result);

/* Sets *path, which the caller frees, to the entry's file. Outcomes that may differ next time
 * (crash, timeout) must not be stored. */
enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_entry *entry, char **path, struct error *err);

void cache_trim(struct cache *cache, uint64_t max_bytes);

struct cache_size {
	uint64_t kernels, bytes;
};
/* Returns zeros if the folder has no cache. */
struct cache_size cache_measure(const char *folder);

#endif
