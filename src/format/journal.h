/* SPDX-License-Identifier: MIT
 *
 * The journal has every event of a run as one JSON line, written with one call, so that a kill or
 * a full disk loses no measurement. A run can be resumed and replayed from it. The "event" of a
 * line:
 *
 * 	run         the run, its GPU model and the request
 * 	problem     its number, its keys, the families that are searched
 * 	evaluation  the problem's number, and format/result.h's members
 * 	final       the same, from the final measurement
 * 	entry       the problem's number, and its entry of the tuned file
 * 	finish      run, status
 *
 * Each line names its run and ends with a CRC-32 of the characters before `,"checksum"`. A torn
 * last line is ignored, and a damaged line is skipped.
 */
#ifndef FORMAT_JOURNAL_H
#define FORMAT_JOURNAL_H

#include "base/file.h"
#include "format/run.h"
#include "format/tuned_entry.h"

/* ---- writing ---- */
struct journal;

/* Opens or creates a file for appending. Refuses gzip files. */
enum status journal_open(const char *path, struct journal **journal, struct error *err);
/* Appends {"event": event, ...members of line}, and takes ownership of line. After a failure (the
 * disk is full) nothing more is written, because a later, shorter line would hide that lines are
 * missing. */
enum status journal_write(
	struct journal *journal, const char *event, struct json *line, struct error *err);
/* Returns whether a process is still writing this run. */
bool journal_run_lives(const char *path, const char *run_id);
void journal_close(struct journal *journal);

/* ---- reading ---- */
/* "x.jsonl" or "x.jsonl.gz" */
static inline bool journal_is_named(const char *path)
{
	return string_ends_with(path, ".jsonl") || string_ends_with(path, ".jsonl.gz");
}

struct journal_parameter {
	char *name;
	char **values; /* NULL-terminated */
};

struct journal_family {
	char *name;
	struct journal_parameter *parameters;
	size_t parameter_count;
	double product; /* product of the numbers of values; 0: not known */
	uint64_t legal; /* number of legal configurations; 0: not known */
};

struct journal_problem {
	int64_t number;
	char *operation;
	char *problem; /* canonical text */
	struct named_values keys;
	struct journal_family *families;
	size_t family_count;
	struct json *line;
	struct result *results; /* from "evaluation" lines */
	size_t result_count, result_capacity;
	struct result *remeasurements; /* in the order of writing */
	size_t remeasurement_count, remeasurement_capacity;
	struct tuned_entry *entry; /* NULL: not concluded */
};

struct journal_options {
	char *where; /* NULL: all configurations */
};

struct journal_run {
	struct run run;
	char *signature;
	char *resumes; /* the interrupted run that this one continues, or NULL */
	struct gpu_model device;
	struct journal_options options;
	struct json *line;
	struct json *finish; /* NULL: the run did not end */
	struct journal_problem *problems;
	size_t problem_count, problem_capacity;
};

struct journal_record {
	struct journal_run *runs;
	size_t run_count, run_capacity;
	size_t ignored_lines; /* incomplete last lines */
	size_t bad_lines;
	char *bad_line;
};

/* Plain or gzip. Damaged lines are skipped. Fails if no run line is intact. */
enum status journal_read(const char *path, struct journal_record *record, struct error *err);
/* Checks a journal whose first line was read. Keeps only runs and numbers of problems. form_only
 * ignores checksums and references between lines. */
enum status journal_check(struct file_lines *lines, bool form_only, struct error *err);
void journal_record_release(struct journal_record *record);
/* Tells which lines were skipped. Returns NULL if none; the caller frees the text. */
char *journal_notice(const struct journal_record *record);
/* Returns the last run with this signature, or NULL if it finished or does not exist. */
const struct journal_run *journal_resumable(
	const struct journal_record *record, const char *signature);
/* Returns the run that `run` resumed, or NULL. */
const struct journal_run *journal_previous(
	const struct journal_record *record, const struct journal_run *run);
const struct journal_problem *journal_problem_find(
	const struct journal_run *run, const char *operation, const char *problem);

#endif
