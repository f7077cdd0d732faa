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

/* How long tuning a problem may take, for the order and the balance of several; in seconds of a
 * quick search on a fast GPU. A search is limited in number and time: what large problems add is
 * limited, too. Measured on an H200: 1 to 4 s for kernels of microseconds, up to 14 s for those of
 * 10 ms. */
static double expected_seconds(const struct problem *problem)
{
	const double least_s = 2.5, most_s = 14;
	const double flop_per_s = 5e14, bytes_per_s = 3e12, runs = 1000;
	double flop = 0, bytes = 0;

	problem_flop(problem, &flop, NULL);
	problem_min_bytes(problem, &bytes, NULL);
	return fmin(most_s, least_s + runs * fmax(flop / flop_per_s, bytes / bytes_per_s));
}

static void add(struct queue *queue, const struct problem *problem, bool is_step)
{
	ARRAY_GROW(queue->items, queue->count, queue->capacity);
	queue->items[queue->count++] = (struct queue_item){
		.problem = problem, .is_step = is_step, .expected_s = expected_seconds(problem)};
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

int64_t queue_next(const struct queue *queue, bool longest, bool unprepared)
{
	int64_t best = QUEUE_NONE;
	bool steps_done = true;

	for (size_t i = 0; i < queue->count && (longest || best < 0); i++) {
		const struct queue_item *item = &queue->items[i];

		if (item->state == QUEUE_WAITS && !(unprepared && item->is_ahead) &&
			(item->is_step || steps_done) &&
			(best < 0 || item->expected_s > queue->items[best].expected_s))
			best = (int64_t)i;
		steps_done &= !item->is_step || item->state == QUEUE_IS_DONE;
	}
	return best;
}

/* ---- shards ---- */
enum {
	SHARDS_MAX = 100000
};

enum status shard_parse(const char *text, struct shard *shard, struct error *err)
{
	int end = 0;

	if (sscanf(text, "%9u/%9u%n", &shard->number, &shard->count, &end) == 2 && !text[end] &&
		text[0] != '-' && shard->number >= 1 && shard->number <= shard->count &&
		shard->count <= SHARDS_MAX)
		return STATUS_OK;
	return error_set(err, STATUS_BAD_INPUT,
		"--shard: expected I/N with 1 <= I <= N <= %d, found \"%s\"", SHARDS_MAX, text);
}

static size_t least(const double *loads_s, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (loads_s[i] < loads_s[best])
			best = i;
	return best;
}

/* The longest problem goes first to the shard that has the least, of equals the first. */
void shard_keep(const struct shard *shard, struct problem_list *problems)
{
	const size_t count = problems->count;
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));
	CLEANUP(memory_free) double *keys = memory_zeroed(count + 1, sizeof(*keys));
	CLEANUP(memory_free) bool *mine = memory_zeroed(count + 1, sizeof(*mine));
	CLEANUP(memory_free)
	double *loads_s = memory_zeroed(shard->count + 1, sizeof(*loads_s));
	size_t kept = 0;

	if (!shard->count)
		return;
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		keys[i] = -expected_seconds(problems->items[i]);
	}
	order_smallest(order, count, keys, count);
	for (size_t i = 0; i < count; i++) {
		const size_t taker = least(loads_s, shard->count);

		loads_s[taker] -= keys[order[i]]; /* they are negative seconds */
		mine[order[i]] = taker + 1 == shard->number;
	}
	for (size_t i = 0; i < count; i++)
		if (mine[i])
			problems->items[kept++] = problems->items[i];
		else
			problem_free(problems->items[i]);
	problems->count = kept;
}
