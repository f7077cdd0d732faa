/* SPDX-License-Identifier: MIT */
#include "engine/blocks.h"

#include <math.h>

#include "base/clock.h"

enum {
	BLOCK_SAMPLES = 3,    /* of each kernel in a block: one outlier does not make the median */
	BLOCKS_UNDER_WAY = 2, /* so that the device does not wait between blocks */
};
#define BLOCK_SECONDS_MAX 20.0

struct blocks {
	struct evaluator *evaluator;
	struct block_series *series;
	size_t count;
	const struct block_limits *limits;
	size_t begun;
};

static size_t complete_blocks(const struct blocks *blocks)
{
	size_t least = blocks->begun;

	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->series[i].outcome == OUTCOME_OK && blocks->series[i].received < least)
			least = blocks->series[i].received;
	return least;
}

/* Trials that take part in the next block. */
static size_t find_active(const struct blocks *blocks, struct trial **trials)
{
	size_t count = 0;

	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->series[i].outcome == OUTCOME_OK)
			trials[count++] = blocks->series[i].trial;
	return count;
}

static enum status begin_block(struct blocks *blocks, struct trial **trials, struct error *err)
{
	static const struct sampling sampling = {.rounds_min = BLOCK_SAMPLES,
		.rounds_max = BLOCK_SAMPLES,
		.seconds_max = BLOCK_SECONDS_MAX};

	blocks->begun++;
	return evaluator_sample(
		blocks->evaluator, trials, find_active(blocks, trials), &sampling, err);
}

void block_series_take(struct block_series *series, const struct device_event *event)
{
	if (series->outcome != OUTCOME_OK)
		return;
	series->throttled |= (event->flags & FLAG_MASK(THROTTLED)) != 0;
	if (event->outcome != OUTCOME_OK || !event->sample_count) {
		series->outcome = event->outcome;
		series->detail = string_copy(event->detail);
		return;
	}
	series->received++;
	if (series->warm_up) {
		series->warm_up--;
		return;
	}
	ARRAY_GROW(series->block_us, series->blocks, series->capacity);
	series->block_us[series->blocks++] =
		statistics_quantile(event->samples_us, event->sample_count, 0.5);
}

static bool is_finished(const struct blocks *blocks, size_t active, double started)
{
	const struct block_limits *limits = blocks->limits;
	size_t done = complete_blocks(blocks);

	done = done > limits->warm_up_blocks ? done - limits->warm_up_blocks : 0;
	if (!active || done >= limits->blocks_max)
		return true;
	if (done < limits->blocks_min)
		return false;
	return clock_seconds() - started > limits->seconds ||
	       (limits->enough && limits->enough(blocks->series, blocks->count, limits->context));
}

static enum status run_all(struct blocks *blocks, struct trial **trials, struct error *err)
{
	struct evaluator *evaluator = blocks->evaluator;
	const double started = clock_seconds();

	while (!is_finished(blocks, find_active(blocks, trials), started)) {
		while (blocks->begun < complete_blocks(blocks) + BLOCKS_UNDER_WAY)
			TRY(begin_block(blocks, trials, err));
		TRY(evaluator_step(evaluator, err));
		if (evaluator->interrupted && *evaluator->interrupted)
			return error_set(err, STATUS_INTERRUPTED, "interrupted");
		evaluator_wait(evaluator);
	}
	while (device_pending(evaluator->context->device)) {
		TRY(evaluator_step(evaluator, err));
		evaluator_wait(evaluator);
	}
	return STATUS_OK;
}

enum status blocks_run(struct evaluator *evaluator, struct block_series *series, size_t count,
	const struct block_limits *limits, struct error *err)
{
	struct blocks blocks = {
		.evaluator = evaluator, .series = series, .count = count, .limits = limits};
	CLEANUP(memory_free)
	struct trial **trials = memory_zeroed(count + 1, sizeof(struct trial *));
	enum status status;

	for (size_t i = 0; i < count; i++) {
		series[i].outcome = OUTCOME_OK;
		series[i].warm_up = limits->warm_up_blocks;
		series[i].trial->series = &series[i];
	}
	status = run_all(&blocks, trials, err);
	for (size_t i = 0; i < count; i++)
		series[i].trial->series = NULL;
	return status;
}

size_t block_ratios(
	const struct block_series *series, const struct block_series *over, double *ratios)
{
	const size_t count = series->blocks < over->blocks ? series->blocks : over->blocks;

	for (size_t i = 0; i < count; i++)
		ratios[i] = series->block_us[i] / over->block_us[i];
	return count;
}

static size_t common_blocks(const struct block_series *loads, size_t count)
{
	size_t blocks = loads[0].blocks;

	for (size_t i = 1; i < count; i++)
		blocks = loads[i].blocks < blocks ? loads[i].blocks : blocks;
	return blocks;
}

/* How far the loads are apart: of each its median distance from the mean, block by block, so that
 * a drift that they share does not count. */
static double deviation_between(
	const struct block_series *loads, size_t count, const struct block_series *merged)
{
	CLEANUP(memory_free)
	double *apart = memory_zeroed(merged->blocks + 1, sizeof(*apart));
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		double median;

		for (size_t block = 0; block < merged->blocks; block++)
			apart[block] = loads[i].block_us[block] - merged->block_us[block];
		median = statistics_quantile(apart, merged->blocks, 0.5);
		squares += median * median;
	}
	return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

void block_series_merge(const struct block_series *loads, size_t count, struct block_series *merged)
{
	size_t blocks = common_blocks(loads, count);

	*merged = (struct block_series){.trial = loads[0].trial,
		.outcome = OUTCOME_OK,
		.blocks = blocks,
		.loads = count,
		.block_us = memory_zeroed(blocks + 1, sizeof(double)),
		.load_us = memory_zeroed(count, sizeof(double))};
	for (size_t i = 0; i < count; i++) {
		merged->throttled |= loads[i].throttled;
		if (loads[i].outcome != OUTCOME_OK && merged->outcome == OUTCOME_OK) {
			merged->outcome = loads[i].outcome;
			merged->detail = string_copy(loads[i].detail);
		}
		for (size_t block = 0; block < blocks; block++)
			merged->block_us[block] += loads[i].block_us[block] / (double)count;
		if (blocks)
			merged->load_us[i] = statistics_quantile(loads[i].block_us, blocks, 0.5);
	}
	if (blocks)
		merged->load_deviation_us = deviation_between(loads, count, merged);
}

void block_series_release(struct block_series *series)
{
	free(series->block_us);
	free(series->load_us);
	free(series->detail);
	*series = (struct block_series){0};
}
