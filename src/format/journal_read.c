/* SPDX-License-Identifier: MIT
 *
 * The reading half of format/journal.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "format/journal.h"
#include "format/journal_table.h"

struct reader {
	struct journal_record *record;
	char where[512]; /* "path: line N" */
};

static struct journal_run *last_run(const struct reader *reader)
{
	struct journal_record *record = reader->record;

	return record->run_count ? &record->runs[record->run_count - 1] : NULL;
}

static enum status read_run(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_record *record = reader->record;
	const char *id, *signature, *resumes = NULL;
	struct journal_run *run;
	struct json_at member;

	if (json_expect_format(at, "tiletune.journal/1", err) != STATUS_OK ||
		json_member_string(at, "id", &id, err) != STATUS_OK ||
		json_member_string(at, "signature", &signature, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "resumes", &member) && json_type(&member) != JSON_NULL &&
		json_get_string(&member, &resumes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	ARRAY_GROW(record->runs, record->run_count, record->run_capacity);
	run = &record->runs[record->run_count++];
	*run = (struct journal_run){.id = string_copy(id),
		.signature = string_copy(signature),
		.resumes = string_copy(resumes),
		.line = json_copy(at->node)};
	return STATUS_OK;
}

static enum status read_problem(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_run *run = last_run(reader);
	const char *operation, *text;
	int64_t number;

	if (json_member_int(at, "number", &number, err) != STATUS_OK ||
		json_member_string(at, "operation", &operation, err) != STATUS_OK ||
		json_member_string(at, "text", &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	ARRAY_GROW(run->problems, run->problem_count, run->problem_capacity);
	run->problems[run->problem_count++] = (struct journal_problem){.number = number,
		.operation = string_copy(operation),
		.problem = string_copy(text),
		.line = json_copy(at->node)};
	return STATUS_OK;
}

/* The problem that a line names. */
static enum status find_problem(struct reader *reader, const struct json_at *at,
	struct journal_problem **problem, struct error *err)
{
	struct journal_run *run = last_run(reader);
	struct json_at number_at;
	int64_t number;

	if (json_member(at, "problem", &number_at, err) != STATUS_OK ||
		json_get_int(&number_at, &number, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < run->problem_count; i++) {
		*problem = &run->problems[i];
		if ((*problem)->number == number)
			return STATUS_OK;
	}
	return json_error(&number_at, err, "the number of a problem line above");
}

static enum status read_evaluation(
	struct reader *reader, const struct json_at *at, bool final, struct error *err)
{
	struct journal_problem *problem;
	struct evaluation evaluation = {0};

	if (find_problem(reader, at, &problem, err) != STATUS_OK ||
		record_from_json(&evaluation_record, at, &evaluation, NULL, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (final) {
		ARRAY_GROW(problem->remeasurements, problem->remeasurement_count,
			problem->remeasurement_capacity);
		problem->remeasurements[problem->remeasurement_count++] = evaluation;
	} else {
		ARRAY_GROW(problem->evaluations, problem->evaluation_count,
			problem->evaluation_capacity);
		problem->evaluations[problem->evaluation_count++] = evaluation;
	}
	return STATUS_OK;
}

/* The same in the compact form. */
static enum status read_table(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_problem *problem;
	const char *of;

	if (find_problem(reader, at, &problem, err) != STATUS_OK ||
		json_member_string(at, "of", &of, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(of, "final") == 0)
		return journal_table_read(at, &problem->remeasurements,
			&problem->remeasurement_count, &problem->remeasurement_capacity, err);
	return journal_table_read(at, &problem->evaluations, &problem->evaluation_count,
		&problem->evaluation_capacity, err);
}

/* Every place of a list has a row. */
static enum status check_places(
	const char *path, const struct journal_problem *problem, struct error *err)
{
	for (size_t i = 0; i < problem->evaluation_count + problem->remeasurement_count; i++) {
		const bool again = i >= problem->evaluation_count;
		const size_t place = again ? i - problem->evaluation_count : i;

		if (!(again ? problem->remeasurements : problem->evaluations)[place].family)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: problem %" PRId64
				": expected a row for each place, found none "
				"for %zu",
				path, problem->number, place);
	}
	return STATUS_OK;
}

static enum status read_entry(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_problem *problem;
	struct json_at entry;

	if (find_problem(reader, at, &problem, err) != STATUS_OK ||
		json_member(at, "entry", &entry, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!problem->entry)
		problem->entry = memory_zeroed(1, sizeof(*problem->entry));
	tuned_entry_release(problem->entry);
	return record_from_json(&tuned_entry_record, &entry, problem->entry, NULL, err);
}

static enum status read_event(struct reader *reader, const struct json_at *at, struct error *err)
{
	const char *event;

	if (json_member_string(at, "event", &event, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(event, "run") == 0)
		return read_run(reader, at, err);
	if (!last_run(reader))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a run line first, found event \"%s\"", at->file, event);
	if (strcmp(event, "problem") == 0)
		return read_problem(reader, at, err);
	if (strcmp(event, "evaluation") == 0)
		return read_evaluation(reader, at, false, err);
	if (strcmp(event, "final") == 0)
		return read_evaluation(reader, at, true, err);
	if (strcmp(event, "evaluations") == 0)
		return read_table(reader, at, err);
	if (strcmp(event, "entry") == 0)
		return read_entry(reader, at, err);
	if (strcmp(event, "finish") == 0) {
		json_free(last_run(reader)->finish);
		last_run(reader)->finish = json_copy(at->node);
	}
	return STATUS_OK;
}

enum status journal_read(const char *path, struct journal_record *record, struct error *err)
{
	struct reader reader = {.record = record};
	struct text content = {0};
	enum status status;
	size_t number = 0;

	*record = (struct journal_record){0};
	status = file_read(path, &content, err);
	for (size_t at = 0; status == STATUS_OK && at < content.length;) {
		const char *line = content.data + at;
		const char *newline = memchr(line, '\n', content.length - at);
		size_t length = newline ? (size_t)(newline - line) : content.length - at;
		struct json *root = NULL;

		at += length + 1;
		number++;
		if (!length)
			continue;
		snprintf(reader.where, sizeof(reader.where), "%s: line %zu", path, number);
		status = json_parse(line, length, reader.where, &root, err);
		if (status != STATUS_OK) {
			/* a kill tears the last line of a run; the next run began a new one */
			bool torn = !newline || strstr(content.data + at, "\"event\":\"run\"") ==
							content.data + at + 1;

			if (torn) {
				record->ignored_lines++;
				status = STATUS_OK;
			}
			continue;
		}
		struct json_at root_at = json_root(root, reader.where);
		status = read_event(&reader, &root_at, err);
		json_free(root);
	}
	text_release(&content);
	for (size_t r = 0; r < record->run_count; r++)
		for (size_t p = 0; p < record->runs[r].problem_count && status == STATUS_OK; p++)
			status = check_places(path, &record->runs[r].problems[p], err);
	if (status != STATUS_OK)
		journal_record_release(record);
	return status;
}

static void problem_release(struct journal_problem *problem)
{
	for (size_t i = 0; i < problem->evaluation_count; i++)
		evaluation_release(&problem->evaluations[i]);
	for (size_t i = 0; i < problem->remeasurement_count; i++)
		evaluation_release(&problem->remeasurements[i]);
	free(problem->evaluations);
	free(problem->remeasurements);
	free(problem->operation);
	free(problem->problem);
	json_free(problem->line);
	if (problem->entry)
		tuned_entry_release(problem->entry);
	free(problem->entry);
}

void journal_record_release(struct journal_record *record)
{
	for (size_t i = 0; i < record->run_count; i++) {
		struct journal_run *run = &record->runs[i];

		for (size_t k = 0; k < run->problem_count; k++)
			problem_release(&run->problems[k]);
		free(run->problems);
		free(run->id);
		free(run->signature);
		free(run->resumes);
		json_free(run->finish);
		json_free(run->line);
	}
	free(record->runs);
	*record = (struct journal_record){0};
}

const struct journal_run *journal_resumable(
	const struct journal_record *record, const char *signature)
{
	for (size_t i = record->run_count; i-- > 0;)
		if (strcmp(record->runs[i].signature, signature) == 0)
			return record->runs[i].finish ? NULL : &record->runs[i];
	return NULL;
}

const struct journal_run *journal_previous(
	const struct journal_record *record, const struct journal_run *run)
{
	for (size_t i = (size_t)(run - record->runs); run->resumes && i-- > 0;)
		if (strcmp(record->runs[i].id, run->resumes) == 0)
			return &record->runs[i];
	return NULL;
}

const struct journal_problem *journal_problem_find(
	const struct journal_run *run, const char *operation, const char *problem)
{
	for (size_t i = 0; i < run->problem_count; i++)
		if (strcmp(run->problems[i].operation, operation) == 0 &&
			strcmp(run->problems[i].problem, problem) == 0)
			return &run->problems[i];
	return NULL;
}
