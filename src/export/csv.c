/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180): of a tuned file the winner and the best of every family, of a journal every
 * evaluation. Behind what all rows begin with come the numbers and texts of the record.
 */
#include <math.h>

#include "record/record_cells.h"
#include "base/memory.h"
#include "export/export.h"
#include "base/format_text.h"

static void number_cell(struct text *text, double number)
{
	if (isfinite(number))
		text_appendf(text, "%.9g", number);
	text_append_char(text, ',');
}

/* Nothing stands behind the last cell. */
static void end_line(struct text *text)
{
	text->data[--text->length] = '\0';
	text_append(text, "\r\n");
}

/* What every row begins with. */
static const char *const before[] = {"family", "configuration", "outcome", "run", NULL};

static void time_cells(struct text *text, const struct summary *time)
{
	number_cell(text, time->count ? time->median : NAN);
	number_cell(text, time->count ? time->ci95_low : NAN);
	number_cell(text, time->count ? time->ci95_high : NAN);
	number_cell(text, (double)time->count);
}

/* What the model says, and the record's columns. */
static void end_of_row(struct text *text, const struct score *score, const struct record *record,
	const void *value)
{
	number_cell(text, score->launch_count ? score->predicted_time_us : NAN);
	record_cells(record, value, before, text);
	end_line(text);
}

static void tuned_row(struct text *text, const struct tuned_entry *entry, const char *kind,
	const struct tuned_row *row)
{
	CLEANUP(memory_free) char *problem = named_values_text(&entry->problem);
	CLEANUP(memory_free) char *configuration = named_values_text(&row->configuration);

	format_put(text, csv_append, "%s,%s,%s,%s,%s,%s,", entry->operation, problem,
		timing_names[entry->predicted], kind, row->family, configuration);
	time_cells(text, &row->time);
	end_of_row(text, &row->score, &tuned_row_record, row);
}

static void evaluation_rows(struct text *text, const struct journal_problem *problem,
	const char *stage, const struct evaluation *evaluations, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct evaluation *evaluation = &evaluations[i];

		format_put(text, csv_append, "%s,%s,%s,%s,%s,%s,", problem->operation,
			problem->problem, stage, evaluation->family, evaluation->configuration,
			outcome_name(evaluation->outcome));
		time_cells(text, &evaluation->time);
		text_appendf(text, "%s,", timing_names[evaluation->predicted]);
		end_of_row(text, &evaluation->score, &evaluation_record, evaluation);
	}
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	const struct journal_record *journal = source->journal;

	(void)err;
	text_append(text, journal ? "operation,problem,stage,family,configuration,outcome,time_us,"
				    "ci95_low_us,ci95_high_us,samples,timing,predicted_us,"
				  : "operation,problem,timing,row,family,configuration,time_us,"
				    "ci95_low_us,ci95_high_us,samples,predicted_us,");
	record_cells(journal ? &evaluation_record : &tuned_row_record, NULL, before, text);
	end_line(text);
	for (size_t i = 0; !journal && i < source->entry_count; i++) {
		const struct tuned_entry *entry = source->entries[i];

		tuned_row(text, entry, "winner", &entry->winner);
		for (size_t k = 0; k < entry->family_count; k++)
			tuned_row(text, entry, "family", &entry->families[k]);
	}
	for (size_t r = 0; journal && r < journal->run_count; r++)
		for (size_t p = 0; p < journal->runs[r].problem_count; p++) {
			const struct journal_problem *problem = &journal->runs[r].problems[p];

			evaluation_rows(text, problem, "search", problem->evaluations,
				problem->evaluation_count);
			evaluation_rows(text, problem, "remeasured", problem->remeasurements,
				problem->remeasurement_count);
		}
	return STATUS_OK;
}

const struct export_format export_format_csv = {
	.name = "csv",
	.summary = "a table: winner and families, or every evaluation of a journal",
	.reads_journals = true,
	.write = write,
};
