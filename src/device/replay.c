/* SPDX-License-Identifier: MIT
 *
 * replay:FILE, a recorded journal: each candidate gets its recorded outcome, resources and samples.
 *
 * A request with one job gets the results of the search, one with several jobs those of the
 * re-measurement. Later requests of a series get the following samples.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "family/catalogue.h"
#include "family/problem.h"
#include "format/journal.h"

/* A candidate's last results, borrowed from the journal. */
struct recorded {
	const struct journal_problem *problem;
	const struct result *searched;   /* may be NULL */
	const struct result *remeasured; /* may be NULL */
};

struct replay {
	char *path;
	struct journal_record journal;
	struct name_set keys; /* key_of() each candidate, in order */
	struct recorded *candidates;
	size_t capacity;
};

extern const struct device_kind device_kind_replay;
static const struct device_kind replay_predicted;

/* ---- the recording ---- */
static char *key_of(
	const char *operation, const char *problem, const char *family, const char *configuration)
{
	return string_format("%s\n%s\n%s\n%s", operation, problem, family, configuration);
}

/* The loss of the device says nothing about the candidate. */
static void replace(const struct result **known, const struct result *later)
{
	if (later && (!*known || later->outcome != OUTCOME_DEVICE_LOST))
		*known = later;
}

static void add_results(struct replay *replay, const struct journal_problem *problem,
	const struct result *results, size_t count, bool remeasured)
{
	for (size_t i = 0; i < count; i++) {
		CLEANUP(memory_free)
		char *key = key_of(problem->operation, problem->problem, results[i].family,
			results[i].configuration);
		const size_t known = replay->keys.count;
		const size_t index = name_set_add(&replay->keys, key, strlen(key));

		ARRAY_GROW(replay->candidates, index, replay->capacity);
		if (index == known)
			replay->candidates[index] = (struct recorded){.problem = problem};
		replace(remeasured ? &replay->candidates[index].remeasured
				   : &replay->candidates[index].searched,
			&results[i]);
	}
}

static void add_run(struct replay *replay, const struct journal_run *run)
{
	for (size_t p = 0; p < run->problem_count; p++) {
		const struct journal_problem *problem = &run->problems[p];

		add_results(replay, problem, problem->results, problem->result_count, false);
		add_results(replay, problem, problem->remeasurements, problem->remeasurement_count,
			true);
	}
}

static const struct result *first_of(const struct recorded *candidate)
{
	return candidate->searched ? candidate->searched : candidate->remeasured;
}

static bool is_measured(const struct replay *replay)
{
	for (size_t i = 0; i < replay->keys.count; i++) {
		const struct result *searched = replay->candidates[i].searched;

		if (searched && searched->time.count)
			return !searched->predicted;
	}
	return false;
}

/* Returns NULL if the candidate is not recorded. */
static const struct recorded *find(const struct replay *replay, const struct device_job *job)
{
	CLEANUP(memory_free)
	char *key = key_of(
		job->problem->operation, job->problem->text, job->family, job->configuration);
	const size_t found = name_set_has(&replay->keys, key, strlen(key));

	return found ? &replay->candidates[found - 1] : NULL;
}

/* ---- the device that was recorded ---- */
static void override(int64_t *limit, int64_t recorded)
{
	if (recorded > 0)
		*limit = recorded;
}

/* Recorded limits replace those of the sheet. */
static enum status recorded_spec(const struct gpu_model *model,
	const struct device_options *options, struct device_spec **spec, struct error *err)
{
	TRY(gpu_model_spec(model, options->config_folders, spec, err));
	override(&(*spec)->sm_count, model->sm_count);
	override(&(*spec)->l2_bytes, model->l2_bytes);
	override(&(*spec)->dram_bytes, model->dram_bytes);
	return STATUS_OK;
}

/* The UUID contains the last run's id, so that a replay is resumed only with its recording. */
static void identify(struct device_identity *identity, const struct journal_run *run)
{
	string_put(identity->name, sizeof(identity->name), run->device.name);
	string_put(identity->driver, sizeof(identity->driver), run->run.driver);
	string_put(identity->mig, sizeof(identity->mig), run->run.mig);
	identity->anchor_us = run->run.anchor_us;
	snprintf(identity->uuid, sizeof(identity->uuid), "replay-%s", run->run.id);
}

/* Adds keys that the operation gained after the recording. */
static void complete_problems(struct journal_run *run, const struct catalogue *catalogue)
{
	for (size_t p = 0; p < run->problem_count; p++) {
		const struct operation *operation;

		if (catalogue_operation(catalogue, run->problems[p].operation, &operation, NULL) ==
			STATUS_OK)
			problem_text_complete(operation, &run->problems[p].problem);
	}
}

