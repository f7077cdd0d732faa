/* SPDX-License-Identifier: MIT
 *
 * replay:FILE, a device that is a recorded journal (plain or gzip). Nothing is compiled and nothing
 * runs: each candidate meets the outcome and the samples that the journal has for it, at the stage
 * at which it met them then. Times are as good as the recording: a GPU's are measured, a model's
 * predicted. For tests, search research and demonstrations.
 *
 * A request of one job is answered by the samples of the search, one of several jobs
 * by those of the re-measurement, as many as are asked for; more requests of the same series get
 * those that follow, until there are none. A candidate that was not in it is answered by its
 * samples of the search, scaled by the mean slowdown of the others: the card was warmer then.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "device/device.h"
#include "family/catalogue.h"
#include "family/problem.h"
#include "format/journal.h"

/* What became of a candidate, all runs on one device together, the last word counting. */
struct recorded {
	const char *operation, *problem; /* borrowed from the journal, as are the evaluations */
	const struct result *searched;   /* NULL: only its re-measurement is recorded */
	const struct result *remeasured; /* interleaved with others; NULL: none */
	size_t line;                     /* in which order they came */
};

struct replay {
	char *path;
	struct journal_record journal;
	const struct journal_run *run; /* the last: whose device it is */
	struct recorded *candidates;   /* sorted */
	size_t count, capacity;
};

extern const struct device_kind device_kind_replay;
/* As above, for a journal whose times were predicted. */
static const struct device_kind replay_predicted;

/* ---- the recording ---- */
static const struct result *result_of(const struct recorded *candidate)
{
	return candidate->searched ? candidate->searched : candidate->remeasured;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;
	const struct result *p = result_of(x), *q = result_of(y);
	int order = strcmp(x->operation, y->operation);

	if (!order)
		order = strcmp(x->problem, y->problem);
	if (!order)
		order = strcmp(p->family, q->family);
	return order ? order : strcmp(p->configuration, q->configuration);
}

