/* SPDX-License-Identifier: MIT
 *
 * A tuning session over a recorded journal, which writes a journal and a tuned file as `tiletune
 * tune` does.
 */
#ifndef TESTS_UNIT_SESSION_FIXTURE_H
#define TESTS_UNIT_SESSION_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "tune/run.h"
#include "unit/unit.h"

#define REPLAY_DATA TEST_DATA "/replay/"

struct session_fixture {
	struct context context;
	struct problem_list problems;
	char folder[512]; /* scratch */
	char *journal;    /* path inside the folder */
};

/* The results of a run. */
struct session_outcome {
	enum status status;
	char *winners;             /* "family{configuration};" of each entry of the tuned file */
	double winner_us;          /* time of the first entry's winner */
	size_t problems;           /* problems concluded in this run */
	size_t taken;              /* problems reused from an earlier run */
	size_t evaluated, resumed; /* counts over the problems concluded in this run */
	size_t outcomes[OUTCOME_COUNT];
	size_t of_family[2]; /* evaluations of each of the first two families */
	double budget_s;     /* budget of a problem that progress reports */
};

struct session_request {
	const char *effort;   /* NULL: exhaustive */
	const char *strategy; /* NULL selects the effort's strategy */
	size_t evaluations;   /* 0 for all */
	uint64_t seed;
	const char *where;
	size_t interrupt_after; /* number of evaluations; 0 for never */
	bool journal;           /* write a journal, and resume from its content */
	double budget_s;        /* 0 selects the effort's budget */
};

static void session_fixture_open(struct session_fixture *fixture, const char *recording,
	const char *operation, const char *problems)
{
	static const char *const roots[] = {TEST_DATA "/replay", ".", NULL};
	struct error err = {0};
	char *device = string_format("replay:%s", recording);
	struct context_options options = {
		.roots = roots, .operation = operation, .device = device, .machine.seed = 1};
	const struct operation *found;

	*fixture = (struct session_fixture){.folder = TEST_SCRATCH "/tiletune-session-XXXXXX"};
	assert_non_null(mkdtemp(fixture->folder));
	fixture->journal = path_join(fixture->folder, "journal.jsonl");
	assert_ok(context_open(&options, &fixture->context, &err));
	free(device);
	assert_ok(catalogue_operation(&fixture->context.catalogue, operation, &found, &err));
	assert_ok(problem_parse(found, problems, &fixture->problems, &err));
}

static void session_fixture_close(struct session_fixture *fixture)
{
	problem_list_release(&fixture->problems);
	context_release(&fixture->context);
	unlink(fixture->journal);
	rmdir(fixture->folder);
	free(fixture->journal);
}

/* ---- observer ---- */
struct session_watch {
	struct session_outcome *outcome;
	size_t interrupt_after;
	volatile sig_atomic_t interrupted;
};

static void session_watch_progress(void *context, const struct tune_progress *progress)
{
	struct session_watch *watch = context;

	watch->outcome->budget_s = progress->seconds + progress->seconds_left;
	if (watch->interrupt_after && progress->evaluated >= watch->interrupt_after)
		watch->interrupted = 1;
}

static void session_watch_end(void *context, const struct problem_result *result)
{
	struct session_outcome *outcome = ((struct session_watch *)context)->outcome;

	outcome->problems++;
	outcome->evaluated += result->evaluated->count;
	outcome->resumed += result->resumed;
	for (int i = 0; i < OUTCOME_COUNT; i++)
		outcome->outcomes[i] += result->outcomes[i];
	for (size_t i = 0; i < result->evaluated->count; i++) {
		size_t family = result->pool->family_of[result->evaluated->items[i].candidate];

		if (family < ARRAY_COUNT(outcome->of_family))
			outcome->of_family[family]++;
	}
}

static void session_watch_taken(void *context, const struct problem *problem, size_t number,
	size_t count, const struct tuned_entry *entry)
{
	(void)problem, (void)number, (void)count, (void)entry;
	((struct session_watch *)context)->outcome->taken++;
}

static void session_read_winners(const struct tuned *tuned, struct session_outcome *outcome)
{
	struct text text = {0};

	for (size_t i = 0; i < tuned->entry_count; i++) {
		const struct tuned_row *winner = &tuned->entries[i].winner;

		struct json *json = named_values_to_json(&winner->configuration);
		char *printed = json_print(json, false);

		text_appendf(&text, "%s%s;", winner->result.family, printed);
		free(printed);
		json_free(json);
		if (i == 0)
			outcome->winner_us = winner->result.time.median;
	}
	outcome->winners = text_detach(&text);
}

/* Runs the loop; the caller frees outcome.winners. */
static inline struct session_outcome session_fixture_run(
	struct session_fixture *fixture, const struct session_request *request)
{
	struct session_outcome outcome = {0};
	struct session_watch watch = {
		.outcome = &outcome, .interrupt_after = request->interrupt_after};
	struct effort effort = *effort_find(request->effort ? request->effort : "exhaustive");
	struct journal_record record = {0};
	struct tuned tuned = {0};
	struct error err = {0};
	static unsigned runs;
	char id[32];
	struct tune_options options = {.effort = &effort,
		.budget_s = request->budget_s,
		.candidates = {.where = request->where, .score = true},
		.strategy = request->strategy,
		.seed = request->seed ? request->seed : 1,
		.interrupted = &watch.interrupted,
		.observer = {.context = &watch,
			.progress = session_watch_progress,
			.end = session_watch_end,
			.taken = session_watch_taken}};
	struct tune_run run = {.options = &options,
		.context = &fixture->context,
		.problems = &fixture->problems,
		.tuned = &tuned,
		.run_id = id};

	snprintf(id, sizeof(id), "run-%u", ++runs);
	if (request->evaluations)
		effort.evaluations = request->evaluations;
	tuned_init(&tuned, "tuned", gpu_model_of(fixture->context.device->spec, "Test GPU"));
	if (request->journal) {
		struct json *line = json_new_object(), *program = json_new_object();

		if (file_exists(fixture->journal))
			assert_ok(journal_read(fixture->journal, &record, &err));
		options.record = &record;
		options.resume = journal_resumable(&record, "signature");
		assert_ok(journal_open(fixture->journal, &run.journal, &err));
		json_put_string(program, "version", "1");
		json_put_string(line, "format", "tiletune.journal/1");
		json_put_string(line, "id", id);
		json_put_string(line, "date", "2026-01-01");
		json_put(line, "tiletune", program);
		json_put_string(line, "device_kind", "replay");
		json_put(line, "device", gpu_model_json(fixture->context.device->spec, "Test GPU"));
		json_put_string(line, "signature", "signature");
		json_put_string(line, "resumes", options.resume ? options.resume->run.id : NULL);
		assert_ok(journal_write(run.journal, "run", line, &err));
	}
	outcome.status = tune_problems(&run, &err);
	if (outcome.status != STATUS_OK && outcome.status != STATUS_INTERRUPTED)
		fail_msg("session: %s", err.message);
	if (run.journal && outcome.status == STATUS_OK) {
		struct json *line = json_new_object();

		json_put_string(line, "run", id);
		json_put_int(line, "status", 0);
		assert_ok(journal_write(run.journal, "finish", line, &err));
	}
	session_read_winners(&tuned, &outcome);
	journal_close(run.journal);
	journal_record_release(&record);
	tuned_release(&tuned);
	return outcome;
}

#endif
