/* SPDX-License-Identifier: MIT
 *
 * Compiled kernels on disk, found by a hash of all inputs of the compilation.
 * FOLDER/kernels/ab/KEY stores one compile_result; KEY begins with "ab". A file is either
 * complete or absent, because it is written under a temporary name and renamed. Several
 * processes may use one folder at once.
 *
 * The cache may be deleted at any time. An invalid entry is a miss and is removed, never an
 * error: another format, a wrong size or checksum, no code for its architecture, a file of
 * another user, or one that others may write to. The cache keeps itself below CACHE_BYTES_MAX:
 * once a day, and after much was written, the least recently used entries are removed, and so
 * are temporary files that killed processes left.
 *
 * Kernels are code, so only the user may access the folders. A second cache, the seed, may be
 * named; it is searched for what FOLDER lacks. It is only read, and only its owner may have
 * write permission.
 */
#ifndef COMPILE_CACHE_H
#define COMPILE_CACHE_H

#include "compile/cache_entry.h"

/* About a million kernels: a suite of 10,000 problems on one architecture. */
#define CACHE_BYTES_MAX ((uint64_t)24 << 30)

struct cache;

/* Creates the folder. If seed is NULL, $TILETUNE_CACHE_SEED names the seed, if it is set.
 * Returns STATUS_BAD_INPUT if the folder cannot be created or written to, or if the seed is not
 * a cache. */
enum status cache_open(
	const char *folder, const char *seed, struct cache **cache, struct error *err);
void cache_close(struct cache *cache); /* cache may be NULL */
/* Makes a cache in a temporary folder. cache_close() removes the folder. */
enum status cache_open_temporary(struct cache **cache, struct error *err);

/* Returns false if there is no valid entry. Does not set from_cache of the result. */
bool cache_get(struct cache *cache, const char key[HASH_SIZE], struct compile_result *result);

/* Stores an entry and sets *path, which the caller frees, to its file. Outcomes that may differ
 * next time (crash, timeout) must not be stored. Failing to write is not fatal: the caller may
 * report it once. */
enum status cache_put(struct cache *cache, const char key[HASH_SIZE],
	const struct cache_entry *entry, char **path, struct error *err);

/* Removes the least recently used entries until at most max_bytes are left, and old temporary
 * files. */
void cache_trim(struct cache *cache, uint64_t max_bytes);

struct cache_size {
	uint64_t kernels, bytes;
};
/* Measures the cache in a folder without opening it; all zero if there is none. */
struct cache_size cache_measure(const char *folder);

#endif
