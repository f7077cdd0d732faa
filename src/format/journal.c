/* SPDX-License-Identifier: MIT */
#include "format/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record_read.h"
#include "format/journal_line.h"

static const char run_line_start[] = "{\"event\":\"run\"";

/* ---- writing ---- */
struct journal {
	int fd;
	char *path;
	char *run_id;
	bool regular; /* false: a pipe or a device, which cannot be locked or truncated */
	bool failed;
};

static enum status refuse_gzip(int fd, const char *path, struct error *err)
{
	unsigned char magic[2];

	if (pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: cannot append to a compressed journal; decompress it with gunzip",
			path);
	return STATUS_OK;
}

/* The caller must hold the lock, because a line that another process is writing looks torn. */
static enum status end_torn_line(int fd, off_t size, struct error *err)
{
	char last;

	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n'
		       ? file_write_all(fd, "\n", 1, err)
		       : STATUS_OK;
}

enum status journal_open(const char *path, struct journal **journal, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(path);
	struct stat info;
	enum status status;
	int fd;

	*journal = NULL;
	if (directory_make(folder, err) != STATUS_OK || (fd = file_open_append(path, err)) < 0)
		return error_context(err, "journal");
	status = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? refuse_gzip(fd, path, err)
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

/* Each append locks the file. A run that is alive locks one byte far beyond the file's end. */
static const off_t runs_begin = (off_t)1 << 40;

static short lock_part(const struct journal *journal, int command, short type, const char *of_run)
{
	const uint64_t hash = of_run ? hash_bytes(of_run, strlen(of_run), 0) : 0;
	struct flock lock = {.l_type = type,
		.l_start = of_run ? runs_begin + (off_t)(hash >> 24) : 0,
		.l_len = of_run ? 1 : runs_begin};

	while (journal->regular && fcntl(journal->fd, command, &lock) != 0 && errno == EINTR)
		continue;
	return lock.l_type;
}

bool journal_run_lives(const char *path, const char *run_id)
{
	const struct journal journal = {.fd = open(path, O_RDONLY | O_CLOEXEC), .regular = true};
	const short found = lock_part(&journal, F_OFD_GETLK, F_RDLCK, run_id);

	close(journal.fd);
	return found == F_WRLCK;
}

enum status journal_write(
	struct journal *journal, const char *event, struct json *line, struct error *err)
{
	CLEANUP(json_release) struct json *members = line;
	CLEANUP(text_release) struct text text = {0};
	struct json_at at = json_root(members, journal->path), id;
	const char *run_id;
	enum status status;
	off_t before;

	if (journal->failed)
		return error_set(err, STATUS_FAILED,
			"journal %s: an earlier write failed, so nothing more is written",
			journal->path);
	if (strcmp(event, "run") == 0 && json_find(&at, "id", &id) &&
		json_get_string(&id, &run_id, NULL) == STATUS_OK) {
		journal_line_put(event, members, NULL, &text);
		free(journal->run_id);
		journal->run_id = string_copy(run_id);
		lock_part(journal, F_OFD_SETLK, F_WRLCK, run_id);
	} else {
		journal_line_put(event, members, journal->run_id, &text);
	}
	lock_part(journal, F_OFD_SETLKW, F_WRLCK, NULL);
	before = journal->regular ? lseek(journal->fd, 0, SEEK_END) : 0;
	status = journal->regular ? end_torn_line(journal->fd, before, err) : STATUS_OK;
	if (status == STATUS_OK)
		status = file_write_all(journal->fd, text.data, text.length, err);
	if (status != STATUS_OK) {
		journal->failed = true;
		if (journal->regular && ftruncate(journal->fd, before) != 0)
			error_context(err, "the last line is incomplete");
		error_context(err, "journal %s", journal->path);
		error_hint(err, "earlier lines are intact; run the command again to resume");
	}
	lock_part(journal, F_OFD_SETLKW, F_UNLCK, NULL);
	return status;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	fdatasync(journal->fd);
	close(journal->fd);
	free(journal->path);
	free(journal->run_id);
	free(journal);
}

/* ---- reading ---- */
enum journal_use {
	JOURNAL_KEEP,
	JOURNAL_CHECK, /* keep only what later lines refer to */
	JOURNAL_FORM   /* check each line by itself, without its checksum */
};

struct journal_reader {
	struct journal_record *record;
	enum journal_use use;
	struct journal_run *run;
	bool is_invalid; /* a line has wrong members */
	char where[512];
};

static void problem_release(struct journal_problem *problem)
{
	for (size_t i = 0; i < problem->result_count; i++)
		result_release(&problem->results[i]);
	for (size_t i = 0; i < problem->remeasurement_count; i++)
		result_release(&problem->remeasurements[i]);
	free(problem->results);
	free(problem->remeasurements);
	record_release(&journal_problem_record, problem);
	json_free(problem->line);
	if (problem->entry)
		tuned_entry_release(problem->entry);
	free(problem->entry);
}

static void run_line_release(struct journal_run *run)
{
	for (size_t i = 0; i < run->problem_count; i++)
		problem_release(&run->problems[i]);
	free(run->problems);
	record_release(&journal_run_record, run);
	json_free(run->finish);
	json_free(run->line);
}

static enum status read_run(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_record *record = reader->record;
	struct journal_run run = {0};

	TRY(record_from_json(&journal_run_record, at, &run, NULL, err));
	run.line = json_copy(at->node);
	ARRAY_GROW(record->runs, record->run_count, record->run_capacity);
	record->runs[record->run_count++] = run;
	return STATUS_OK;
}

static enum status read_problem(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_run *run = reader->run;
	struct journal_problem problem = {0};

	TRY(record_from_json(&journal_problem_record, at, &problem, NULL, err));
	problem.line = json_copy(at->node);
	ARRAY_GROW(run->problems, run->problem_count, run->problem_capacity);
	run->problems[run->problem_count++] = problem;
	return STATUS_OK;
}

static enum status find_problem(struct journal_reader *reader, const struct json_at *at,
	int64_t number, struct journal_problem **problem, struct error *err)
{
	struct journal_run *run = reader->run;
	struct json_at number_at;

	for (size_t i = run->problem_count; i-- > 0;) {
		*problem = &run->problems[i];
		if ((*problem)->number == number)
			return STATUS_OK;
	}
	return json_find(at, "problem", &number_at)
		       ? json_error(&number_at, err, "the number of an earlier problem line")
		       : STATUS_BAD_INPUT;
}

static enum status read_evaluation(
	struct journal_reader *reader, const struct json_at *at, bool remeasured, struct error *err)
{
	CLEANUP(journal_result_release) struct journal_result line = {0};
	struct journal_problem *problem;

	TRY(record_from_json(&journal_result_record, at, &line, NULL, err));
	TRY(find_problem(reader, at, line.problem, &problem, err));
	if (remeasured) {
		ARRAY_GROW(problem->remeasurements, problem->remeasurement_count,
			problem->remeasurement_capacity);
		problem->remeasurements[problem->remeasurement_count++] = line.result;
	} else {
		ARRAY_GROW(problem->results, problem->result_count, problem->result_capacity);
		problem->results[problem->result_count++] = line.result;
	}
	line.result = (struct result){0};
	return STATUS_OK;
}

static enum status read_entry(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	CLEANUP(journal_entry_release) struct journal_entry line = {0};
	struct journal_problem *problem;

	TRY(record_from_json(&journal_entry_record, at, &line, NULL, err));
	TRY(find_problem(reader, at, line.problem, &problem, err));
	if (problem->entry)
		tuned_entry_release(problem->entry);
	else
		problem->entry = memory_zeroed(1, sizeof(*problem->entry));
	*problem->entry = line.entry;
	line.entry = (struct tuned_entry){0};
	return STATUS_OK;
}

static enum status read_finish(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	TRY(record_check(&journal_finish_record, at, err));
	json_free(reader->run->finish);
	reader->run->finish = json_copy(at->node);
	return STATUS_OK;
}

/* A line without a run belongs to the last run above it. */
static enum status find_run(struct journal_reader *reader, const struct json_at *at,
	const char *event, struct error *err)
{
	struct journal_record *record = reader->record;
	const char *id;
	struct json_at named;

	reader->run = record->run_count ? &record->runs[record->run_count - 1] : NULL;
	if (!reader->run)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: an event \"%s\" comes before the first run line", at->file, event);
	if (!json_find(at, "run", &named))
		return STATUS_OK;
	TRY(json_get_string(&named, &id, err));
	for (size_t i = record->run_count; i-- > 0;)
		if (strcmp(record->runs[i].run.id, id) == 0) {
			reader->run = &record->runs[i];
			return STATUS_OK;
		}
	return json_error(&named, err, "the id of an earlier run line");
}