/* qsort is not stable. */
static int compare_lines(const void *a, const void *b)
{
	const struct recorded *x = a, *y = b;
	int order = compare_candidates(x, y);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static void add_line(struct replay *replay, const struct journal_problem *problem,
	const struct result *searched, const struct result *remeasured)
{
	ARRAY_GROW(replay->candidates, replay->count, replay->capacity);
	replay->candidates[replay->count] = (struct recorded){
		problem->operation, problem->problem, searched, remeasured, replay->count};
	replay->count++;
}

static void gather(struct replay *replay)
{
	for (size_t r = 0; r < replay->journal.run_count; r++) {
		const struct journal_run *run = &replay->journal.runs[r];

		if (!record_equal(&gpu_model_record, &run->device, &replay->run->device))
			continue;
		for (size_t p = 0; p < run->problem_count; p++) {
			const struct journal_problem *problem = &run->problems[p];

			for (size_t i = 0; i < problem->result_count; i++)
				add_line(replay, problem, &problem->results[i], NULL);
			for (size_t i = 0; i < problem->remeasurement_count; i++)
				add_line(replay, problem, NULL, &problem->remeasurements[i]);
		}
	}
}

/* A lost device says nothing of the candidate where anything else is known of it. */
static void take(const struct result **known, const struct result *fresh)
{
	if (fresh && (!*known || fresh->outcome != OUTCOME_DEVICE_LOST))
		*known = fresh;
}

/* Sorts the lines, and makes one of those that are of one candidate. */
static void merge(struct replay *replay)
{
	size_t kept = 0;

	if (replay->count)
		qsort(replay->candidates, replay->count, sizeof(*replay->candidates),
			compare_lines);
	for (size_t i = 0; i < replay->count; i++) {
		const struct recorded *line = &replay->candidates[i];
		struct recorded *last = kept ? &replay->candidates[kept - 1] : NULL;

		if (last && compare_candidates(last, line) == 0) {
			take(&last->searched, line->searched);
			take(&last->remeasured, line->remeasured);
		} else {
			replay->candidates[kept++] = *line;
		}
	}
	replay->count = kept;
}

/* Whether times are a clock's. The run says which kind of device it was; a replay of a replay is
 * what its samples are. */
static bool is_measured(const struct replay *replay)
{
	const char *kind = replay->run->run.device_kind;

	if (strcmp(kind, "cuda") == 0 || strcmp(kind, "model") == 0)
		return strcmp(kind, "cuda") == 0;
	for (size_t i = 0; i < replay->count; i++) {
		const struct result *result = result_of(&replay->candidates[i]);

		if (result->sample_count)
			return !result->predicted;
	}
	return false;
}

/* NULL: not recorded. */
static const struct recorded *find(const struct replay *replay, const struct device_job *job)
{
	const struct result key = {.family = (char *)(uintptr_t)job->family,
		.configuration = (char *)(uintptr_t)job->configuration};
	const struct recorded wanted = {.operation = job->problem->operation,
		.problem = job->problem->text,
		.searched = &key};

	return replay->count ? bsearch(&wanted, replay->candidates, replay->count, sizeof(wanted),
				       compare_candidates)
			     : NULL;
}

/* ---- the device that it is of ---- */
static void override(int64_t *limit, int64_t recorded)
{
	if (recorded > 0)
		*limit = recorded;
}

/* Of a GPU with a sheet also the limits that it had then. */
static enum status recorded_spec(const struct gpu_model *model,
	const struct device_options *options, struct device_spec **spec, struct error *err)
{
	TRY(gpu_model_spec(model, options->config_folders, spec, err));
	override(&(*spec)->sm_count, model->sm_count);
	override(&(*spec)->l2_bytes, model->l2_bytes);
	override(&(*spec)->dram_bytes, model->dram_bytes);
	return STATUS_OK;
}

/* Which recording it is, so that a resumed replay is one of the same file. */
static void identify(struct device *device, const struct journal_run *run)
{
	struct replay *replay = device->state;
	struct device_identity *identity = &device->identity;
	struct hash *hash = hash_new();
	CLEANUP(text_release) struct text content = {0};
	char digits[HASH_SIZE];

	string_put(identity->name, sizeof(identity->name), run->device.name);
	if (run->run.driver)
		string_put(identity->driver, sizeof(identity->driver), run->run.driver);
	if (run->run.mig)
		string_put(identity->mig, sizeof(identity->mig), run->run.mig);
	identity->anchor_us = run->run.anchor_us;
	if (file_read(replay->path, &content, NULL) == STATUS_OK)
		hash_add(hash, text_string(&content), content.length);
	hash_finish(hash, digits);
	snprintf(identity->uuid, sizeof(identity->uuid), "replay-%s", digits);
}

static void complete_problems(struct journal_record *journal, const struct catalogue *catalogue)
{
	const struct operation *operation;

	for (size_t r = 0; catalogue && r < journal->run_count; r++)
		for (size_t p = 0; p < journal->runs[r].problem_count; p++) {
			struct journal_problem *problem = &journal->runs[r].problems[p];

			if (catalogue_operation(catalogue, problem->operation, &operation, NULL) ==
				STATUS_OK)
				problem_text_complete(operation, &problem->problem);
		}
}

static enum status replay_open(struct device *device, const char *rest,
	const struct device_options *options, struct error *err)
{
	struct replay *replay = memory_zeroed(1, sizeof(*replay));

	device->state = replay;
	if (!rest[0]) {
		error_set(err, STATUS_BAD_INPUT,
			"device replay: expected a journal after the colon, found nothing");
		return error_hint(err, "--device replay:tuned.journal.jsonl");
	}
	replay->path = string_copy(rest);
	TRY(journal_read(rest, &replay->journal, err));
	if (!replay->journal.run_count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a journal with a run in it, found none", rest);
	replay->run = &replay->journal.runs[replay->journal.run_count - 1];
	complete_problems(&replay->journal, options->catalogue);
	gather(replay);
	merge(replay);
	if (recorded_spec(&replay->run->device, options, &device->spec, err) != STATUS_OK)
		return error_context(err, "%s: run %s: $.device", rest, replay->run->run.id);
	identify(device, replay->run);
	device->kind = is_measured(replay) ? &device_kind_replay : &replay_predicted;
	return STATUS_OK;
}

static void replay_close(struct device *device)
{
	struct replay *replay = device->state;

	if (!replay)
		return;
	free(replay->candidates);
	journal_record_release(&replay->journal);
	free(replay->path);
	free(replay);
}

enum stage {
	STAGE_LOADED,
	STAGE_VERIFIED,
	STAGE_SAMPLED,
};

/* The stage at which a candidate with this outcome was found out. */
static enum stage stage_of(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_PRUNED_BY_MODEL:
	case OUTCOME_COMPILE_FAILED:
	case OUTCOME_COMPILE_CRASHED:
	case OUTCOME_COMPILE_TIMEOUT:
	case OUTCOME_LAUNCH_FAILED:
	case OUTCOME_OUT_OF_MEMORY:
		return STAGE_LOADED;
	case OUTCOME_CRASHED:
	case OUTCOME_TIMED_OUT:
	case OUTCOME_WRONG_RESULT:
	case OUTCOME_OUT_OF_BOUNDS:
	case OUTCOME_NONDETERMINISTIC:
	case OUTCOME_OTHER_BITS:
		return STAGE_VERIFIED;
	default:
		return STAGE_SAMPLED;
	}
}

/* The samples; where the journal has their summary only, as many values around the same median as
 * are known as well, in an order without a trend. */
static double *samples_of(const struct result *result, size_t *count)
{
	const double golden = 0.6180339887498949;
	const struct summary *time = &result->time;
	double *samples_us, spread_us;

	*count = result->sample_count;
	if (*count)
		return memory_copy(result->samples_us, *count * sizeof(*samples_us));
	*count = time->count;
	samples_us = memory_zeroed(*count, sizeof(*samples_us));
	spread_us = (time->ci95_high - time->ci95_low) * sqrt(0.75 * (double)*count);
	for (size_t i = 0; i < *count; i++)
		samples_us[i] = fmax(
			0, time->median + (fmod((double)i * golden + 0.5, 1) - 0.5) * spread_us);
	return samples_us;
}

/* Adds to the reply what was recorded at this stage, unless an earlier stage failed. */
static void add_stage(const struct result *recorded, enum stage stage, struct result *reply)
{
	if (reply->outcome != OUTCOME_OK)
		return;
	if (stage_of(recorded->outcome) == stage && recorded->outcome != OUTCOME_OK) {
		reply->outcome = recorded->outcome;
		reply->detail = string_copy(recorded->detail);
	}
	if (stage == STAGE_LOADED) {
		reply->flags = recorded->flags;
		reply->launch_count = recorded->resources ? recorded->launch_count : 0;
		reply->resources = memory_copy(
			recorded->resources, reply->launch_count * sizeof(*reply->resources));
	}
	if (stage == STAGE_VERIFIED) {
		reply->verification = recorded->verification;
		reply->bits = bits_copy(recorded->bits);
	}
	if (stage == STAGE_SAMPLED)
		reply->measured = recorded->measured;
	if (stage == STAGE_SAMPLED && recorded->time.count) {
		reply->predicted = recorded->predicted;
		reply->samples_us = samples_of(recorded, &reply->sample_count);
	}
}

/* Leaves `most` of the samples from `first` on, `longer` times as long. */
static void keep_samples(struct result *reply, size_t first, size_t most, double longer)
{
	reply->sample_count = reply->sample_count > first ? reply->sample_count - first : 0;
	reply->sample_count = reply->sample_count < most ? reply->sample_count : most;
	for (size_t i = 0; i < reply->sample_count; i++)
		reply->samples_us[i] = reply->samples_us[first + i] * longer;
}

/* How much longer re-measured times were than those of the search, among these: geometric mean. */
static double warming(const struct replay *replay, const struct device_job *jobs, size_t count)
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

static enum status replay_submit(struct device *device, const struct device_job *jobs, size_t count,
	const struct sampling *sampling, struct error *err)
{
	const struct replay *replay = device->state;
	const bool together = count > 1, times = sampling->rounds || sampling->energy_s > 0;
	const double warmer = together ? warming(replay, jobs, count) : 1;

	(void)err;
	for (size_t i = 0; i < count; i++) {
		const struct recorded *candidate = find(replay, &jobs[i]);
		struct device_reply reply = {.ticket = jobs[i].ticket};
		struct result *result = &reply.result;

		if (!candidate) {
			result->outcome = OUTCOME_LAUNCH_FAILED;
			result->detail = string_format("not recorded in %s", replay->path);
			device_reply_push(device, reply);
			continue;
		}
		add_stage(result_of(candidate), STAGE_LOADED, result);
		if (jobs[i].verify)
			add_stage(result_of(candidate), STAGE_VERIFIED, result);
		if (times && result->outcome == OUTCOME_OK) {
			const bool again = together && candidate->remeasured;

			add_stage(again ? candidate->remeasured : result_of(candidate),
				STAGE_SAMPLED, result);
			keep_samples(result,
				together || !sampling->rounds_before ? sampling->rounds_before
								     : SIZE_MAX,
				together ? sampling->rounds : SIZE_MAX,
				again || !candidate->searched ? 1 : warmer);
		}
		device_reply_push(device, reply);
	}
	return STATUS_OK;
}

static void replay_recorded(const struct device *device, const char *operation, const char *problem,
	device_recorded_visit *visit, void *context)
{
	const struct replay *replay = device->state;

	for (size_t i = 0; i < replay->count; i++) {
		const struct recorded *candidate = &replay->candidates[i];

		if (strcmp(candidate->operation, operation) == 0 &&
			strcmp(candidate->problem, problem) == 0)
			visit(context, result_of(candidate)->family,
				result_of(candidate)->configuration);
	}
}

#define REPLAY_CALLS                                                                               \
	.name = "replay", .compiles = false, .open = replay_open, .close = replay_close,           \
	.submit = replay_submit, .recorded = replay_recorded

const struct device_kind device_kind_replay = {REPLAY_CALLS, .measures = true};
static const struct device_kind replay_predicted = {REPLAY_CALLS, .measures = false};
