/* SPDX-License-Identifier: MIT */
#include "tune/shard.h"

#include <math.h>
#include <stdio.h>

#include "search/order.h"

enum {
	SHARDS_MAX = 100000
};

static enum status shard_refuse(const char *text, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT,
		"--shard: expected I/N with 1 <= I <= N <= %d, found \"%s\"", SHARDS_MAX, text);
}

enum status shard_parse(const char *text, struct shard *shard, struct error *err)
{
	const char *at = text;

	*shard = (struct shard){0};
	do {
		struct shard_part *part = &shard->parts[shard->depth];
		int length = 0;

		if (shard->depth == SHARD_DEPTH_MAX || *at < '0' || *at > '9' ||
			sscanf(at, "%9u/%9u%n", &part->number, &part->count, &length) != 2 ||
			part->number < 1 || part->number > part->count ||
			part->count > SHARDS_MAX || (at[length] && at[length] != ','))
			return shard_refuse(text, err);
		shard->depth++;
		at += length;
	} while (*at++ == ',');
	return STATUS_OK;
}

static double peak_flop_per_s(const struct problem *problem, const struct device_spec *device)
{
	const int key = name_table_find(&problem->operation->key_names, "dtype");
	CLEANUP(text_release) struct text name = {0};
	int dtype = -1;

	if (key >= 0) {
		value_format(problem->values[key], &name);
		dtype = name_find(text_string(&name), dtype_names);
	}
	return device_spec_peak_flop_per_s(device, dtype < 0 ? DTYPE_FP32 : (enum dtype)dtype);
}

/* Returns the expected seconds of a quick search. On an H200 it took 1 to 4 s for kernels of
 * microseconds, and up to 14 s for kernels of 10 ms. */
static double expected_seconds(const struct problem *problem, const struct device_spec *device)
{
	const double least_s = 2.5, most_s = 14, runs = 1000, reached = 0.5;
	double flop = 0, bytes = 0;

	problem_flop(problem, &flop, NULL);
	problem_min_bytes(problem, &bytes, NULL);
	return fmin(most_s,
		least_s + runs * fmax(flop / fmax(1, reached * peak_flop_per_s(problem, device)),
					 bytes / fmax(1, reached * device->dram_bytes_per_s)));
}

static size_t least_loaded(const double *loads_s, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (loads_s[i] < loads_s[best])
			best = i;
	return best;
}

/* Gives the longest remaining problem to the part with the least work. */
static void keep_part(const struct shard_part *part, const struct device_spec *device,
	struct problem_list *problems)
{
	const size_t count = problems->count;
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));
	CLEANUP(memory_free) double *keys = memory_zeroed(count + 1, sizeof(*keys));
	CLEANUP(memory_free) bool *mine = memory_zeroed(count + 1, sizeof(*mine));
	CLEANUP(memory_free) double *loads_s = memory_zeroed(part->count + 1, sizeof(*loads_s));
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		keys[i] = -expected_seconds(problems->items[i], device);
	}
	order_smallest(order, count, keys, count);
	for (size_t i = 0; i < count; i++) {
		const size_t receiver = least_loaded(loads_s, part->count);

		loads_s[receiver] -= keys[order[i]]; /* keys are negative seconds */
		mine[order[i]] = receiver + 1 == part->number;
	}
	for (size_t i = 0; i < count; i++)
		if (mine[i])
			problems->items[kept++] = problems->items[i];
		else
			problem_free(problems->items[i]);
	problems->count = kept;
}

void shard_keep(
	const struct shard *shard, const struct device_spec *device, struct problem_list *problems)
{
	for (size_t i = 0; i < shard->depth; i++)
		keep_part(&shard->parts[i], device, problems);
}