static enum status read_event(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	const char *event;

	TRY(json_member_string(at, "event", &event, err));
	if (strcmp(event, "run") == 0)
		return read_run(reader, at, err);
	TRY(find_run(reader, at, event, err));
	if (strcmp(event, "problem") == 0)
		return read_problem(reader, at, err);
	if (strcmp(event, "evaluation") == 0)
		return read_evaluation(reader, at, false, err);
	if (strcmp(event, "final") == 0)
		return read_evaluation(reader, at, true, err);
	if (strcmp(event, "entry") == 0)
		return read_entry(reader, at, err);
	return strcmp(event, "finish") == 0 ? read_finish(reader, at, err) : STATUS_OK;
}

/* Checks that the run and the problem of a line exist. Keeps only their ids and numbers. */
static enum status check_references(
	struct journal_reader *reader, const struct json_at *at, struct error *err)
{
	struct journal_record *record = reader->record;
	const char *event = json_string_of(at, "event");
	struct journal_problem problem = {0}, *found;
	struct json_at number;

	if (strcmp(event, "run") == 0) {
		ARRAY_GROW(record->runs, record->run_count, record->run_capacity);
		record->runs[record->run_count++] =
			(struct journal_run){.run.id = string_copy(json_string_of(at, "id"))};
		return STATUS_OK;
	}
	TRY(find_run(reader, at, event, err));
	if (strcmp(event, "problem") == 0 && json_find(at, "number", &number)) {
		TRY(json_get_int(&number, &problem.number, err));
		ARRAY_GROW(reader->run->problems, reader->run->problem_count,
			reader->run->problem_capacity);
		reader->run->problems[reader->run->problem_count++] = problem;
	} else if (json_find(at, "problem", &number) && json_is_int(&number)) {
		TRY(json_get_int(&number, &problem.number, err));
		return find_problem(reader, at, problem.number, &found, err);
	}
	return STATUS_OK;
}

