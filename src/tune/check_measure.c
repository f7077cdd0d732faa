/* SPDX-License-Identifier: MIT
 *
 * The part of a check that needs a GPU: load, verify, time. A few rows at a time, so that their
 * tensors fit into memory together and a block is short.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/announce.h"
#include "tune/check_parts.h"

enum {
	GROUP_ROWS = 8,
	WARM_UP_BLOCKS = 2,
	BLOCKS_MIN = 12, /* fewer give no interval at 99% that leaves an outlier out */
	BLOCKS_MAX = 200,
};

struct group {
	struct check *check;
	struct check_row *rows[GROUP_ROWS];
	size_t count;
	struct check_series series[2 * GROUP_ROWS + 1]; /* the anchor first */
	size_t series_count;
};

static bool can_run(const struct check_row *row)
{
	return row->work->can_run && !check_row_is_decided(row);
}

static bool same_plan(const struct plan *a, const struct plan *b)
{
	struct json *json_a = plan_to_json(a), *json_b = plan_to_json(b);
	char *text_a = json_print(json_a, false), *text_b = json_print(json_b, false);
	bool same = strcmp(text_a, text_b) == 0;

	free(text_a);
	free(text_b);
	json_free(json_a);
	json_free(json_b);
	return same;
}

static bool is_same_binary(const struct check_row *row)
{
	const struct check_kept *kept = &row->work->kept;
	const struct flight *flight = &row->work->flight;

	if (!kept->key || kept->cubin_count != flight->build.unit_count)
		return false;
	for (size_t i = 0; i < kept->cubin_count; i++) {
		const struct text *cubin = &flight->kernels[i]->cubin;

		if (cubin->length != kept->cubins[i].length ||
			memcmp(cubin->data, kept->cubins[i].data, cubin->length) != 0)
			return false;
	}
	return same_plan(&kept->plan, &flight->plan);
}

static enum status load_kept(struct check *check, struct check_row *row, struct error *err)
{
	struct check_kept *kept = &row->work->kept;
	struct device_load_request request = {.problem = row->work->setup.problem,
		.family = row->family,
		.configuration = row->configuration,
		.plan = &kept->plan,
		.cubins = kept->cubins,
		.cubin_count = kept->cubin_count};

	row->same_binary = is_same_binary(row);
	if (!kept->key || row->same_binary)
		return STATUS_OK;
	return device_load(check->bench->device, &request, &row->work->kept_handle, err);
}

static enum status load(struct group *group, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < group->count && status == STATUS_OK; i++) {
		struct check_row *row = group->rows[i];
		struct error reason = {0};

		if (problem_announce(group->check->bench, row->work->problem,
			    &row->work->setup.problem, &reason) != STATUS_OK) {
			check_row_decide(row, CHECK_FAILED, "%s", reason.message);
			continue;
		}
		status = flight_load(&row->work->setup, &row->work->flight, err);
		if (status == STATUS_OK)
			status = load_kept(group->check, row, err);
	}
	return status;
}

static void take_verified(struct check_row *row, struct device_event *event)
{
	struct evaluation *evaluation = &row->work->flight.evaluation;

	evaluation->verification = event->verification;
	if (event->outcome == OUTCOME_OUT_OF_MEMORY)
		check_row_decide(row, CHECK_NOT_COMPARABLE, "out of memory: %s",
			event->detail ? event->detail : "its tensors do not fit");
	else if (event->outcome != OUTCOME_OK)
		check_row_decide(row, CHECK_FAILED, "%s: %s", outcome_name(event->outcome),
			event->detail ? event->detail : outcome_summary(event->outcome));
}

/* An event of today's kernel. */
static enum status advance(
	struct check *check, struct check_row *row, struct device_event *event, struct error *err)
{
	enum status status = STATUS_OK;

	if (event->outcome != OUTCOME_OK || event->kind == DEVICE_EVENT_VERIFIED) {
		take_verified(row, event);
	} else if (event->kind == DEVICE_EVENT_LOADED) {
		status = flight_event(&row->work->setup, &row->work->flight, event, 0, err);
		check_resources(check, row);
	}
	return status;
}

