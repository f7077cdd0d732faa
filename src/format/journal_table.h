/* SPDX-License-Identifier: MIT
 *
 * The compact form of a journal's evaluations: one line for those of a family, as a table. What all
 * rows have in common stands once; numbers have five digits; what the model can say again, and the
 * samples of the search (their summary stays), are left out. Replays and learning read it like the
 * long form.
 *
 *	{"event": "evaluations", "problem": 0, "of": "evaluation" or "final", "parameters": [name],
 *	 "places": [place in the list], "same": {path: value}, "columns": {path: [value]}}
 *
 * A path is the way to a value in an evaluation ("resources.0.regs_per_thread"; parameters are
 * "configuration.BM"); null in a column: there is none.
 */
#ifndef FORMAT_JOURNAL_TABLE_H
#define FORMAT_JOURNAL_TABLE_H

#include "format/journal_line.h"

/* Adds the tables of a problem's evaluations a family each; run_id: of their run. */
void journal_table_put(const struct evaluation *evaluations, size_t count, const char *event,
	int64_t problem, const char *run_id, struct text *text);

/* Places the rows of a line where they stood in the problem's list, which grows; what no line
 * speaks of is zeroed. */
enum status journal_table_read(const struct json_at *line, const struct journal_table *table,
	struct evaluation **evaluations, size_t *count, size_t *capacity, struct error *err);

#endif
