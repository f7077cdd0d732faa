/* SPDX-License-Identifier: MIT
 *
 * A problem's tensors in device memory, in several sets, and the expected values of its outputs.
 * README.md describes the sets. Set 0 is for verification.
 */
#ifndef MEASURE_PROBLEM_DATA_H
#define MEASURE_PROBLEM_DATA_H

#include "base/random.h"
#include "measure/helper_kernels.h"

enum {
	PROBLEM_SETS_MAX = 256,
	SETS_IN_PLACE = 64, /* minimum for kernels that work in place, if memory allows it */
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
	char key[HASH_SIZE];
	struct device_problem description;
	const struct reference_plan *reference; /* points into the description */
	struct arena arena;                     /* base is 0 if nothing is on the GPU */
	size_t set_count;                       /* a power of two */
	size_t probe_count;                     /* sets of probe inputs; 0 if they do not fit */
	bool is_warm;                           /* runs find data in the L2 */
	uint64_t *input_checksums;              /* one for each tensor, over all sets */
	unsigned users;                         /* number of loaded candidates */
	unsigned long request;                  /* the last request that used the problem */
	bool touched; /* an unchecked kernel ran on the tensors, or one wrote out of bounds */
	/* At 0 the sets hold the first inputs, otherwise fresh inputs. Only second_set, if it is
	 * not NO_SET, holds the second inputs. */
	uint64_t generation;
	size_t second_set;
	double confirmed_us; /* time of the fastest retested candidate; 0 if there is none */

	/* Copies of tensors that kernels overwrite or the host computes; 0 for others. */
	CUdeviceptr *originals;

	/* If its outcome is not ok, there are no expected values. */
	struct failure reference_failure;
	/* One per output; NULL before the values are computed. */
	struct expected *expected[INPUTS_COUNT];
	bool has_no_second;               /* the reference failed on the second set of inputs */
	uint64_t cipher[INPUTS_COUNT][2]; /* keys of units and values */
	/* Kernels cannot know the seed of second and fresh inputs and second compared units, or the
	 * choice of sets. */
	uint64_t fresh_seed;
	struct random_state fresh;
};

size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes);

/* Returns the number of different group sizes in the sets; 1 if there are no groups or they are
 * fixed. */
size_t problem_data_group_size_variants(const struct problem_data *problem);

bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem);
bool problem_data_fill_second(struct gpu_session *gpu, struct problem_data *problem, size_t set);
/* Fills set `second` with the second inputs, and all other sets with fresh inputs. */
bool problem_data_fill_fresh(struct gpu_session *gpu, struct problem_data *problem, size_t second);
bool problem_data_fill_first(struct gpu_session *gpu, struct problem_data *problem);
/* Poisons the outputs of `count` sets, except those that kernels overwrite in place. */
bool problem_data_poison(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first, size_t count);
/* Restores tensors that kernels overwrite in place. */
bool problem_data_restore_inputs(
	struct gpu_session *gpu, const struct problem_data *problem, size_t set);
bool problem_data_restores_inputs(const struct problem_data *problem);
/* If the tensors are `touched`, fills them again, so that no candidate is blamed for what another
 * one wrote. */
bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem);
/* Adds an input's checksum over all sets to scratch counter first_counter + tensor. */
bool problem_data_checksum(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first_counter);
/* Frees the device memory until problem_data_prepare(). */
void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem);
void problem_data_release(struct gpu_session *gpu, struct problem_data *problem);

const struct plan_buffer *problem_output(const struct problem_data *problem, size_t output);
CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor);
CUdeviceptr problem_output_of(const struct problem_data *problem, size_t set, size_t output);

/* Chooses all elements of a small output; in a large output, points of every patch, the edges, and
 * full rows and columns. *units gets linear indices over rows x columns (without pitch), perhaps
 * with duplicates; the caller frees them. Returns their number, at most 2*POINTS_FULL_MAX. rows and
 * columns must be above 0. */
size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

/* Chooses row indices: all, or the first and last 16 and one of each stratum; at most
 * POINTS_FULL_MAX elements, unless one row has more. */
size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

#endif
