/* SPDX-License-Identifier: MIT
 *
 * A launch of a family: which kernel, how many threads, with what; and its `model`: its work as
 * expressions, evaluated into struct launch_work (plan/work.h).
 */
#ifndef FAMILY_LAUNCH_H
#define FAMILY_LAUNCH_H

#include "family/buffer.h"
#include "family/compile_option.h"
#include "plan/work.h"

/* A warp's access to shared memory. */
struct model_access {
	const char *name;
	bool is_write;
	struct expression *width_bytes, *address, *bytes, *when; /* address reads `lane` */
};

/* A tile of a tensor in global memory. */
struct model_tile {
	uint32_t tensor; /* of the operation */
	bool is_output;
	struct expression *rows, *columns, *row_offset, *when; /* the last two may be NULL */
};

/* Amounts by pipe; NULL: none. */
struct model_amounts {
	struct expression *pipe[PIPE_COUNT];
};

/* Anything may be NULL: candidate/candidate_work.c says what is assumed then. */
struct model {
	struct expression *units, *useful_fraction, *steps_mean, *steps_max, *stages;
	struct expression *schedule; /* NULL: grid */
	struct expression *dtype;    /* NULL: fp32 */
	struct model_amounts per_step, prologue, epilogue;
	struct expression *epilogue_overlap, *dram_read_bytes, *dram_write_bytes;
	struct model_access *accesses;
	size_t access_count;
	struct model_tile *tiles;
	size_t tile_count;
};

struct launch {
	struct entry entry;
	const char *source_file; /* NULL: the family's */
	size_t source;           /* of the family's sources */
	struct expression *when; /* NULL: always */
	/* `when` depends on run-time arguments (sizes, argument parameters): the kernel is always
	 * compiled in */
	bool always_built;
	struct expression_list grid, block, cluster; /* cluster may be empty: 1 1 1 */
	struct expression *smem_bytes, *repeat;      /* NULL: 0, 1 */
	struct expression *regs_estimate;            /* NULL: nothing is known */
	struct argument_list arguments;
	bool has_model;
	struct model model;
};
RECORD_DECLARE(struct launch, launch_record);

void launch_release(struct launch *launch);

#endif
