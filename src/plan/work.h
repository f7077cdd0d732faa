/* SPDX-License-Identifier: MIT
 *
 * The work of a candidate: the evaluated `model` of its launches, which the score reads.
 */
#ifndef PLAN_WORK_H
#define PLAN_WORK_H

#include "plan/plan.h"
#include "spec/device_spec.h"

enum schedule {
	SCHEDULE_GRID,
	SCHEDULE_PERSISTENT, /* resident blocks process units in turn */
	SCHEDULE_STREAM_K,   /* units are split so that all blocks work equally long */
};

enum {
	WORK_LANES = 32
};

/* Names in family JSON, NULL-terminated. */
extern const char *const schedule_names[];

/* A warp's access to shared memory, to count bank conflicts. */
struct work_smem_access {
	const char *name; /* borrowed from the family's JSON */
	bool when;        /* false: the kernel does not make this access */
	bool is_write;
	uint32_t width_bytes;         /* per lane: 4, 8 or 16 */
	uint32_t address[WORK_LANES]; /* byte address of each lane */
	double bytes_per_step;        /* before bank conflicts */
};

/* A tile of a tensor in global memory, to count cache lines and sectors per row. */
struct work_tile {
	bool when;       /* false: the kernel does not use this tile */
	uint32_t tensor; /* index in the operation */
	uint32_t element_bytes;
	uint32_t rows, row_bytes;
	uint32_t row_offset_bytes; /* offset from the start of the tensor's row; 0 if not stated */
	uint64_t pitch_bytes;
	bool is_output;
};

struct launch_work {
	struct launch_shape shape;
	int32_t regs_estimate;
	bool has_model; /* if false, only the problem's work and the launch's arguments are known */
	double tensor_bytes; /* bytes of the tensor arguments, for a launch without a model */

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

/* Amounts are per unit of work (one tile of one block) and come from the `model` in the family's
 * JSON. */
struct work {
	double flop;
	double min_bytes; /* of the problem: each tensor read or written once */
	struct launch_work *launches;
	size_t launch_count;
};

/* Returns a copy that owns its lists. */
struct launch_work launch_work_copy(const struct launch_work *work);
void launch_work_release(struct launch_work *work);
void work_release(struct work *work);

#endif
