/* SPDX-License-Identifier: MIT */
#include "format/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_read.h"
#include "format/journal_line.h"
#include "format/journal_table.h"

/* ---- writing ---- */
struct journal {
	int fd;
	char *path;
	bool regular; /* else a pipe or a device: nothing to repair or truncate */
	bool failed;  /* a line could not be written */
};

/* Ends a torn line, so that the next one stands alone. Refuses gzip. */
static enum status repair_tail(int fd, const char *path, struct error *err)
{
	unsigned char magic[2];
	struct stat info;
	char last;

	if (fstat(fd, &info) != 0 || info.st_size == 0)
		return STATUS_OK;
	if (pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a plain journal to append to, found a compressed one", path);
	if (pread(fd, &last, 1, info.st_size - 1) == 1 && last != '\n')
		return file_write_all(fd, "\n", 1, err);
	return STATUS_OK;
}

enum status journal_open(const char *path, struct journal **journal, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(path);
	struct stat info;
	enum status status;
	int fd;

	*journal = NULL;
	if (directory_make(folder, err) != STATUS_OK)
		return error_context(err, "journal %s", path);
	fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		return error_set(
			err, STATUS_BAD_INPUT, "journal %s: opening: %s", path, strerror(errno));
	status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? repair_tail(fd, path, err)
								: STATUS_OK;
	if (status != STATUS_OK) {
		close(fd);
		return status;
	}
	*journal = memory_zeroed(1, sizeof(**journal));
	**journal = (struct journal){
		.fd = fd, .path = string_copy(path), .regular = S_ISREG(info.st_mode)};
	return STATUS_OK;
}

enum status journal_write(
	struct journal *journal, const char *event, struct json *line, struct error *err)
{
	CLEANUP(json_release) struct json *members = line, *whole = json_new_object();
	CLEANUP(text_release) struct text text = {0};
	struct json_at at = json_root(members, journal->path), member = {0};
	off_t before = journal->regular ? lseek(journal->fd, 0, SEEK_END) : 0;

	if (journal->failed)
		return error_set(err, STATUS_FAILED,
			"journal %s: nothing more is written after a failure", journal->path);
	json_put_string(whole, "event", event);
	while (json_next(&at, &member))
		json_put(whole, member.key, json_copy(member.node));
	json_append(whole, false, &text);
	if (file_write_all(journal->fd, text.data, text.length, err) == STATUS_OK)
		return STATUS_OK;
	journal->failed = true;
	/* half a line on a full disk: take it back, the rest stays readable either way */
	if (journal->regular && ftruncate(journal->fd, before) != 0)
		error_context(err, "a torn last line is left");
	error_context(err, "journal %s", journal->path);
	return error_hint(err, "what was written before is intact; run again to resume");
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	fdatasync(journal->fd);
	close(journal->fd);
	free(journal->path);
	free(journal);
}

/* ---- reading ---- */
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
	struct journal_run *run;

	ARRAY_GROW(record->runs, record->run_count, record->run_capacity);
	run = &record->runs[record->run_count++];
	*run = (struct journal_run){.line = json_copy(at->node)};
	return record_from_json(&journal_run_record, at, run, NULL, err);
}

static enum status read_problem(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_run *run = last_run(reader);
	struct journal_problem *problem;

	ARRAY_GROW(run->problems, run->problem_count, run->problem_capacity);
	problem = &run->problems[run->problem_count++];
	*problem = (struct journal_problem){.line = json_copy(at->node)};
	return record_from_json(&journal_problem_record, at, problem, NULL, err);
}

/* The problem that a line names. */
static enum status find_problem(struct reader *reader, const struct json_at *at, int64_t number,
	struct journal_problem **problem, struct error *err)
{
	struct journal_run *run = last_run(reader);
	struct json_at number_at;

	for (size_t i = 0; i < run->problem_count; i++) {
		*problem = &run->problems[i];
		if ((*problem)->number == number)
			return STATUS_OK;
	}
	return json_find(at, "problem", &number_at)
		       ? json_error(&number_at, err, "the number of a problem line above")
		       : STATUS_BAD_INPUT;
}

static enum status read_evaluation(
	struct reader *reader, const struct json_at *at, bool remeasured, struct error *err)
{
	struct journal_evaluation line = {0};
	struct journal_problem *problem;

	TRY(record_from_json(&journal_evaluation_record, at, &line, NULL, err));
	if (find_problem(reader, at, line.problem, &problem, err) != STATUS_OK) {
		evaluation_release(&line.evaluation);
		return STATUS_BAD_INPUT;
	}
	if (remeasured) {
		ARRAY_GROW(problem->remeasurements, problem->remeasurement_count,
			problem->remeasurement_capacity);
		problem->remeasurements[problem->remeasurement_count++] = line.evaluation;
	} else {
		ARRAY_GROW(problem->evaluations, problem->evaluation_count,
			problem->evaluation_capacity);
		problem->evaluations[problem->evaluation_count++] = line.evaluation;
	}
	return STATUS_OK;
}

static void table_release(struct journal_table *table)
{
	record_release(&journal_table_record, table);
}

/* The same in the compact form. */
static enum status read_table(struct reader *reader, const struct json_at *at, struct error *err)
{
	CLEANUP(table_release) struct journal_table table = {0};
	struct journal_problem *problem;

	TRY(record_from_json(&journal_table_record, at, &table, NULL, err));
	TRY(find_problem(reader, at, table.problem, &problem, err));
	if (table.remeasured)
		return journal_table_read(at, &table, &problem->remeasurements,
			&problem->remeasurement_count, &problem->remeasurement_capacity, err);
	return journal_table_read(at, &table, &problem->evaluations, &problem->evaluation_count,
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
	struct journal_entry line = {0};
	struct journal_problem *problem;

	TRY(record_from_json(&journal_entry_record, at, &line, NULL, err));
	if (find_problem(reader, at, line.problem, &problem, err) != STATUS_OK) {
		tuned_entry_release(&line.entry);
		return STATUS_BAD_INPUT;
	}
	if (problem->entry)
		tuned_entry_release(problem->entry);
	else
		problem->entry = memory_zeroed(1, sizeof(*problem->entry));
	*problem->entry = line.entry;
	return STATUS_OK;
}

static enum status read_finish(struct reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_finish line = {0};

	TRY(record_from_json(&journal_finish_record, at, &line, NULL, err));
	record_release(&journal_finish_record, &line);
	json_free(last_run(reader)->finish);
	last_run(reader)->finish = json_copy(at->node);
	return STATUS_OK;
}

static enum status read_event(struct reader *reader, const struct json_at *at, struct error *err)
{
	const char *event;

	TRY(json_member_string(at, "event", &event, err));
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
	return strcmp(event, "finish") == 0 ? read_finish(reader, at, err) : STATUS_OK;
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
	record_release(&journal_problem_record, problem);
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
		record_release(&journal_run_record, run);
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
		if (strcmp(record->runs[i].run.id, run->resumes) == 0)
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
