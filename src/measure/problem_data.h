/* SPDX-License-Identifier: MIT
 *
 * A problem's tensors in device memory, and the expected values of its outputs.
 *
 * Runs use sets of the tensors in turn, which together have twice the size of the L2 cache if
 * memory allows it. Sets have different random numbers and group sizes. Set 0 is for verification.
 * Copies of tensors that kernels overwrite in place restore them.
 *
 * Sets of probe inputs for output digests follow. In each, another input has elements of mixed
 * magnitude; inputs before it have a single value, and inputs behind it two values with random
 * signs, so that many sums of large products cancel. Inputs whose contents or range the operation
 * defines are those of set 0. Elements depend only on their position: problems with other numbers
 * of rows have the same first rows.
 */
#ifndef MEASURE_PROBLEM_DATA_H
#define MEASURE_PROBLEM_DATA_H

#include "base/random.h"
#include "measure/helper_kernels.h"

enum {
	PROBLEM_SETS_MAX = 256,
	SETS_IN_PLACE = 64, /* minimum for runs in place, if memory allows it */
	PROBE_SETS_MAX = 4,
	POINTS_FULL_MAX = 1 << 22, /* larger outputs are compared in part */
	POINTS_PATCH = 16,
	POINTS_PER_PATCH = 4,
	NO_SET = -1,
	POINTS_LINES = 4, /* rows and columns: first, last, two at random */
};

enum inputs {
	INPUTS_FIRST,
	INPUTS_SECOND,
	INPUTS_COUNT
};

struct problem_data {
	char key[HASH_SIZE];                    /* hash of the description */
	struct device_problem description;      /* reference and its cubins */
	const struct reference_plan *reference; /* of the description */
	struct arena arena;                     /* base 0: not on the GPU */
	size_t set_count;                       /* a power of two */
	size_t probe_count;                     /* sets of probe inputs; 0 if they do not fit */
	bool is_warm;                           /* runs find data in the L2 */
	uint64_t *input_checksums;              /* per tensor, over all sets */
	unsigned users;                         /* loaded candidates */
	unsigned long request;                  /* the last one that used the problem */
	bool touched; /* a kernel may have written to inputs or guard zones */
	/* 0: the first inputs, else fresh ones. second_set holds the second inputs (NO_SET: none
	 * does). */
	uint64_t generation;
	size_t second_set;
	double confirmed_us; /* of the fastest retested candidate; 0: none */

	/* Per tensor, the contents before a run if kernels overwrite it or the host computes it;
	 * else 0. */
	CUdeviceptr *originals;

	/* Not ok: there are no expected values. */
	struct failure reference_failure;
	/* Per output. NULL before they are computed. */
	struct expected *expected[INPUTS_COUNT];
	bool has_no_second;               /* the reference failed on them */
	uint64_t cipher[INPUTS_COUNT][2]; /* keys of units and values */
	/* Unknown to kernels: the seed of second and fresh inputs and second compared units; the
	 * choice of sets. */
	uint64_t fresh_seed;
	struct random_state fresh;
};

/* Pure function. */
size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes);

/* Number of different group sizes over the sets; 1 without groups or if their sizes are fixed. */
size_t problem_data_group_size_variants(const struct problem_data *problem);

/* Unless the tensors are on the GPU. */
bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* Fills a set with the second inputs. */
bool problem_data_fill_second(struct gpu_session *gpu, struct problem_data *problem, size_t set);
/* Fills `second` with the second inputs, and all other sets with new ones. */
bool problem_data_fill_fresh(struct gpu_session *gpu, struct problem_data *problem, size_t second);
/* Fills the sets with the first inputs again. */
bool problem_data_fill_first(struct gpu_session *gpu, struct problem_data *problem);
/* Poisons outputs of `count` sets, except those overwritten in place. */
bool problem_data_poison(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first, size_t count);
/* Restores tensors that runs overwrite in place. */
bool problem_data_restore_inputs(
	struct gpu_session *gpu, const struct problem_data *problem, size_t set);
bool problem_data_restores_inputs(const struct problem_data *problem);
/* Fills inputs and guard zones again if the problem is `touched`, so that no candidate is blamed
 * for another one. */
bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem);
/* Adds an input's checksum over all sets to scratch counter first_counter + tensor. */
bool problem_data_checksum(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first_counter);
/* Until problem_data_prepare(). */
void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem);
void problem_data_release(struct gpu_session *gpu, struct problem_data *problem);

/* The output's tensor. */
const struct plan_buffer *problem_output(const struct problem_data *problem, size_t output);
CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor);

/* selection of compared output units: pure functions */
/* All elements of a small output. Of a large one, points of every patch, the edges, and full rows
 * and columns, so that a wrong tile, fragment or remainder contains some. Linear indices over rows
 * x columns (without pitch), perhaps with duplicates, which the caller frees. Returns their number,
 * at most 2*POINTS_FULL_MAX. rows and columns must be above 0. */
size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

/* Row indices: all, or the first and last 16 and one of each stratum. They have at most
 * POINTS_FULL_MAX elements, unless one row has more. */
size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

#endif
