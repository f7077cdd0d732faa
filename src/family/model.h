/* SPDX-License-Identifier: MIT
 *
 * The `model` of a launch: its work as expressions, evaluated into struct launch_work.
 */
#ifndef FAMILY_MODEL_H
#define FAMILY_MODEL_H

#include "family/tensor.h"
#include "family/plan.h"

struct model_access {
	const char *name;
	enum pipe pipe;
	struct expression *width_bytes, *address, *bytes, *when; /* address reads `lane` */
};

struct model_tile {
	uint32_t tensor; /* of the operation */
	bool is_output;
	struct expression *rows, *columns, *row_offset, *when; /* the last two may be NULL */
};

/* Amounts by pipe; NULL: none. */
struct model_amounts {
	struct expression *pipe[PIPE_COUNT];
};

/* Anything may be NULL but units; see family/plan.h for what is assumed then. */
struct model {
	struct expression *units, *useful_fraction, *steps_mean, *steps_max, *stages;
	struct expression *schedule_text; /* NULL: schedule */
	enum schedule schedule;
	struct expression *dtype_text; /* NULL: dtype */
	enum dtype dtype;
	struct model_amounts per_step, prologue, epilogue;
	struct expression *epilogue_overlap, *dram_read_bytes, *dram_write_bytes;
	struct model_access *accesses;
	size_t access_count;
	struct model_tile *tiles;
	size_t tile_count;
};

struct family;

/* at: the member "model" of a launch. */
enum status model_read(const struct json_at *at, const struct family *family, struct model *model,
	struct error *err);
void model_release(struct model *model);

#endif
