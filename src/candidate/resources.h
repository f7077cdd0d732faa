/* SPDX-License-Identifier: MIT
 *
 * Resources of the compiled kernel of each launch of a candidate.
 */
#ifndef CANDIDATE_RESOURCES_H
#define CANDIDATE_RESOURCES_H

#include <stdint.h>

#include "plan/plan.h"
#include "record/record.h"

/* Important remarks about a kernel. Each is the number of a bit in `flags`. */
enum kernel_flag {
	FLAG_BIT_SPILLS,
	FLAG_BIT_WGMMA_SERIALIZED,   /* ptxas serialised wgmma (C7510, C7511, C7515) */
	FLAG_BIT_SETMAXNREG_IGNORED, /* ptxas ignored setmaxnreg (C7508) */
	FLAG_BIT_THROTTLED,          /* the clock was throttled while samples were taken */
	FLAG_BIT_WARM_L2,            /* inputs were in the L2 cache */
	FLAG_COUNT
};
#define FLAG_MASK(id) (1u << FLAG_BIT_##id)
extern const char *const kernel_flag_names[FLAG_COUNT + 1]; /* NULL-terminated */

struct kernel_resources {
	int32_t regs_per_thread;
	int32_t smem_static_bytes;
	int32_t spill_store_bytes, spill_load_bytes;
	int32_t stack_bytes;
	int32_t barriers;
	int32_t threads_per_block; /* chosen by the compiler for a tile kernel; 0 if the launch sets
				      it */
	uint32_t flags;
	/* Computed for the block size and dynamic shared memory of the launch; -1 if unknown. */
	int32_t blocks_per_sm;
	int32_t max_clusters; /* reported by the driver; -1 without clusters or GPU */
};
RECORD_DECLARE(struct kernel_resources, kernel_resources_record);

/* Returns the number of threads of a block that the compiler or else the launch sets. */
int launch_threads(const struct launch_shape *shape, const struct kernel_resources *resources);

#endif