/* *whole tells whether the line is undamaged. Wrong members are reported before a wrong checksum.
 */
static enum status journal_read_line(struct journal_reader *reader, const struct file_lines *lines,
	bool *whole, struct error *err)
{
	CLEANUP(json_release) struct json *root = NULL;
	struct json_at at;

	*whole = reader->use == JOURNAL_FORM ||
		 journal_line_check(lines->line.data, lines->line.length, reader->where, err) ==
			 STATUS_OK;
	if (!*whole && reader->use == JOURNAL_KEEP)
		return STATUS_BAD_INPUT;
	if (json_parse(lines->line.data, lines->line.length, reader->where, &root,
		    *whole ? err : NULL) != STATUS_OK) {
		*whole = false;
		return reader->use == JOURNAL_FORM ? STATUS_OK : STATUS_BAD_INPUT;
	}
	at = json_root(root, reader->where);
	if (reader->use != JOURNAL_KEEP && journal_form_check(&at, err) != STATUS_OK) {
		*whole = reader->is_invalid = true;
		return STATUS_BAD_INPUT;
	}
	if (!*whole)
		return STATUS_BAD_INPUT;
	return reader->use == JOURNAL_FORM    ? STATUS_OK
	       : reader->use == JOURNAL_CHECK ? check_references(reader, &at, err)
					      : read_event(reader, &at, err);
}

static void skip_line(struct journal_record *record, const struct error *reason, bool is_torn)
{
	if (is_torn)
		record->ignored_lines++;
	else if (!record->bad_lines++)
		record->bad_line = string_copy(reason->message);
}

/* Reads the lines after the first. A killed run's last line may be incomplete; the next run starts
 * a new line. */
static enum status read_lines(
	struct journal_reader *reader, struct file_lines *lines, struct error *err)
{
	struct journal_record *record = reader->record;
	struct error incomplete = {0};
	bool any = true, is_ended = true;

	for (size_t number = 1; any; number++) {
		struct error reason = {0};
		bool whole;

		if (incomplete.message[0])
			skip_line(record, &incomplete,
				string_starts_with(lines->line.data, run_line_start));
		incomplete = (struct error){0};
		snprintf(reader->where, sizeof(reader->where), "%s: line %zu", lines->path, number);
		if (lines->line.length &&
			journal_read_line(reader, lines, &whole, &reason) != STATUS_OK) {
			if (whole)
				skip_line(record, &reason, false);
			else
				incomplete = reason;
		}
		is_ended = lines->is_ended;
		TRY(file_lines_next(lines, &any, err));
	}
	if (incomplete.message[0])
		skip_line(record, &incomplete, !is_ended);
	if (!record->bad_lines || (reader->use == JOURNAL_KEEP && record->run_count))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s", record->bad_line);
	return record->run_count || reader->is_invalid
		       ? STATUS_BAD_INPUT
		       : error_hint(err, "the run line is damaged, and the other lines cannot be "
					 "read without it");
}

enum status journal_read(const char *path, struct journal_record *record, struct error *err)
{
	CLEANUP(file_lines_close) struct file_lines lines = {0};
	struct journal_reader reader = {.record = record};
	enum status status;
	bool any;

	*record = (struct journal_record){0};
	TRY(file_lines_open(path, &lines, err));
	TRY(file_lines_next(&lines, &any, err));
	status = read_lines(&reader, &lines, err);
	if (status != STATUS_OK)
		journal_record_release(record);
	return status;
}

enum status journal_check(struct file_lines *lines, bool form_only, struct error *err)
{
	CLEANUP(journal_record_release) struct journal_record record = {0};
	struct journal_reader reader = {
		.record = &record, .use = form_only ? JOURNAL_FORM : JOURNAL_CHECK};

	return read_lines(&reader, lines, err);
}

char *journal_notice(const struct journal_record *record)
{
	if (!record->bad_lines)
		return NULL;
	return string_format("%zu damaged line%s skipped%s%s", record->bad_lines,
		record->bad_lines == 1 ? " is" : "s are",
		record->bad_lines == 1 ? ": " : ", the first: ", record->bad_line);
}

void journal_record_release(struct journal_record *record)
{
	for (size_t i = 0; i < record->run_count; i++)
		run_line_release(&record->runs[i]);
	free(record->runs);
	free(record->bad_line);
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