static enum status replay_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct replay *replay = memory_zeroed(1, sizeof(*replay));
	const struct journal_run *last;

	device->state = replay;
	replay->path = string_copy(rest);
	TRY(journal_read(rest, &replay->journal, err));
	if (!replay->journal.run_count)
		return error_set(err, STATUS_BAD_INPUT, "%s: the journal has no run", rest);
	last = &replay->journal.runs[replay->journal.run_count - 1];
	for (size_t r = 0; r < replay->journal.run_count && options->catalogue; r++)
		complete_problems(&replay->journal.runs[r], options->catalogue);
	for (size_t r = 0; r < replay->journal.run_count; r++)
		if (record_equal(&gpu_model_record, &replay->journal.runs[r].device, &last->device))
			add_run(replay, &replay->journal.runs[r]);
	if (recorded_spec(&last->device, options, &device->spec, err) != STATUS_OK)
		return error_context(err, "%s: run %s: $.device", rest, last->run.id);
	identify(&device->identity, last);
	device->kind = is_measured(replay) ? &device_kind_replay : &replay_predicted;
	return STATUS_OK;
}

static void replay_close(struct device *device)
{
	struct replay *replay = device->state;

	if (!replay)
		return;
	free(replay->candidates);
	name_set_release(&replay->keys);
	journal_record_release(&replay->journal);
	free(replay->path);
	free(replay);
}

/* ---- answers ---- */
/* If the journal has only a summary, makes samples with its count, median and confidence interval,
 * in an order without a trend. */
static void take_samples(const struct result *recorded, size_t first, size_t most, double slower,
	struct result *result)
{
	const double golden = 0.6180339887498949;
	const struct summary *time = &recorded->time;
	const size_t known = recorded->sample_count ? recorded->sample_count : time->count;
	const size_t count = known > first ? known - first : 0;
	const double spread_us = (time->ci95_high - time->ci95_low) * sqrt(0.75 * (double)known);

	result->predicted = recorded->predicted;
	result->measured = recorded->measured;
	result->sample_count = count < most ? count : most;
	result->samples_us = memory_zeroed(result->sample_count + 1, sizeof(double));
	for (size_t i = 0; i < result->sample_count; i++) {
		const double made_us =
			time->median +
			(fmod((double)(first + i) * golden + 0.5, 1) - 0.5) * spread_us;

		result->samples_us[i] =
			slower * (recorded->sample_count ? recorded->samples_us[first + i]
							 : fmax(0, made_us));
	}
}

/* Returns the mean ratio of re-measured to searched times; the card is usually warmer in the
 * re-measurement. */
static double slowdown(const struct replay *replay, const struct device_job *jobs, size_t count)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		const struct recorded *candidate = find(replay, &jobs[i]);

		if (!candidate || !candidate->remeasured || !candidate->searched ||
			candidate->remeasured->outcome != OUTCOME_OK ||
			!(candidate->searched->time.median > 0))
			continue;
		sum += log(candidate->remeasured->time.median / candidate->searched->time.median);
		known++;
	}
	return known ? exp(sum / (double)known) : 1;
}

static struct result answer_of(const struct replay *replay, const struct device_job *job,
	const struct sampling *sampling, bool together, double slower)
{
	const bool times = sampling->rounds || sampling->energy_s > 0;
	const struct recorded *candidate = find(replay, job);
	const struct result *first, *timed, *last;
	struct result result = {.outcome = OUTCOME_LAUNCH_FAILED};

	if (!candidate) {
		result.detail = string_format("%s has no recording of it", replay->path);
		return result;
	}
	first = first_of(candidate);
	timed = together && candidate->remeasured ? candidate->remeasured : first;
	last = times && first->outcome == OUTCOME_OK ? timed : first;
	result.outcome = last->outcome;
	result.detail = string_copy(last->detail);
	result.flags = first->flags;
	result.launch_count = first->resources ? first->launch_count : 0;
	result.resources =
		memory_copy(first->resources, result.launch_count * sizeof(*result.resources));
	if (job->verify) {
		result.verification = first->verification;
		result.bits = output_digest_copy(first->bits);
	}
	if (times && result.outcome == OUTCOME_OK)
		take_samples(timed, sampling->rounds_before, together ? sampling->rounds : SIZE_MAX,
			timed == candidate->remeasured ? 1 : slower, &result);
	return result;
}

static enum status replay_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err)
{
	const struct replay *replay = device->state;
	const double slower = count > 1 ? slowdown(replay, jobs, count) : 1;

	(void)err;
	for (size_t i = 0; i < count; i++)
		device_reply_push(device, (struct device_reply){.ticket = jobs[i].ticket,
						  .result = answer_of(replay, &jobs[i], sampling,
							  count > 1, slower)});
	return STATUS_OK;
}

static void replay_recorded(const struct device *device, const char *operation, const char *problem,
	device_recorded_visit *visit, void *context)
{
	const struct replay *replay = device->state;

	for (size_t i = 0; i < replay->keys.count; i++) {
		const struct recorded *candidate = &replay->candidates[i];
		const struct result *result = first_of(candidate);

		if (strcmp(candidate->problem->operation, operation) == 0 &&
			strcmp(candidate->problem->problem, problem) == 0)
			visit(context, result->family, result->configuration);
	}
}

#define REPLAY_CALLS                                                                               \
	.name = "replay", .compiles = false, .open = replay_open, .close = replay_close,           \
	.submit = replay_submit, .recorded = replay_recorded

const struct device_kind device_kind_replay = {REPLAY_CALLS, .measures = true};
static const struct device_kind replay_predicted = {REPLAY_CALLS, .measures = false};
