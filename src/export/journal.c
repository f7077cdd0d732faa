/* SPDX-License-Identifier: MIT
 *
 * A journal in its compact form (format/journal_table.h), for keeping.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "export/export.h"
#include "format/journal_table.h"

static void put_entry(const struct journal_problem *problem, const char *run_id, struct text *text)
{
	CLEANUP(json_release) struct json *line = json_new_object();

	json_put_int(line, "problem", problem->number);
	json_put(line, "entry", record_to_json(&tuned_entry_record, problem->entry));
	journal_line_put("entry", line, run_id, text);
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	if (!source->journal)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a journal for --format journal, found a tuned file",
			source->name);
	for (size_t r = 0; r < source->journal->run_count; r++) {
		const struct journal_run *run = &source->journal->runs[r];

		journal_line_put(NULL, run->line, NULL, text);
		for (size_t p = 0; p < run->problem_count; p++) {
			const struct journal_problem *problem = &run->problems[p];

			journal_line_put(NULL, problem->line, run->run.id, text);
			journal_table_put(problem->evaluations, problem->evaluation_count,
				"evaluation", problem->number, run->run.id, text);
			journal_table_put(problem->remeasurements, problem->remeasurement_count,
				"final", problem->number, run->run.id, text);
			if (problem->entry)
				put_entry(problem, run->run.id, text);
		}
		if (run->finish)
			journal_line_put(NULL, run->finish, run->run.id, text);
	}
	return STATUS_OK;
}

const struct export_format export_format_journal = {
	.name = "journal",
	.summary = "a journal without the samples of the search: smaller, for keeping",
	.reads_journals = true,
	.write = write,
};
