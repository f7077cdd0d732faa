/* SPDX-License-Identifier: MIT
 *
 * What a compiled kernel takes, per launch of a candidate.
 */
#ifndef CANDIDATE_RESOURCES_H
#define CANDIDATE_RESOURCES_H

#include <stdint.h>

#include "base/record.h"

/* Compiler remarks that matter; one row of flag.def each. Bits in `flags`. */
enum kernel_flag {
#define FLAG(id, name, summary) FLAG_BIT_##id,
#include "candidate/flag.def"
#undef FLAG
	FLAG_COUNT
};
#define FLAG_MASK(id) (1u << FLAG_BIT_##id)
extern const char *const kernel_flag_names[FLAG_COUNT + 1]; /* NULL-terminated */
const char *kernel_flag_name(enum kernel_flag flag);

struct kernel_resources {
	int32_t regs_per_thread;
	int32_t smem_static_bytes;
	int32_t spill_store_bytes, spill_load_bytes;
	int32_t stack_bytes;
	int32_t barriers;
	uint32_t flags;
	/* known once it was set beside a block size and dynamic shared memory; -1: not known */
	int32_t blocks_per_sm;
	int32_t max_clusters; /* from the driver; -1 without clusters or GPU */
};
RECORD_DECLARE(struct kernel_resources, kernel_resources_record);

#endif
