/* SPDX-License-Identifier: MIT
 *
 * Names and contents of files in the cache of kernels.
 */
#ifndef COMPILE_CACHE_ENTRY_H
#define COMPILE_CACHE_ENTRY_H

#include "compile/compiler.h"

/* `compiler` is the compiler's identity, `toolkit` the hash of the headers that the unit includes,
 * or "". */
void cache_key(const struct build_unit *unit, const char *arch, const char *compiler,
	const char *toolkit, char key[HASH_SIZE]);

struct cache_entry {
	char *unit;
	char *arch;
	char *compiler;
	struct compile_result result;
};
void cache_entry_pack(
	const char key[HASH_SIZE], const struct cache_entry *entry, struct text *bytes);
/* Appends a header and the body, which is JSON. */
void cache_entry_seal(const char key[HASH_SIZE], const struct text *body, struct text *bytes);
bool cache_entry_begins(const struct text *bytes);
/* Returns false, with an empty entry, unless the bytes are a complete entry for this key. */
bool cache_entry_unpack(
	const struct text *bytes, const char key[HASH_SIZE], struct cache_entry *entry);
void cache_entry_release(struct cache_entry *entry);

#endif
