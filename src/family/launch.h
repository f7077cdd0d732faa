/* SPDX-License-Identifier: MIT
 *
 * A launch of a family: which kernel, how many threads, with what; and its `model`: its work as
 * expressions, evaluated into struct launch_work (plan/work.h).
 */
#ifndef FAMILY_LAUNCH_H
#define FAMILY_LAUNCH_H

#include "family/buffer.h"
#include "family/compile_option.h"
#include "family/computed.h"
#include "plan/work.h"

enum {
	CLUSTER_BLOCKS_MAX = 16, /* 8 is portable, 16 on request */
	LAUNCH_REPEAT_MAX = 1 << 20,
	REGS_UNKNOWN = 32, /* so few that no kernel is pruned for its registers */
};

/* Blocks along x, y, z that a grid may have. */
extern const uint32_t launch_grid_max[3];

struct launch {
	struct entry entry;
	const char *source_file; /* NULL: the family's */
	size_t source;           /* of the family's sources */
	struct expression *when; /* NULL: always */
	/* `when` depends on run-time arguments (sizes, argument parameters): the kernel is always
	 * compiled in */
	bool always_built;
	size_t grid_count, block_count, cluster_count; /* dimensions that JSON states */
	struct argument_list arguments;
	/* What JSON states as numbers. Where the model says nothing of them, units and steps_max
	 * are NaN. */
	struct launch_work work;
	struct computed_list computed; /* members of work */
	size_t shape_count;            /* the first of them: those of work.shape */
};
RECORD_DECLARE(struct launch, launch_record);

/* How a member of launch->work is computed; NULL: JSON states its number. */
struct computed *launch_computed(const struct launch *launch, const void *member);
/* Expression of a member of launch->work, or its number; the caller frees it. */
char *launch_text(const struct launch *launch, const void *member);

#endif
