/* SPDX-License-Identifier: MIT */
#include "tune/remeasure.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/shortlist.h"
#include "tune/resume.h"
#include "tune/shortlisted.h"

/* A candidate this much slower in the first look cannot win the final. */
static const double final_reach_ratio = 1.06;
static const double final_seconds_per_remeasured_one = 0.25;
static const double final_target_ratio = 0.002;

enum {
	/* Launches of one kernel differ little, cold or warm; other kernels may do better on a card
	 * that the final has warmed up. */
	FINAL_LAUNCHES_OF_KERNEL = 3
};

struct remeasured_one {
	struct evaluated *evaluated;
	struct trial trial;
	bool loaded;
};

static int compare_medians(const void *a, const void *b)
{
	const struct evaluated *x = *(struct evaluated *const *)a;
	const struct evaluated *y = *(struct evaluated *const *)b;
	double difference = x->evaluation.time.median - y->evaluation.time.median;

	if (difference < 0 || difference > 0)
		return difference < 0 ? -1 : 1;
	return x->candidate < y->candidate ? -1 : x->candidate > y->candidate;
}

/* How many launches of its kernel are in the final already. */
static unsigned launches_of_kernel(const struct search *search,
	const struct remeasured_one *remeasured, size_t count, const struct evaluated *evaluated)
{
	unsigned launches = 0;

	for (size_t i = 0; i < count; i++)
		launches += shortlist_same_kernel(&search->pool.view,
			remeasured[i].evaluated->candidate, evaluated->candidate);
	return launches;
}

/* Who goes to the final; caller frees. */
static struct remeasured_one *choose(struct search *search, size_t *count)
{
	struct evaluated_list *list = &search->evaluated;
	const struct effort *effort = search->session->effort;
	struct evaluated **order = memory_zeroed(list->count, sizeof(*order));
	bool *family_seen = memory_zeroed(search->pool.family_count, sizeof(*family_seen));
	bool *is_listed = memory_zeroed(list->count, sizeof(*is_listed));
	const struct shortlisted listed = shortlisted_fastest(&search->pool, list);
	struct remeasured_one *remeasured;
	size_t ok = 0, near_count = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].evaluation.outcome == OUTCOME_OK)
			order[ok++] = &list->items[i];
	qsort(order, ok, sizeof(*order), compare_medians);
	if (effort->remeasures_shortlist)
		shortlisted_mark(&search->pool, list, is_listed);
	else if (listed.index != SIZE_MAX)
		is_listed[listed.index] = true;
	remeasured = memory_zeroed(ok, sizeof(*remeasured));
	*count = 0;
	for (size_t i = 0; i < ok; i++) {
		uint32_t family = search->pool.family_of[order[i]->candidate];
		bool near = near_count < effort->remeasured &&
			    order[i]->evaluation.time.median <=
				    order[0]->evaluation.time.median * final_reach_ratio &&
			    launches_of_kernel(search, remeasured, *count, order[i]) <
				    FINAL_LAUNCHES_OF_KERNEL;
		bool first = !family_seen[family];

		family_seen[family] = true;
		near_count += near;
		if (near || first || is_listed[order[i] - list->items] ||
			(ptrdiff_t)order[i]->candidate == search->incumbent)
			remeasured[(*count)++].evaluated = order[i];
	}
	free(order);
	free(family_seen);
	free(is_listed);
	return remeasured;
}

/* Next event of the device; false when it has none left. */
static bool next_event(struct search *search, struct device_event *event)
{
	struct device *device = search->session->bench->device;

	while (device_pending(device) && !*search->session->interrupted)
		if (device_poll(device, 0.2, event))
			return true;
	return false;
}

static struct remeasured_one *remeasured_one_of(
	struct remeasured_one *remeasured, size_t count, device_handle handle)
{
	for (size_t i = 0; i < count; i++)
		if (remeasured[i].trial.handle == handle)
			return &remeasured[i];
	return NULL;
}

static enum status load_all(
	struct search *search, struct remeasured_one *remeasured, size_t count, struct error *err)
{
	struct device_event event;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		struct trial *trial = &remeasured[i].trial;
		bool moved = false;

		status =
			trial_start(&search->setup, remeasured[i].evaluated->candidate, trial, err);
		while (status == STATUS_OK && trial->stage == TRIAL_COMPILING && !moved) {
			status = trial_check_compiled(&search->setup, trial, &moved, err);
			if (status == STATUS_OK && !moved)
				kernel_store_poll(search->session->bench->store, 0.2);
		}
		if (status == STATUS_OK && trial->stage == TRIAL_READY)
			status = trial_load(&search->setup, trial, err);
	}
	while (status == STATUS_OK && next_event(search, &event)) {
		struct remeasured_one *remeasured_one =
			remeasured_one_of(remeasured, count, event.handle);

		if (event.kind == DEVICE_EVENT_LOST)
			status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
				event.detail ? event.detail : "it stopped answering");
		else if (remeasured_one && event.kind == DEVICE_EVENT_LOADED)
			remeasured_one->loaded = event.outcome == OUTCOME_OK;
		device_event_release(&event);
	}
	return status;
}

