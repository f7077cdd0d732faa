/* SPDX-License-Identifier: MIT
 *
 * A candidate as numbers, nothing left to evaluate: the plan says how it is run (buffers, tensor
 * maps, launches), the work what it does, for the score. The measuring worker, the exporters, the
 * tuned file's kept kernels and the tests read the same plan.
 */
#ifndef FAMILY_PLAN_H
#define FAMILY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/record.h"
#include "expr/named_values.h"
#include "family/plan_argument.h"
#include "spec/device_spec.h"

enum {
	PLAN_NAME_SIZE = 48,
	PLAN_OUTPUTS_MAX = 16,
	TENSOR_MAP_RANK_MAX = 5
};

enum buffer_role {
	BUFFER_INPUT,
	BUFFER_OUTPUT,
	BUFFER_INOUT, /* an input that is overwritten with an output */
	BUFFER_WORKSPACE,
};

enum buffer_contents {
	CONTENTS_UNIFORM, /* between fill_low and fill_high */
	CONTENTS_NORMAL,  /* fill_low the mean, fill_high the standard deviation */
	CONTENTS_ZERO,
	CONTENTS_ONE,
	CONTENTS_IOTA,        /* 0, 1, 2, ... in the order of the elements */
	CONTENTS_PERMUTATION, /* integers: each of 0 .. elements - 1 once, at random places */
	CONTENTS_OFFSETS,     /* i32: where groups begin; the last is fill_low. The sizes follow
				 Zipf's law with the exponent fill_high, at random places */
	CONTENTS_COUNTS,      /* i32: their sizes instead */
	CONTENTS_EXPRESSION,  /* struct plan_contents */
	CONTENTS_FILE,
};
/* As JSON says them, NULL-terminated. */
extern const char *const buffer_contents_names[];

enum buffer_init {
	BUFFER_INIT_NONE,
	BUFFER_INIT_ONCE,  /* zeroed when loaded */
	BUFFER_INIT_EACH,  /* zeroed before every run, inside the timed region */
	BUFFER_INIT_GIVEN, /* a tensor: filled or poisoned by whoever runs it */
};

static inline bool contents_are_groups(enum buffer_contents contents)
{
	return contents == CONTENTS_OFFSETS || contents == CONTENTS_COUNTS;
}

static inline bool buffer_is_filled(enum buffer_role role)
{
	return role == BUFFER_INPUT || role == BUFFER_INOUT;
}

static inline bool buffer_is_output(enum buffer_role role)
{
	return role == BUFFER_OUTPUT || role == BUFFER_INOUT;
}

struct plan_buffer {
	char name[PLAN_NAME_SIZE];
	enum buffer_role role;
	enum buffer_init init;
	enum dtype dtype;       /* tensors */
	uint64_t rows, columns; /* tensors: all outer dimensions flattened, innermost dimension */
	uint64_t ld;            /* tensors: elements from row to row */
	uint64_t bytes;         /* 0: the kernel gets a null pointer */
	enum buffer_contents contents; /* inputs */
	double fill_low, fill_high;
};

struct plan_launch {
	uint32_t unit; /* index of the build unit (cubin) */
	char *entry;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes;
	uint32_t repeat; /* launched that many times in a row; 1 normally */
	struct plan_argument *arguments;
	size_t argument_count;
};

/* A map whose `when` is false is there with rank 0: the kernel gets 128 zero bytes and does not use
 * them. */
struct plan_tensor_map {
	char name[PLAN_NAME_SIZE];
	uint32_t buffer;
	enum dtype dtype;
	uint32_t rank;
	uint64_t dims[TENSOR_MAP_RANK_MAX];        /* elements, innermost first */
	uint64_t strides[TENSOR_MAP_RANK_MAX - 1]; /* bytes */
	uint32_t box[TENSOR_MAP_RANK_MAX];         /* elements */
	uint32_t swizzle_bytes;                    /* 0 32 64 128 */
	uint32_t l2_promotion_bytes;               /* 0 64 128 256 */
};

/* A variable of the kernels' module in __constant__ or __device__ memory that holds a tensor. */
struct plan_symbol {
	char *name;
	uint32_t unit, buffer;
};

