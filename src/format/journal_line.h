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
	int64_t problem; /* number of the problem */
	struct result result;
};
RECORD_DECLARE(struct journal_result, journal_result_record);

struct journal_entry {
	int64_t problem;
	struct tuned_entry entry;
};
RECORD_DECLARE(struct journal_entry, journal_entry_record);

struct journal_finish {
	char *run;
	uint32_t status;
	double elapsed_s;           /* from the command's start; NaN: not known */
	double compile_s, device_s; /* NaN: not known */
	uint32_t workers;
};
RECORD_DECLARE(struct journal_finish, journal_finish_record);

/* One per event; the last has event NULL. */
extern const struct journal_line {
	const char *event;
	const struct record *record;
} journal_lines[];

/* ---- text ---- */
/* Appends a line of a journal with its checksum and newline, and adds run_id; run_id is NULL for
 * a run line. */
void journal_line_put(const char *event, struct json *line, const char *run_id, struct text *text);
/* Fails if the line's checksum does not match the text before it. Messages begin with `where`. */
enum status journal_line_check(
	const char *line, size_t length, const char *where, struct error *err);
/* Checks the form of every complete line of a journal. Lines that a kill left incomplete are
 * left to the reader. */
enum status journal_form_check(const char *path, const char *text, struct error *err);

#endif
