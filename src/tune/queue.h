/* SPDX-License-Identifier: MIT
 *
 * The problems of a run in the order in which they are tuned: before each one those that steps of
 * its composite families pose and that have no usable entry in the tuned file yet.
 */
#ifndef TUNE_QUEUE_H
#define TUNE_QUEUE_H

#include "engine/candidates.h"

struct queue_item {
	const struct problem *problem; /* borrowed from the run's list, or from posed */
	bool is_step;                  /* tuned with all families, and not fatal if it fails */
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

#endif
