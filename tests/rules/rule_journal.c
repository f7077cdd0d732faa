/* SPDX-License-Identifier: MIT
 *
 * Contents of journals: their runs, what is resumed, what a report counts, and the answers of a
 * replay.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "device/device.h"
#include "report/report.h"
#include "rules/rules.h"

/* Writes the case's "text" to a file, which the next call overwrites. */
static const char *file_of(const struct json_at *in)
{
	static char *path;
	const char *text = rule_string(in, "text");
	struct error err = {0};

	if (!path)
		path = string_format("%s/rules-%d.jsonl",
			getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	rule_expect(file_write(path, text, strlen(text), &err), &err);
	return path;
}

static struct json *outcomes_of(const struct result *results, size_t count)
{
	struct json *out = json_new_array();

	for (size_t i = 0; i < count; i++) {
		struct json *item = json_new_array();

		json_push(item, json_new_string(results[i].configuration));
		json_push(item, json_new_string(outcome_name(results[i].outcome)));
		json_push(out, item);
	}
	return out;
}

static struct json *run_json(const struct journal_record *record, const struct journal_run *run)
{
	const struct journal_run *previous = journal_previous(record, run);
	const struct journal_run *resumable = journal_resumable(record, run->signature);
	struct json *out = json_new_object(), *problems = json_new_array();

	json_put_string(out, "id", run->run.id);
	json_put_string(out, "previous", previous ? previous->run.id : NULL);
	json_put_string(out, "resumable", resumable ? resumable->run.id : NULL);
	json_put_bool(out, "finished", run->finish != NULL);
	for (size_t i = 0; i < run->problem_count; i++) {
		const struct journal_problem *problem = &run->problems[i];
		struct json *item = json_new_object();

		json_put_string(item, "problem", problem->problem);
		json_put(item, "evaluations", outcomes_of(problem->results, problem->result_count));
		json_put(item, "finals",
			outcomes_of(problem->remeasurements, problem->remeasurement_count));
		json_put_bool(item, "concluded", problem->entry != NULL);
		json_push(problems, item);
	}
	json_put(out, "problems", problems);
	return out;
}

RULE(journal)
{
	struct journal_record record;
	struct json *out = json_new_object(), *runs = json_new_array();
	struct error err = {0};

	if (journal_read(file_of(in), &record, &err) != STATUS_OK) {
		json_put_string(out, "refused", err.message);
		return out;
	}
	for (size_t i = 0; i < record.run_count; i++)
		json_push(runs, run_json(&record, &record.runs[i]));
	json_put(out, "runs", runs);
	json_put_int(out, "bad", (int64_t)record.bad_lines);
	json_put_int(out, "ignored", (int64_t)record.ignored_lines);
	return out;
}

RULE(report)
{
	const char *const paths[] = {file_of(in)}, *const none[] = {NULL};
	const struct report_options options = {
		.paths = paths, .path_count = 1, .template_folders = none};
	struct report report;
	struct json *out = json_new_array();
	struct error err = {0};

	rule_expect(report_open(&options, &report, &err), &err);
	for (size_t i = 0; i < report.entry_count; i++) {
		const struct report_entry *entry = &report.entries[i];
		struct json *item = json_new_object(), *counts = json_new_object();

		json_put_string(item, "run", entry->run->id);
		json_put_string(item, "problem", entry->problem);
		json_put_int(item, "searches", (int64_t)entry->search_count);
		json_put_string(item, "winner", entry->configuration);
		if (entry->winner)
			json_put_double(item, "us", entry->winner->time.median);
		for (int k = 0; k < OUTCOME_COUNT; k++)
			if (entry->outcomes[k])
				json_put_int(counts, outcome_names[k], (int64_t)entry->outcomes[k]);
		json_put(item, "outcomes", counts);
		json_push(out, item);
	}
	report_release(&report);
	return out;
}

/* Returns the answers of a replay to each of a problem's "configurations". */
RULE(replay)
{
	const char *const none[] = {NULL};
	const struct device_options options = {.config_folders = none};
	const struct json_at list = rule_member(in, "configurations");
	struct device_problem problem = {.operation = "gemm", .text = rule_string(in, "problem")};
	const struct sampling sampling = {.rounds = 1};
	CLEANUP(memory_free) char *name = string_format("replay:%s", file_of(in));
	struct json *out = json_new_array();
	struct device *device;
	struct error err = {0};

	rule_expect(device_open(name, &options, &device, &err), &err);
	for (size_t i = 0; i < json_count(&list); i++) {
		const struct json_at item = json_item(&list, i);
		struct device_job job = {
			.ticket = i + 1, .problem = &problem, .family = "gemm/mma"};
		struct device_reply reply;

		rule_expect(json_get_string(&item, &job.configuration, &err), &err);
		rule_expect(device_submit(device, &job, 1, &sampling, &err), &err);
		if (!device_poll(device, 1, &reply))
			exit(2);
		json_push(out, json_new_string(outcome_name(reply.result.outcome)));
		device_reply_release(&reply);
	}
	device_close(device);
	return out;
}
