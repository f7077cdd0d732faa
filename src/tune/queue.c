/* SPDX-License-Identifier: MIT */
#include "tune/queue.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/row.h"
#include "family/catalogue.h"
#include "search/order.h"

struct filling {
	const struct catalogue *catalogue;
	const struct device_spec *device;
	const struct candidates_options *pool;
	struct queue *queue;
};

static void add(struct queue *queue, const struct problem *problem, bool is_step)
{
	ARRAY_GROW(queue->items, queue->count, queue->capacity);
	queue->items[queue->count++] = (struct queue_item){.problem = problem, .is_step = is_step};
}

static bool is_queued(const struct queue *queue, const struct problem *problem)
{
	for (size_t i = 0; i < queue->count; i++)
		if (queue->items[i].problem->operation == problem->operation &&
			strcmp(queue->items[i].problem->text, problem->text) == 0)
			return true;
	return false;
}

/* Takes the problem. */
static void pose(struct queue *queue, struct problem *problem)
{
	if (is_queued(queue, problem)) {
		problem_free(problem);
		return;
	}
	ARRAY_GROW(queue->posed.items, queue->posed.count, queue->posed.capacity);
	queue->posed.items[queue->posed.count++] = problem;
	add(queue, problem, true);
}

static enum status pose_steps(struct filling *filling, const struct family *family,
	const struct problem *problem, struct error *err)
{
	const struct steps_source source = {.catalogue = filling->catalogue,
		.tuned = filling->pool->tuned,
		.measured = filling->pool->measured_steps};
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;

	TRY(family_bind_if_applies(family, problem, filling->device, NULL, &bound, NULL, err));
	if (!bound)
		return STATUS_OK;
	for (size_t i = 0; i < family->step_count; i++)
		if (!steps_choose(&source, bound, i, NULL)) {
			pose(filling->queue, bound->composite->steps[i].problem);
			bound->composite->steps[i].problem = NULL;
		}
	return STATUS_OK;
}

enum status queue_open(const struct catalogue *catalogue, const struct problem_list *problems,
	const struct device_spec *device, const struct candidates_options *pool,
	struct queue *queue, struct error *err)
{
	struct filling filling = {
		.catalogue = catalogue, .device = device, .pool = pool, .queue = queue};

	*queue = (struct queue){0};
	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = problems->items[i];

		for (size_t f = 0; f < catalogue->family_count; f++) {
			const struct family *family = catalogue->families[f];

			if (family->operation == problem->operation && family->step_count &&
				candidates_family_wanted(family, pool->families))
				TRY(pose_steps(&filling, family, problem, err));
		}
		add(queue, problem, false);
	}
	return STATUS_OK;
}

void queue_release(struct queue *queue)
{
	problem_list_release(&queue->posed);
	free(queue->items);
	*queue = (struct queue){0};
}
