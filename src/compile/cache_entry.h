/* SPDX-License-Identifier: MIT
 *
 * One file of the cache of kernels: what its name is made of, and its bytes.
 */
#ifndef COMPILE_CACHE_ENTRY_H
#define COMPILE_CACHE_ENTRY_H

#include "compile/compiler.h"

/* The key of a unit for an architecture and a compiler's identity. toolkit: hash of the
 * toolkit whose headers the unit includes, or "". */
void cache_key(const struct build_unit *unit, const char *arch, const char *compiler,
	const char *toolkit, char key[HASH_SIZE]);

struct cache_entry {
	char *unit;     /* "gemm/mma.cu" */
	char *arch;     /* "sm_90a" */
	char *compiler; /* "NVRTC 13.0 (V13.0.88)" */
	struct compile_result result;
};
void cache_entry_pack(
	const char key[HASH_SIZE], const struct cache_entry *entry, struct text *bytes);
/* False, and the entry empty, unless the bytes are a whole entry of this key. */
bool cache_entry_unpack(
	const char *bytes, size_t size, const char key[HASH_SIZE], struct cache_entry *entry);
void cache_entry_release(struct cache_entry *entry);

#endif
