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
	int64_t problem; /* its number */
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

/* Of each event; ends with NULL. */
extern const struct journal_line {
	const char *event;
	const struct record *record;
} journal_lines[];

/* ---- text ---- */
/* A line as it stands in a journal, with its checksum and newline. run_id, which is added: NULL for
 * a run line. */
void journal_line_put(const char *event, struct json *line, const char *run_id, struct text *text);
/* Errors, after `where`: its checksum is not that of what stands before it. */
enum status journal_line_check(
	const char *line, size_t length, const char *where, struct error *err);
/* The form of every whole line of a journal; what a kill tore is the reader's to judge. */
enum status journal_form_check(const char *path, const char *text, struct error *err);

#endif
