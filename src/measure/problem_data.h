/* SPDX-License-Identifier: MIT
 *
 * A problem's tensors on the GPU and what the reference says of them.
 *
 * The tensors lie in several sets, more than twice the L2 together where memory and the largest
 * number of sets allow it, so that runs that take the sets in turn find nothing in the cache. All
 * sets are filled with different random numbers, and with draws of group sizes in turn; set 0 is
 * the one that is verified. Tensors that are overwritten in place hold the same in every set, and a
 * copy of that is kept.
 *
 * Behind them lie sets of made inputs, on which candidates run for the digest of their bits
 * (measure/verify.h). In each another input holds numbers of mixed size of which many cancel; those
 * before it hold one value, those behind it one of two, with any sign: so the large products, too,
 * cancel in many sums of any operation. Inputs whose contents or range
 * the operation decides are as in set 0. Elements follow from their place alone: problems that
 * differ in the number of rows have the first rows in common.
 */
#ifndef MEASURE_PROBLEM_DATA_H
#define MEASURE_PROBLEM_DATA_H

#include "measure/helper_kernels.h"

enum {
	PROBLEM_SETS_MAX = 256,
	SETS_IN_PLACE = 64, /* at least, of tensors that runs overwrite: they are copied back */
	SETS_MADE_MAX = 4,
	POINTS_FULL_MAX = 1 << 22, /* output elements that are compared in full */
	POINTS_PATCH = 16,
	POINTS_PER_PATCH = 4,
	NO_SET = -1,
	POINTS_LINES = 4, /* rows and columns compared in full: first, last, two at random */
};

/* The inputs for which values are expected. */
enum inputs {
	INPUTS_FIRST,
	INPUTS_SECOND,
	INPUTS_COUNT
};

struct problem_data {
	char key[HASH_SIZE];               /* of what it is made of */
	struct device_problem description; /* reference and its cubins */
	struct arena arena;                /* base 0: not on the GPU at present */
	size_t set_count;                  /* a power of two */
	size_t made_count;         /* sets of made inputs behind these; 0: they do not fit */
	bool is_warm;              /* the sets fit into twice the L2: runs find data in it */
	uint64_t *input_checksums; /* per tensor, over all sets */
	unsigned users;            /* kernels that are loaded for it */
	unsigned long request;     /* of the worker, that used it last */
	bool touched; /* something ran on it that was not checked, or wrote where it must not */
	/* What inputs hold at present: the first inputs, unless generation says others; but one set
	 * (NO_SET: none) may hold the second inputs, for which values are expected, too. */
	uint64_t generation;
	size_t second_set;
	double confirmed_us; /* of the fastest candidate that was timed on other inputs; 0: none */

	/* of tensors that are read and then written, or filled by the host: what they hold before
	 * a run, in every set; 0 for others */
	CUdeviceptr *originals;

	struct failure reference_failure; /* outcome not ok: there will be no expected values */
	/* Per output, on the first inputs and on the second ones; NULL: not there. */
	struct expected *expected[INPUTS_COUNT];
	bool has_no_second;               /* the second inputs' could not be computed */
	uint64_t cipher[INPUTS_COUNT][2]; /* keys of units and values (measure/expected.h) */
};

/* How many sets, of a GPU with so much memory: pure function. */
size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes);

/* Different draws of group sizes that the sets hold; 1: none, or groups of one size. */
size_t problem_data_draws(const struct problem_data *problem);

/* Allocates and fills the tensors, if that is not done yet. */
bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* Fills a set's inputs so that it holds the second inputs, whichever set it is. */
bool problem_data_fill_second(struct gpu_session *gpu, struct problem_data *problem, size_t set);
/* Fills all sets' inputs with numbers that they have not held before, but for the one that holds
 * the second inputs. */
bool problem_data_fill_fresh(struct gpu_session *gpu, struct problem_data *problem, size_t second);
/* Fills those sets with the first inputs again that hold others. */
bool problem_data_fill_first(struct gpu_session *gpu, struct problem_data *problem);
/* Poisons the outputs of `count` sets from `first` on; queued. Those that are overwritten in place
 * are problem_data_rewind()'s. */
bool problem_data_poison(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first, size_t count);
/* Copies back what tensors hold that runs overwrite; queued. */
bool problem_data_rewind(struct gpu_session *gpu, const struct problem_data *problem, size_t set);
/* Whether there are any. */
bool problem_data_rewinds(const struct problem_data *problem);
/* Fills inputs and guard zones of all sets again if something ran since that was not checked: no
 * candidate is blamed for what another wrote. */
bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem);
/* Adds the checksum of each input, over all sets, to scratch counter first_counter + its tensor. */
bool problem_data_checksum(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first_counter);
/* Frees device memory; the rest stays, so that it can be prepared again. */
void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem);
void problem_data_release(struct gpu_session *gpu, struct problem_data *problem);

/* The plan of a tensor that is written. */
const struct plan_buffer *problem_output(const struct problem_data *problem, size_t output);
CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor);

/* ---- which units of an output are compared with the reference: pure functions ---- */
/* All of a small output; of a large one several points of every patch, the edges, and full rows and
 * columns, so that a wrong tile, a wrong fragment of a tile and a wrong remainder are all hit.
 * Linear indices over rows x columns (without pitch); caller frees *units; duplicates occur.
 * Deterministic in seed. Returns their number: rows*columns if that is at most POINTS_FULL_MAX,
 * else at most 2*POINTS_FULL_MAX. rows, columns > 0. */
size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

/* For references whose unit is a row: row indices, as many as keep it at most POINTS_FULL_MAX
 * elements are compared (at least one row): all, or the first and last 16 and one of each stratum.
 */
size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

#endif
