/* SPDX-License-Identifier: MIT
 *
 * How to run a candidate: buffers, tensor maps and launches as numbers.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/argument.h"
#include "record/record.h"

enum {
	PLAN_NAME_SIZE = 48,
	PLAN_OUTPUTS_MAX = 16,
	TENSOR_MAP_RANK_MAX = 5
};

enum buffer_role {
	BUFFER_INPUT,
	BUFFER_OUTPUT,
	BUFFER_INOUT,
	BUFFER_WORKSPACE,
};

enum buffer_contents {
	CONTENTS_UNIFORM, /* uniformly distributed between fill_low and fill_high */
	CONTENTS_NORMAL,  /* normally distributed: mean fill_low, standard deviation fill_high */
	CONTENTS_ZERO,
	CONTENTS_ONE,
	CONTENTS_IOTA,
	CONTENTS_PERMUTATION, /* a permutation of 0 to elements - 1 */
	CONTENTS_OFFSETS,     /* i32 offsets of groups up to fill_low, whose sizes follow Zipf's law
				 (exponent fill_high) in random order */
	CONTENTS_COUNTS,      /* i32 sizes of such groups */
	CONTENTS_EXPRESSION,  /* see struct plan_contents */
	CONTENTS_FILE,
};
/* NULL-terminated; BUFFER_INIT_GIVEN has no name. */
extern const char *const buffer_contents_names[], *const buffer_init_names[];

enum buffer_init {
	BUFFER_INIT_NONE,
	BUFFER_INIT_ONCE,  /* zeroed when the plan is loaded */
	BUFFER_INIT_EACH,  /* zeroed before each run, in the timed region */
	BUFFER_INIT_GIVEN, /* for tensors, which are filled or poisoned */
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
	enum dtype dtype;       /* only for tensors */
	uint64_t rows, columns; /* of tensors: product of outer dimensions, innermost dimension */
	uint64_t ld;            /* of tensors: pitch in elements */
	uint64_t bytes;         /* 0 for a buffer that is a null pointer */
	enum buffer_contents contents; /* initial contents of inputs */
	double fill_low, fill_high;
};

struct launch_shape {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t smem_dynamic_bytes;
	uint32_t repeat;  /* number of consecutive launches; normally 1 */
	bool cooperative; /* blocks may wait for each other */
};

static inline int64_t launch_shape_blocks(const struct launch_shape *shape)
{
	return (int64_t)((uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2]);
}

static inline int64_t launch_shape_threads(const struct launch_shape *shape)
{
	return (int64_t)((uint64_t)shape->block[0] * shape->block[1] * shape->block[2]);
}

struct plan_launch {
	uint32_t unit;
	char *entry;
	struct launch_shape shape;
	/* the compiler chooses the threads of a tile kernel, and block is 1 */
	bool is_tile;
	struct plan_argument *arguments;
	size_t argument_count;
};

/* A map with rank 0 is inactive and passed as 128 zero bytes. */
struct plan_tensor_map {
	char name[PLAN_NAME_SIZE];
	uint32_t buffer;
	/* whether the map is active; used only in a family */
	bool when;
	enum dtype dtype;
	size_t rank;
	uint64_t dims[TENSOR_MAP_RANK_MAX]; /* sizes in elements, innermost dimension first */
	size_t stride_count;                /* rank - 1; 0 if the rank is 0 */
	uint64_t strides[TENSOR_MAP_RANK_MAX - 1]; /* bytes */
	uint32_t box[TENSOR_MAP_RANK_MAX];         /* elements */
	uint32_t swizzle_bytes;                    /* 0 32 64 128 */
	uint32_t l2_promotion_bytes;               /* 0 64 128 256 */
};

/* Variable in __constant__ or __device__ memory that receives a tensor. */
struct plan_symbol {
	char *name;
	uint32_t unit, buffer;
};

struct plan {
	struct plan_buffer *buffers; /* tensors, then workspaces */
	size_t buffer_count;
	size_t tensor_count;
	struct plan_tensor_map *tensor_maps;
	size_t tensor_map_count;
	struct plan_launch *launches;
	size_t launch_count;
	struct plan_symbol *symbols; /* a unit that lacks the variable ignores the symbol */
	size_t symbol_count;
	uint64_t workspace_bytes;
};

RECORD_DECLARE(struct plan_buffer, plan_buffer_record);
RECORD_DECLARE(struct plan_launch, plan_launch_record);
RECORD_DECLARE(struct plan, plan_record);

void plan_release(struct plan *plan);
/* Checks the rules of cuTensorMapEncodeTiled() except those for the address. Rank 0 is valid. */
RECORD_DECLARE(struct plan_tensor_map, plan_tensor_map_record);
enum status plan_tensor_map_check(const struct plan_tensor_map *map, struct error *err);

#endif
