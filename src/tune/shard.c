/* SPDX-License-Identifier: MIT */
#include "tune/shard.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "tune/queue.h"

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

struct cost {
	double seconds;
	size_t index;
};

/* The longest first; of equals the first. */
static int compare(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? 1 : -1;
	return x->index > y->index ? 1 : -1;
}

/* To the shard that has the least so far. */
static size_t least(const double *loads_s, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (loads_s[i] < loads_s[best])
			best = i;
	return best;
}

void shard_keep(const struct shard *shard, struct problem_list *problems)
{
	const size_t count = problems->count;
	CLEANUP(memory_free) struct cost *costs = memory_zeroed(count + 1, sizeof(*costs));
	CLEANUP(memory_free) bool *mine = memory_zeroed(count + 1, sizeof(*mine));
	CLEANUP(memory_free)
	double *loads_s = memory_zeroed(shard->count + 1, sizeof(*loads_s));
	size_t kept = 0;

	if (!shard->count)
		return;
	for (size_t i = 0; i < count; i++)
		costs[i] = (struct cost){queue_expected_seconds(problems->items[i]), i};
	qsort(costs, count, sizeof(*costs), compare);
	for (size_t i = 0; i < count; i++) {
		const size_t taker = least(loads_s, shard->count);

		loads_s[taker] += costs[i].seconds;
		mine[costs[i].index] = taker + 1 == shard->number;
	}
	for (size_t i = 0; i < count; i++)
		if (mine[i])
			problems->items[kept++] = problems->items[i];
		else
			problem_free(problems->items[i]);
	problems->count = kept;
}
