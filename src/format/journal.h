/* SPDX-License-Identifier: MIT
 *
 * The journal of a run has every event as one JSON line, written with one call, so that a kill or a
 * full disk loses nothing that was measured. It is enough to resume a run without repeating a
 * measurement, and to replay it without a GPU. Plain and gzip files are read; writing appends to
 * plain files.
 *
 * Lines, by their "event":
 *
 *	run         the run, its GPU model and the request
 *	problem     its number, its keys, the families that are searched
 *	evaluation  the problem's number, and format/result.h's members
 *	final       as evaluation, from the re-measurement, whose samples are interleaved
 *	entry       the problem's number, and entry as in the tuned file: the problem is concluded
 *	finish      run, status
 *
 * The records of format/journal_line.c have the members of each. Each line names its run, because
 * several processes may write to one journal, and ends with a checksum: CRC-32 of the characters
 * before `,"checksum"`, in hexadecimal digits.
 *
 * No line is ever removed. A torn last line is ignored, and a damaged line is skipped.
 */
#ifndef FORMAT_JOURNAL_H
#define FORMAT_JOURNAL_H

#include <stdbool.h>

#include "base/json.h"
#include "format/run.h"
#include "format/tuned_entry.h"

/* ---- writing ---- */
struct journal;

/* Opens a file for appending, and makes it and its folder if they are absent. A gzip file cannot
 * be appended to: STATUS_BAD_INPUT. */
enum status journal_open(const char *path, struct journal **journal, struct error *err);
/* Appends {"event": event, ...members of line} and takes ownership of line. Returns
 * STATUS_FAILED if the disk is full; earlier lines stay intact. After a failure nothing more is
 * written, because a later, shorter line that still fits, such as a finish, would hide that
 * lines are missing. */
enum status journal_write(
	struct journal *journal, const char *event, struct json *line, struct error *err);
/* Whether a process is still writing this run, so that it must not be resumed. */
bool journal_run_lives(const char *path, const char *run_id);
void journal_close(struct journal *journal);

/* ---- reading ---- */
/* Whether a file name ends as a journal's does: "x.jsonl" or "x.jsonl.gz". */
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
	double product; /* product of the numbers of values; 0: not known, and neither is `legal` */
	uint64_t legal;
};

struct journal_problem {
	int64_t number;
	char *operation;
	char *problem; /* canonical text */
	struct named_values keys;
	struct journal_family *families;
	size_t family_count;
	struct json *line;      /* the complete problem line */
	struct result *results; /* from "evaluation" lines */
	size_t result_count, result_capacity;
	struct result *remeasurements; /* from "final" lines, in the order of writing */
	size_t remeasurement_count, remeasurement_capacity;
	struct tuned_entry *entry; /* NULL: the problem was not concluded */
};

struct journal_options {
	char *where; /* NULL: all configurations */
};

struct journal_run {
	struct run run;
	char *signature;
	char *resumes; /* id of the interrupted run that this run continues, or NULL */
	struct gpu_model device;
	struct journal_options options;
	struct json *line;   /* the complete run line */
	struct json *finish; /* the complete finish line; NULL: the run did not end */
	struct journal_problem *problems;
	size_t problem_count, problem_capacity;
};

struct journal_record {
	struct journal_run *runs;
	size_t run_count, run_capacity;
	size_t ignored_lines; /* incomplete last lines, left by a kill */
	size_t bad_lines;     /* damaged lines, which were skipped */
	char *bad_line;       /* error of the first damaged line */
};

/* Reads a whole journal. Damaged lines are skipped and counted. A last line without a newline
 * that does not parse is ignored, and unknown events are skipped. It is an error if no run line
 * is intact. */
enum status journal_read(const char *path, struct journal_record *record, struct error *err);
/* Parses the content of a journal like journal_read(). */
enum status journal_parse(const struct text *content, const char *path,
	struct journal_record *record, struct error *err);
void journal_record_release(struct journal_record *record);
/* Says how many lines were skipped, and why. Returns NULL if none was. The caller frees the
 * text. */
char *journal_notice(const struct journal_record *record);
/* The last run with this signature if it did not finish, else NULL. */
const struct journal_run *journal_resumable(
	const struct journal_record *record, const char *signature);
/* The run that this run continued, or NULL. */
const struct journal_run *journal_previous(
	const struct journal_record *record, const struct journal_run *run);
const struct journal_problem *journal_problem_find(
	const struct journal_run *run, const char *operation, const char *problem);

#endif