static enum status record_remeasurement(
	struct search *search, struct remeasured_one *remeasured_one, struct error *err)
{
	struct json *line;

	if (!search->session->journal)
		return STATUS_OK;
	line = evaluation_to_json(&remeasured_one->evaluated->evaluation);
	json_put_int(line, "problem", (int64_t)search->number);
	return journal_write(search->session->journal, "final", line, err);
}

/* What the final says of a candidate replaces what the first look said. */
static void put_remeasurement(struct evaluated *evaluated, enum outcome outcome, const char *detail,
	const double *samples_us, size_t sample_count)
{
	struct evaluation *evaluation = &evaluated->evaluation;

	if (outcome != OUTCOME_OK) {
		evaluation->outcome = outcome;
		free(evaluation->detail);
		evaluation->detail = string_copy(detail);
		return;
	}
	evaluated->search_us = evaluation->time.median;
	evaluation->sample_count = 0;
	evaluation_add_samples(evaluation, samples_us, sample_count);
	evaluated->final = true;
}

static enum status take_samples(struct search *search, struct remeasured_one *remeasured_one,
	struct device_event *event, struct error *err)
{
	remeasured_one->evaluated->evaluation.flags |= event->flags;
	put_remeasurement(remeasured_one->evaluated, event->outcome, event->detail,
		event->samples_us, event->sample_count);
	return record_remeasurement(search, remeasured_one, err);
}

/* The final of an interrupted run, if it was complete: it is not repeated. */
static bool take_recorded(struct search *search, struct remeasured_one *remeasured, size_t count)
{
	struct evaluated **evaluated = memory_zeroed(count + 1, sizeof(struct evaluated *));
	const struct evaluation **remeasurements =
		memory_zeroed(count + 1, sizeof(struct evaluation *));
	bool complete;

	for (size_t i = 0; i < count; i++)
		evaluated[i] = remeasured[i].evaluated;
	complete = count && resume_remeasurements(search, evaluated, count, remeasurements);
	for (size_t i = 0; complete && i < count; i++) {
		evaluated[i]->evaluation.flags |= remeasurements[i]->flags;
		put_remeasurement(evaluated[i], remeasurements[i]->outcome,
			remeasurements[i]->detail, remeasurements[i]->samples_us,
			remeasurements[i]->sample_count);
	}
	free(evaluated);
	free(remeasurements);
	return complete;
}

static enum status sample_all(
	struct search *search, struct remeasured_one *remeasured, size_t count, struct error *err)
{
	device_handle *handles = memory_zeroed(count, sizeof(*handles));
	struct device_sample_request request = {.handles = handles,
		.rounds_min = search->session->effort->remeasure_rounds / 4 + 1,
		.rounds_max = search->session->effort->remeasure_rounds,
		.seconds_max = final_seconds_per_remeasured_one * (double)count,
		.target_ratio = final_target_ratio};
	struct device_event event;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count; i++)
		if (remeasured[i].loaded)
			handles[request.handle_count++] = remeasured[i].trial.handle;
	if (request.handle_count)
		status = device_sample(search->session->bench->device, &request, err);
	while (status == STATUS_OK && next_event(search, &event)) {
		struct remeasured_one *remeasured_one =
			remeasured_one_of(remeasured, count, event.handle);

		if (event.kind == DEVICE_EVENT_LOST)
			status = error_set(err, STATUS_NO_DEVICE, "the device is lost: %s",
				event.detail ? event.detail : "it stopped answering");
		else if (remeasured_one && event.kind == DEVICE_EVENT_SAMPLED)
			status = take_samples(search, remeasured_one, &event, err);
		device_event_release(&event);
	}
	free(handles);
	return status;
}

enum status final_round(struct search *search, struct error *err)
{
	struct remeasured_one *remeasured;
	size_t count;
	enum status status;

	if (!device_measures(search->session->bench->device))
		return STATUS_OK;
	remeasured = choose(search, &count);
	if (take_recorded(search, remeasured, count)) {
		free(remeasured);
		return STATUS_OK;
	}
	search_show(search, true);
	status = load_all(search, remeasured, count, err);
	if (status == STATUS_OK)
		status = sample_all(search, remeasured, count, err);
	if (status == STATUS_OK && *search->session->interrupted)
		status = error_set(err, STATUS_INTERRUPTED,
			"interrupted; run again to go on where it stopped");
	for (size_t i = 0; i < count; i++)
		trial_release(&search->setup, &remeasured[i].trial);
	free(remeasured);
	return status;
}
