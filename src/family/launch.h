/* SPDX-License-Identifier: MIT
 *
 * A launch of a family: kernel, shape, arguments, and its `model`, which gives struct launch_work.
 */
#ifndef FAMILY_LAUNCH_H
#define FAMILY_LAUNCH_H

#include "family/buffer.h"
#include "family/compile_option.h"
#include "family/computed.h"
#include "plan/work.h"

enum {
	CLUSTER_BLOCKS_MAX = 16, /* more than 8 blocks require that the kernel opts in */
};

/* Largest grid along x, y and z. */
extern const uint32_t launch_grid_max[3];

struct launch {
	struct entry entry;
	const char *source_file; /* NULL selects the family's source */
	size_t source;           /* index of the family's source */
	struct expression *when; /* NULL if the kernel is always launched */
	/* `when` depends on run-time arguments (sizes, argument parameters), so the kernel is
	 * always compiled. */
	bool always_built;
	size_t grid_count, block_count, cluster_count; /* number of dimensions in JSON */
	struct argument_list arguments;
	/* Numbers from JSON. units and steps_max are NaN if the model does not state them. */
	struct launch_work work;
	/* number of leading items that belong to work.shape */
	struct computed_list computed;
	size_t shape_count;
};
RECORD_DECLARE(struct launch, launch_record);

/* Sets always_built by the family's parameters. */
struct family;
void launch_find_built(struct launch *launch, const struct family *family);
/* Returns the computed member of launch->work, or NULL if JSON states a number. */
struct computed *launch_computed(const struct launch *launch, const void *member);
/* Returns the expression or number of a member of launch->work; the caller frees it. */
char *launch_text(const struct launch *launch, const void *member);

#endif
