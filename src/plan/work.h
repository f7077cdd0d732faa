/* SPDX-License-Identifier: MIT
 *
 * The evaluated `model` of a candidate's launches.
 */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "plan/plan.h"
#include "spec/device_spec.h"

enum schedule {
	SCHEDULE_GRID,
	SCHEDULE_PERSISTENT, /* resident blocks process several units in sequence */
	SCHEDULE_STREAM_K,   /* all blocks work equally long */
};

enum {
	WORK_LANES = 32
};

/* Names in family JSON, NULL-terminated. */
extern const char *const schedule_names[];

/* Access of a warp to shared memory, used to count bank conflicts. */
struct work_smem_access {
	const char *name; /* borrowed from the family's JSON */
	bool when;        /* if false, the access does not take place */
	bool is_write;
	uint32_t width_bytes;         /* bytes per lane: 4, 8 or 16 */
	uint32_t address[WORK_LANES]; /* byte address of each lane */
	double bytes_per_step;        /* without the cost of bank conflicts */
};

/* Tile in global memory, used to count cache lines and sectors per row. */
struct work_tile {
	bool when;       /* if false, the tile is not used */
	uint32_t tensor; /* index of the operation's tensor */
	uint32_t element_bytes;
	uint32_t rows, row_bytes;
	uint32_t row_offset_bytes; /* offset from the start of the tensor's row */
	uint64_t pitch_bytes;
	bool is_output;
};

struct launch_work {
	struct launch_shape shape;
	int32_t regs_estimate;
	bool has_model;      /* if false, only the problem's work is known */
	double tensor_bytes; /* bytes of tensor arguments, if there is no model */

	double units;
	double useful_ratio;
	double steps_mean, steps_max;
	double stages;
	enum schedule schedule;
	enum dtype dtype;
	double per_step[PIPE_COUNT];
	double prologue[PIPE_COUNT];
	double epilogue[PIPE_COUNT];
	double epilogue_overlap_ratio;
	double dram_read_bytes, dram_write_bytes;
	struct work_smem_access *smem_accesses;
	size_t smem_access_count;
	struct work_tile *tiles;
	size_t tile_count;
};

/* Work of a candidate. Amounts are per unit, which is one tile of a block. */
struct work {
	double flop;
	double min_bytes; /* bytes moved if each tensor is moved once */
	struct launch_work *launches;
	size_t launch_count;
};

struct launch_work launch_work_copy(const struct launch_work *work);
void launch_work_release(struct launch_work *work);
void work_release(struct work *work);

#endif
