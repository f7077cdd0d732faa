/* SPDX-License-Identifier: MIT
 *
 * The problems of a run in the order in which they are tuned: before each one those that steps of
 * its composite families pose and that have no usable entry in the tuned file yet.
 */
#ifndef TUNE_QUEUE_H
#define TUNE_QUEUE_H

#include "engine/candidates.h"

enum {
	QUEUE_NONE = -1
};

enum queue_state {
	QUEUE_WAITS,
	QUEUE_IS_TUNED,
	QUEUE_IS_DONE, /* or failed */
};

struct queue_item {
	const struct problem *problem; /* borrowed from the run's list, or from posed */
	bool is_step;                  /* tuned with all families, and not fatal if it fails */
	double expected_s;
	enum queue_state state;
	unsigned losses; /* GPUs that were lost over it */
	bool is_ahead;   /* some process finds its candidates */
};

struct queue {
	struct queue_item *items;
	size_t count, capacity;
	struct problem_list posed; /* owned */
};

/* pool: what the run's own problems are restricted to; its tuned file is looked into. The caller
 * releases the queue, also on failure. */
enum status queue_open(const struct catalogue *catalogue, const struct problem_list *problems,
	const struct device_spec *device, const struct candidates_options *pool,
	struct queue *queue, struct error *err);
void queue_release(struct queue *queue);

/* The first that waits or, for several GPUs, the longest, once the steps before it are done;
 * QUEUE_NONE: none can be begun now. unprepared: of those whose candidates are not found already.
 */
int64_t queue_next(const struct queue *queue, bool longest, bool unprepared);

/* ---- parts of a list of problems for as many processes, on one machine or on many: `--shard 2/8`.
 * Which problem is in which part follows from the list alone; parts take about as long each. ----
 */
struct shard {
	unsigned number, count; /* number: from 1; count 0: the whole list */
};

/* "2/8". Errors: STATUS_BAD_INPUT. */
enum status shard_parse(const char *text, struct shard *shard, struct error *err);
/* Leaves the problems of this part, in their order; none is possible. */
void shard_keep(const struct shard *shard, struct problem_list *problems);

#endif
