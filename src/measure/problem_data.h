/* SPDX-License-Identifier: MIT
 *
 * A problem's tensors in device memory, and the values that its outputs should have.
 *
 * There are several sets of the tensors. Together they are at least twice as large as the L2 cache,
 * if memory and the maximum number of sets allow it. Runs use the sets in turn, so that they find
 * no data in the cache. Each set is filled with different random numbers and another draw of group
 * sizes. Set 0 is used for verification. Kernels may overwrite some tensors in place; a copy
 * of their contents is stored, so that they can be restored.
 *
 * Sets of probe inputs follow. Candidates run on them for the digest of their results
 * (measure/verify.h). In each of these sets a different input has elements of mixed magnitude. The
 * inputs before it have a single value, and the inputs behind it two values with random signs. In
 * any operation many sums of large products therefore cancel. Inputs whose contents or range the
 * operation defines are the same as in set 0. Elements depend only on their position, so that
 * problems with different numbers of rows have the same first rows.
 */
#ifndef MEASURE_PROBLEM_DATA_H
#define MEASURE_PROBLEM_DATA_H

#include "base/random.h"
#include "measure/helper_kernels.h"

enum {
	PROBLEM_SETS_MAX = 256,
	SETS_IN_PLACE = 64, /* minimum, if memory allows it, when runs overwrite their inputs */
	PROBE_SETS_MAX = 4,
	POINTS_FULL_MAX = 1 << 22, /* outputs of up to this many elements are compared in full */
	POINTS_PATCH = 16,
	POINTS_PER_PATCH = 4,
	NO_SET = -1,
	POINTS_LINES = 4, /* rows and columns compared in full: first, last, two at random */
};

/* The inputs for which there are expected values. */
enum inputs {
	INPUTS_FIRST,
	INPUTS_SECOND,
	INPUTS_COUNT
};

struct problem_data {
	char key[HASH_SIZE];                    /* hash of the description */
	struct device_problem description;      /* reference and its cubins */
	const struct reference_plan *reference; /* of the description */
	struct arena arena;                     /* base is 0 while the tensors are not on the GPU */
	size_t set_count;                       /* a power of two */
	size_t probe_count; /* sets of probe inputs behind these; 0 if they do not fit */
	bool is_warm;       /* the sets are smaller than twice the L2: runs find data in it */
	uint64_t *input_checksums; /* per tensor, over all sets */
	unsigned users;            /* number of loaded candidates of this problem */
	unsigned long request;     /* the worker's last request that used the problem */
	bool touched; /* an unchecked kernel ran on the tensors, or a kernel wrote out of bounds */
	/* The present inputs: the first inputs if generation is 0, else fresh ones. One set may
	 * hold the second inputs instead; second_set is NO_SET if none does. */
	uint64_t generation;
	size_t second_set;
	double confirmed_us; /* time of the fastest candidate that passed the retest; 0: none yet */

	/* Per tensor, the contents before a run, if kernels overwrite the tensor in place or the
	 * host computes it; 0 for other tensors. */
	CUdeviceptr *originals;

	/* If its outcome is not ok, the reference failed, and there are no expected values. */
	struct failure reference_failure;
	/* Per output, for the first and the second inputs. NULL before they are computed. */
	struct expected *expected[INPUTS_COUNT];
	bool has_no_second;               /* the reference failed on the second inputs */
	uint64_t cipher[INPUTS_COUNT][2]; /* keys of units and values (measure/expected.h) */
	/* Random numbers that no kernel can know, drawn with the expected values: the seed of the
	 * second inputs, of fresh inputs and of the second compared units, and the sets that
	 * hold the second inputs. */
	uint64_t fresh_seed;
	struct random_state fresh;
};

/* Returns the number of sets for a GPU with this L2 cache and memory. Pure function. */
size_t problem_set_count(uint64_t set_bytes, uint64_t l2_bytes, uint64_t memory_bytes);

/* Returns the number of different variants of group sizes in the sets. Returns 1 if there are no
 * groups or their sizes are fixed. */
size_t problem_data_group_size_variants(const struct problem_data *problem);

/* Allocates and fills the tensors, unless they are on the GPU already. */
bool problem_data_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* Fills a set with the second inputs, which are the same for every set. */
bool problem_data_fill_second(struct gpu_session *gpu, struct problem_data *problem, size_t set);
/* Fills the set `second` with the second inputs, and all other sets with new random inputs. */
bool problem_data_fill_fresh(struct gpu_session *gpu, struct problem_data *problem, size_t second);
/* Fills the sets that hold other inputs with the first inputs again. */
bool problem_data_fill_first(struct gpu_session *gpu, struct problem_data *problem);
/* Queues the poisoning of the outputs of `count` sets from `first` on.
 * problem_data_restore_inputs() restores outputs that are overwritten in place. */
bool problem_data_poison(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first, size_t count);
/* Queues the restoration of the tensors that runs overwrite in place. */
bool problem_data_restore_inputs(
	struct gpu_session *gpu, const struct problem_data *problem, size_t set);
/* Returns whether there are such tensors. */
bool problem_data_restores_inputs(const struct problem_data *problem);
/* Fills inputs and guard zones of all sets again if the problem is `touched`, so that no candidate
 * is blamed for the writes of another one. */
bool problem_data_restore(struct gpu_session *gpu, struct problem_data *problem);
/* Adds the checksum of each input, over all sets, to scratch counter first_counter + tensor. */
bool problem_data_checksum(
	struct gpu_session *gpu, const struct problem_data *problem, size_t first_counter);
/* Frees the device memory. problem_data_prepare() can allocate it again. */
void problem_data_evict(struct gpu_session *gpu, struct problem_data *problem);
void problem_data_release(struct gpu_session *gpu, struct problem_data *problem);

/* Returns the plan's description of the tensor to which the output belongs. */
const struct plan_buffer *problem_output(const struct problem_data *problem, size_t output);
CUdeviceptr problem_tensor(const struct problem_data *problem, size_t set, size_t tensor);

/* ---- selection of the output units that are compared with the reference: pure functions ---- */
/* Selects all elements of a small output. From a large one it selects several points of every
 * patch, the edges, and some full rows and columns. A wrong tile, a wrong fragment of a tile and a
 * wrong remainder each contain selected points. The points are linear indices over rows x columns
 * (without pitch), with possible duplicates, and depend only on the arguments. The caller frees
 * *units. Returns the number of points: rows*columns if that is at most POINTS_FULL_MAX, else at
 * most 2*POINTS_FULL_MAX. rows and columns must be above 0. */
size_t points_choose(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

/* Selects row indices, for references whose unit is a row: all rows, or the first and last 16 and
 * one of each stratum. The rows have at most POINTS_FULL_MAX elements, unless a single row has
 * more. */
size_t points_choose_rows(uint64_t rows, uint64_t columns, uint64_t seed, int64_t **units);

#endif
