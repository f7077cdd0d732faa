/* SPDX-License-Identifier: MIT
 *
 * The records of a journal's lines, one for each "event".
 */
#ifndef FORMAT_JOURNAL_LINE_H
#define FORMAT_JOURNAL_LINE_H

#include "format/journal.h"

/* ---- run, problem: struct journal_run, struct journal_problem of journal.h ---- */
RECORD_DECLARE(struct journal_run, journal_run_record);
RECORD_DECLARE(struct journal_problem, journal_problem_record);

/* ---- lines of a problem ---- */
struct journal_result {
	int64_t problem;
	struct result result;
};
RECORD_DECLARE(struct journal_result, journal_result_record);
void journal_result_release(struct journal_result *line);

struct journal_entry {
	int64_t problem;
	struct tuned_entry entry;
};
RECORD_DECLARE(struct journal_entry, journal_entry_record);
void journal_entry_release(struct journal_entry *line);

struct journal_finish {
	char *run;
	uint32_t status;
	double elapsed_s;           /* since the command's start; NaN: not known */
	double compile_s, device_s; /* NaN: not known */
	uint32_t workers;
};
RECORD_DECLARE(struct journal_finish, journal_finish_record);

/* ---- text ---- */
/* Appends a line. run_id is NULL for a run line. */
void journal_line_put(const char *event, struct json *line, const char *run_id, struct text *text);
enum status journal_line_check(
	const char *line, size_t length, const char *where, struct error *err);
/* Checks the members of a line. Unknown events may have any members. */
enum status journal_form_check(const struct json_at *at, struct error *err);

#endif
