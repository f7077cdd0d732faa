/* SPDX-License-Identifier: MIT
 *
 * The kernels of a group on the GPU: today's and the kept ones, short ones several times; today's
 * compared with the reference.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/announce.h"
#include "check/check_group.h"

/* Loads of a binary are apart by a fraction of a microsecond; beside this it is nothing. */
static const double several_loads_below_us = 50;

bool check_row_can_run(const struct check_row *row)
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
	const struct trial *trial = &row->work->trial;

	if (!kept->key || kept->cubin_count != trial->build.unit_count)
		return false;
	for (size_t i = 0; i < kept->cubin_count; i++) {
		const struct text *cubin = &trial->kernels[i]->cubin;

		if (cubin->length != kept->cubins[i].length ||
			memcmp(cubin->data, kept->cubins[i].data, cubin->length) != 0)
			return false;
	}
	return same_plan(&kept->plan, &trial->plan);
}

static enum status load_now(struct check_row *row, size_t load, struct error *err)
{
	enum status status = trial_load(&row->work->setup, &row->work->trial, err);

	row->work->handles[load] = row->work->trial.handle;
	row->work->trial.handle = row->work->handles[0];
	return status;
}

static enum status load_kept(
	struct check *check, struct check_row *row, size_t load, struct error *err)
{
	const struct check_kept *kept = &row->work->kept;
	struct device_load_request request = {.problem = row->work->setup.problem,
		.family = row->family,
		.configuration = row->configuration,
		.plan = &kept->plan,
		.cubins = kept->cubins,
		.cubin_count = kept->cubin_count};

	if (!kept->key || row->same_binary)
		return STATUS_OK;
	return device_load(check->bench->device, &request, &row->work->kept_handles[load], err);
}

/* Old and new take turns in who comes first: where code lies depends on what was loaded before. */
static enum status load_row(struct check *check, struct check_row *row, struct error *err)
{
	bool is_short = row->baseline_us > 0 && row->baseline_us < several_loads_below_us;
	enum status status = STATUS_OK;

	row->same_binary = is_same_binary(row);
	row->work->loads = is_short ? CHECK_LOADS : 1;
	for (size_t i = 0; i < row->work->loads && status == STATUS_OK; i++) {
		status = i % 2 ? load_kept(check, row, i, err) : load_now(row, i, err);
		if (status == STATUS_OK)
			status = i % 2 ? load_now(row, i, err) : load_kept(check, row, i, err);
	}
	return status;
}

enum status check_load(struct check_group *group, struct error *err)
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
		status = load_row(group->check, row, err);
	}
	return status;
}

static void take_verified(struct check_row *row, struct device_event *event)
{
	struct evaluation *evaluation = &row->work->trial.evaluation;

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
		status = trial_event(&row->work->setup, &row->work->trial, event, 0, err);
		check_resources(check, row);
	}
	return status;
}

static bool is_among(device_handle handle, const device_handle *handles, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (handles[i] == handle)
			return true;
	return false;
}

void check_unload(struct device *device, device_handle *handles, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (handles[i])
			device_unload(device, handles[i]);
		handles[i] = 0;
	}
}

static enum status take_event(
	struct check *check, struct check_row *row, struct device_event *event, struct error *err)
{
	struct check_work *work = row->work;

	if (event->handle == work->trial.handle)
		return advance(check, row, event, err);
	if (event->outcome == OUTCOME_OK)
		return STATUS_OK;
	if (is_among(event->handle, work->handles, work->loads))
		take_verified(row, event);
	else if (is_among(event->handle, work->kept_handles, work->loads))
		check_unload(check->bench->device, work->kept_handles, work->loads);
	return STATUS_OK;
}

enum status check_verify(struct check_group *group, struct error *err)
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
		for (size_t i = 0; i < group->count && status == STATUS_OK; i++)
			status = take_event(group->check, group->rows[i], &event, err);
		device_event_release(&event);
	}
	return status;
}
