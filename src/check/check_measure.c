/* SPDX-License-Identifier: MIT
 *
 * The part of a check that needs a GPU: load and verify (check_load.c), time. A few rows at a time,
 * so that their tensors fit into memory together and a block is short.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "check/check_group.h"

enum {
	WARM_UP_BLOCKS = 2,
	BLOCKS_MIN = 12, /* fewer give no interval at 99% that leaves an outlier out */
	BLOCKS_MAX = 200,
};

/* Returns the first. */
static struct check_series *add_series(
	struct check_group *group, const device_handle *handles, size_t count)
{
	struct check_series *first = &group->series[group->series_count];

	for (size_t i = 0; i < count; i++)
		group->series[group->series_count++] = (struct check_series){.handle = handles[i]};
	return first;
}

/* What was measured so far, as one series per kernel. */
static void merge(struct check_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		check_series_release(&group->merged_now[i]);
		check_series_release(&group->merged_then[i]);
		if (group->now[i]) {
			check_series_merge(group->now[i], work->loads, &group->merged_now[i]);
			work->now = &group->merged_now[i];
		}
		if (group->then[i]) {
			check_series_merge(group->then[i], work->loads, &group->merged_then[i]);
			work->then = &group->merged_then[i];
		}
	}
}

static bool enough(const struct check_series *series, size_t count, void *context)
{
	struct check_group *group = context;
	bool settled = true;

	(void)count;
	merge(group);
	for (size_t i = 0; i < group->count && settled; i++)
		if (check_row_can_run(group->rows[i]))
			settled = check_time_is_settled(group->check, group->rows[i], &series[0]);
	return settled;
}

static double budget_seconds(const struct check *check, size_t rows)
{
	size_t all = 0;

	for (size_t i = 0; i < check->row_count; i++)
		all += check->rows[i].work->can_run;
	return check->options.budget_s > 0 && all
		       ? check->options.budget_s * (double)rows / (double)all
		       : CHECK_SECONDS_PER_ENTRY * (double)rows;
}

static enum status sample(struct check_group *group, device_handle anchor, struct error *err)
{
	struct check_blocks_limits limits = {.warm_up_blocks = WARM_UP_BLOCKS,
		.blocks_min = BLOCKS_MIN,
		.blocks_max = BLOCKS_MAX,
		.enough = enough,
		.context = group,
		.interrupted = group->check->options.interrupted};
	size_t timed = 0;

	add_series(group, &anchor, 1);
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		timed++;
		group->now[i] = add_series(group, row->work->handles, row->work->loads);
		if (row->work->kept_handles[0])
			group->then[i] =
				add_series(group, row->work->kept_handles, row->work->loads);
	}
	if (!timed)
		return STATUS_OK;
	limits.seconds = budget_seconds(group->check, timed);
	return check_blocks(
		group->check->bench->device, group->series, group->series_count, &limits, err);
}

static void judge(struct check_group *group)
{
	const struct check_series *anchor = &group->series[0];
	struct check *check = group->check;

	merge(group);
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!check_row_can_run(row))
			continue;
		check_time(check, row, anchor);
		if (!row->now.blocks)
			continue;
		check->anchor_us = row->now.anchor_us;
		evaluation_add_samples(&row->work->trial.evaluation, row->work->now->block_us,
			row->work->now->blocks);
	}
}

static void end(struct check_group *group, device_handle anchor)
{
	struct device *device = group->check->bench->device;

	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		work->now = work->then = NULL;
		check_unload(device, work->handles, work->loads);
		check_unload(device, work->kept_handles, work->loads);
		work->trial.handle = 0;
		check_series_release(&group->merged_now[i]);
		check_series_release(&group->merged_then[i]);
	}
	if (anchor)
		device_unload(device, anchor);
	for (size_t i = 0; i < group->series_count; i++)
		check_series_release(&group->series[i]);
}

static enum status measure_group(struct check_group *group, struct error *err)
{
	device_handle anchor = 0;
	enum status status = device_anchor(group->check->bench->device, &anchor, err);

	if (status == STATUS_OK)
		status = check_load(group, err);
	if (status == STATUS_OK)
		status = check_verify(group, err);
	if (status == STATUS_OK)
		status = sample(group, anchor, err);
	if (status == STATUS_OK && group->series[0].outcome != OUTCOME_OK)
		status = error_set(err, STATUS_NO_DEVICE,
			"expected the GPU to run the anchor kernel, found: %s",
			group->series[0].detail ? group->series[0].detail
						: outcome_name(group->series[0].outcome));
	if (status == STATUS_OK)
		judge(group);
	end(group, anchor);
	return status;
}

enum status check_measure(struct check *check, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t at = 0; at < check->row_count && status == STATUS_OK;) {
		struct check_group group = {.check = check};

		for (; at < check->row_count && group.count < GROUP_ROWS; at++)
			if (check_row_can_run(&check->rows[at]))
				group.rows[group.count++] = &check->rows[at];
		if (group.count)
			status = measure_group(&group, err);
	}
	return status;
}
