/* SPDX-License-Identifier: MIT */
#include "check/check_blocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/statistics.h"

enum {
	BLOCK_SAMPLES = 3,   /* of each kernel in a block: one outlier does not make the median */
	BLOCKS_IN_TRIAL = 2, /* so that the device does not wait between blocks */
};
static const double block_seconds_max = 20;

struct blocks {
	struct device *device;
	struct check_series *series;
	size_t count;
	const struct check_blocks_limits *limits;
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

static size_t alive(const struct blocks *blocks)
{
	size_t count = 0;

	for (size_t i = 0; i < blocks->count; i++)
		count += blocks->series[i].outcome == OUTCOME_OK;
	return count;
}

static enum status begin_block(struct blocks *blocks, struct error *err)
{
	device_handle *handles = memory_zeroed(blocks->count + 1, sizeof(*handles));
	struct device_sample_request request = {.handles = handles,
		.rounds_min = BLOCK_SAMPLES,
		.rounds_max = BLOCK_SAMPLES,
		.seconds_max = block_seconds_max};
	enum status status;

	for (size_t i = 0; i < blocks->count; i++)
		if (blocks->series[i].outcome == OUTCOME_OK)
			handles[request.handle_count++] = blocks->series[i].handle;
	status = device_sample(blocks->device, &request, err);
	blocks->begun++;
	free(handles);
	return status;
}

static void take(struct blocks *blocks, const struct device_event *event)
{
	for (size_t i = 0; i < blocks->count; i++) {
		struct check_series *series = &blocks->series[i];

		if (series->handle != event->handle || series->outcome != OUTCOME_OK)
			continue;
		series->throttled |= (event->flags & FLAG_MASK(THROTTLED)) != 0;
		if (event->outcome != OUTCOME_OK || !event->sample_count) {
			series->outcome = event->outcome;
			series->detail = string_copy(event->detail);
			continue;
		}
		if (++series->received <= blocks->limits->warm_up_blocks)
			continue;
		ARRAY_GROW(series->block_us, series->blocks, series->capacity);
		series->block_us[series->blocks++] =
			statistics_quantile(event->samples_us, event->sample_count, 0.5);
	}
}

static enum status take_event(struct blocks *blocks, struct error *err)
{
	struct device_event event;
	enum status status = STATUS_OK;

	if (!device_poll(blocks->device, 0.2, &event))
		return STATUS_OK;
	if (event.kind == DEVICE_EVENT_LOST)
		status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
			event.detail ? event.detail : "it stopped answering");
	else if (event.kind == DEVICE_EVENT_SAMPLED)
		take(blocks, &event);
	device_event_release(&event);
	return status;
}

static bool finished(const struct blocks *blocks, double started)
{
	const struct check_blocks_limits *limits = blocks->limits;
	size_t done = complete_blocks(blocks);

	done = done > limits->warm_up_blocks ? done - limits->warm_up_blocks : 0;
	if (!alive(blocks) || done >= limits->blocks_max)
		return true;
	if (done < limits->blocks_min)
		return false;
	return clock_seconds() - started > limits->seconds ||
	       limits->enough(blocks->series, blocks->count, limits->context);
}

enum status check_blocks(struct device *device, struct check_series *series, size_t count,
	const struct check_blocks_limits *limits, struct error *err)
{
	struct blocks blocks = {
		.device = device, .series = series, .count = count, .limits = limits};
	double started = clock_seconds();
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count; i++)
		series[i].outcome = OUTCOME_OK;
	while (status == STATUS_OK && !finished(&blocks, started)) {
		while (status == STATUS_OK &&
			blocks.begun < complete_blocks(&blocks) + BLOCKS_IN_TRIAL)
			status = begin_block(&blocks, err);
		if (status == STATUS_OK)
			status = take_event(&blocks, err);
		if (status == STATUS_OK && *limits->interrupted)
			status = error_set(err, STATUS_INTERRUPTED, "interrupted");
	}
	while (status == STATUS_OK && device_pending(device))
		status = take_event(&blocks, err);
	return status;
}

size_t check_block_ratios(
	const struct check_series *series, const struct check_series *over, double *ratios)
{
	size_t count = series->blocks < over->blocks ? series->blocks : over->blocks;

	for (size_t i = 0; i < count; i++)
		ratios[i] = series->block_us[i] / over->block_us[i];
	return count;
}

static size_t common_blocks(const struct check_series *loads, size_t count)
{
	size_t blocks = loads[0].blocks;

	for (size_t i = 1; i < count; i++)
		blocks = loads[i].blocks < blocks ? loads[i].blocks : blocks;
	return blocks;
}

/* How far the loads are apart: of each its median distance from the mean, block by block, so that
 * a drift that they share does not count. */
static double deviation_between(
	const struct check_series *loads, size_t count, const struct check_series *merged)
{
	double *apart = memory_zeroed(merged->blocks + 1, sizeof(*apart)), squares = 0;

	for (size_t i = 0; i < count; i++) {
		double median;

		for (size_t block = 0; block < merged->blocks; block++)
			apart[block] = loads[i].block_us[block] - merged->block_us[block];
		median = statistics_quantile(apart, merged->blocks, 0.5);
		squares += median * median;
	}
	free(apart);
	return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

void check_series_merge(const struct check_series *loads, size_t count, struct check_series *merged)
{
	size_t blocks = common_blocks(loads, count);

	*merged = (struct check_series){.handle = loads[0].handle,
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

void check_series_release(struct check_series *series)
{
	free(series->block_us);
	free(series->load_us);
	free(series->detail);
	*series = (struct check_series){0};
}