/* Until everything is loaded and verified. */
static enum status verify(struct group *group, struct error *err)
{
	struct device *device = group->check->bench->device;
	struct device_event event;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && device_pending(device)) {
		if (*group->check->options.interrupted)
			return error_set(err, STATUS_INTERRUPTED, "interrupted");
		if (!device_poll(device, 0.2, &event))
			continue;
		if (event.kind == DEVICE_EVENT_LOST)
			status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
				event.detail ? event.detail : "it stopped answering");
		for (size_t i = 0; i < group->count && status == STATUS_OK; i++) {
			struct check_row *row = group->rows[i];

			if (row->work->flight.handle == event.handle) {
				status = advance(group->check, row, &event, err);
			} else if (row->work->kept_handle == event.handle &&
				   event.outcome != OUTCOME_OK) {
				device_unload(device, row->work->kept_handle);
				row->work->kept_handle = 0;
			}
		}
		device_event_release(&event);
	}
	return status;
}

static struct check_series *add_series(struct group *group, device_handle handle)
{
	struct check_series *series = &group->series[group->series_count++];

	*series = (struct check_series){.handle = handle};
	return series;
}

static bool enough(const struct check_series *series, size_t count, void *context)
{
	struct group *group = context;
	bool settled = true;

	(void)count;
	for (size_t i = 0; i < group->count && settled; i++)
		if (can_run(group->rows[i]))
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

static enum status sample(struct group *group, device_handle anchor, struct error *err)
{
	struct check_blocks_limits limits = {.warm_up_blocks = WARM_UP_BLOCKS,
		.blocks_min = BLOCKS_MIN,
		.blocks_max = BLOCKS_MAX,
		.enough = enough,
		.context = group,
		.interrupted = group->check->options.interrupted};
	size_t timed = 0;

	add_series(group, anchor);
	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!can_run(row))
			continue;
		timed++;
		row->work->now = add_series(group, row->work->flight.handle);
		if (row->work->kept_handle)
			row->work->then = add_series(group, row->work->kept_handle);
	}
	if (!timed)
		return STATUS_OK;
	limits.seconds = budget_seconds(group->check, timed);
	return check_blocks(
		group->check->bench->device, group->series, group->series_count, &limits, err);
}

static void judge(struct group *group)
{
	const struct check_series *anchor = &group->series[0];
	struct check *check = group->check;

	for (size_t i = 0; i < group->count; i++) {
		struct check_row *row = group->rows[i];

		if (!can_run(row))
			continue;
		check_time(check, row, anchor);
		if (!row->now.blocks)
			continue;
		check->anchor_us = row->now.anchor_us;
		evaluation_add_samples(&row->work->flight.evaluation, row->work->now->block_us,
			row->work->now->blocks);
	}
}

static void end(struct group *group, device_handle anchor)
{
	struct device *device = group->check->bench->device;

	for (size_t i = 0; i < group->count; i++) {
		struct check_work *work = group->rows[i]->work;

		work->now = work->then = NULL;
		if (work->flight.handle)
			device_unload(device, work->flight.handle);
		if (work->kept_handle)
			device_unload(device, work->kept_handle);
		work->flight.handle = work->kept_handle = 0;
	}
	if (anchor)
		device_unload(device, anchor);
	for (size_t i = 0; i < group->series_count; i++)
		check_series_release(&group->series[i]);
}

static enum status measure_group(struct group *group, struct error *err)
{
	device_handle anchor = 0;
	enum status status = device_anchor(group->check->bench->device, &anchor, err);

	if (status == STATUS_OK)
		status = load(group, err);
	if (status == STATUS_OK)
		status = verify(group, err);
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
		struct group group = {.check = check};

		for (; at < check->row_count && group.count < GROUP_ROWS; at++)
			if (can_run(&check->rows[at]))
				group.rows[group.count++] = &check->rows[at];
		if (group.count)
			status = measure_group(&group, err);
	}
	return status;
}