struct plan {
	struct plan_buffer *buffers; /* tensors in the operation's order, then workspaces */
	size_t buffer_count;
	size_t tensor_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	struct plan_launch *launches;
	size_t launch_count;
	struct plan_symbol *symbols; /* of every unit; one that lacks a variable goes without it */
	size_t symbol_count;
	uint64_t workspace_bytes;
};

RECORD_DECLARE(struct plan, plan_record);

void plan_release(struct plan *plan);
/* The driver's rules for a tensor map (comment at cuTensorMapEncodeTiled in cuda.h), without the
 * address: STATUS_BAD_INPUT and the rule that is broken. Rank 0 is right. */
RECORD_DECLARE(struct plan_tensor_map, plan_tensor_map_record);
enum status plan_tensor_map_check(const struct plan_tensor_map *map, struct error *err);

/* What a tensor is filled with that is neither random nor simple; one of these is there. */
struct plan_contents {
	uint32_t tensor;
	char *expression; /* over `index` (linear, without pitch) and the keys */
	char *file;       /* path */
	char *sizes;      /* of offsets and counts (expr/sizes.h): a draw for each set in turn */
};

/* Beside what an output is compared, the best first. */
enum verified {
	VERIFIED_REFERENCE,     /* a kernel of the operation's */
	VERIFIED_FILE,          /* values in a file */
	VERIFIED_CONFIGURATION, /* a configuration that the author trusts */
	VERIFIED_SELF,          /* nobody said: the default configuration */
};
/* As JSON says them, and in words for people; NULL-terminated. */
extern const char *const verified_names[], *const verified_words[];

/* How the expected values of an output are known, and how near is near enough. */
struct reference_output {
	uint32_t tensor; /* its index */
	enum verified verified;
	/* Of a reference kernel, over any list of units of the output (elements or rows). grid[0]
	 * is set by the worker: ceil(count / units_per_block). NULL: not by a kernel. */
	struct plan_launch *launch;
	uint32_t units_per_block;
	bool unit_is_row;
	char *file; /* path; NULL: not from a file */
	double tolerance_abs, tolerance_rel;
	bool abs_scales;     /* tolerance_abs is times the largest expected value */
	double differ_ratio; /* of the points, that may be beyond the tolerance */
};

/* What a problem's outputs are compared with. */
struct reference_plan {
	bool may_vary;               /* two runs on the same inputs may differ in bits */
	struct plan_buffer *tensors; /* the operation's */
	size_t tensor_count;
	struct reference_output *outputs;
	size_t output_count;
	struct plan_contents *contents; /* of tensors with an expression or a file */
	size_t contents_count;
	struct named_values keys; /* of the problem, for expressions */
	struct plan *trusted; /* run once for the outputs that no kernel and no file serves; NULL */
};

RECORD_DECLARE(struct reference_plan, reference_plan_record);

void reference_plan_release(struct reference_plan *reference);
/* ---- work ---- */
enum schedule {
	SCHEDULE_GRID,       /* one block per unit */
	SCHEDULE_PERSISTENT, /* resident blocks take units in turn */
	SCHEDULE_STREAM_K,   /* units are cut so that all blocks work equally long */
};

enum {
	WORK_LANES = 32
};

/* As family JSON says them, NULL-terminated. */
extern const char *const schedule_names[];

/* A warp's access to shared memory, for bank conflicts. */
struct work_smem_access {
	enum pipe pipe;               /* PIPE_SMEM_READ or PIPE_SMEM_WRITE */
	uint32_t width_bytes;         /* per lane: 4, 8 or 16 */
	uint32_t address[WORK_LANES]; /* bytes */
	double bytes_per_step;        /* without conflicts */
};

/* A tile of a tensor in global memory, for lines and sectors per row. */
struct work_tile {
	uint32_t rows, row_bytes;  /* of the tile */
	uint32_t row_offset_bytes; /* of its rows in the tensor's; 0 if not said */
	uint64_t pitch_bytes;      /* of the tensor */
	bool is_output;
};

struct launch_work {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes;
	uint32_t repeat;
	int32_t regs_estimate;
	bool has_model; /* else nothing is known of the work but the problem's */

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

/* Amounts are per unit of work (one tile of one block), from the `model` of the family's JSON. */
struct work {
	double flop;      /* of the problem */
	double min_bytes; /* of the problem: every tensor once */
	uint64_t workspace_bytes;
	struct launch_work *launches;
	size_t launch_count;
};

void work_release(struct work *work);

#endif
