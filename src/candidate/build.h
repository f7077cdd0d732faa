/* SPDX-License-Identifier: MIT
 *
 * What the compiler needs of a candidate: expanded sources, options, entries. Several candidates
 * (problems, argument parameters) share one build; its hash says so.
 */
#ifndef CANDIDATE_BUILD_H
#define CANDIDATE_BUILD_H

#include <stddef.h>

#include "base/hash.h"

/* One translation unit. */
struct build_unit {
	char *name;     /* "gemm/mma.cu", for messages */
	char *source;   /* includes expanded */
	char **options; /* sorted -D list and fixed options; no architecture */
	size_t option_count;
	char **entries; /* kernels that are launched from it */
	size_t entry_count;
	char hash[HASH_SIZE]; /* of source, options, entries */
};

struct build {
	struct build_unit *units;
	size_t unit_count;
	char kernel_hash[HASH_SIZE]; /* of the units' hashes */
};

void build_unit_release(struct build_unit *unit);
void build_release(struct build *build);

#endif
