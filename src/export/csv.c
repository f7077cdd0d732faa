/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180): of a tuned file the winner and the best of every family, of a journal every
 * evaluation. Behind what all rows begin with come the numbers and texts of the record.
 */
#include <math.h>
#include <stdlib.h>

#include "base/record_schema.h"
#include "export/export.h"

static void cell(struct text *text, const char *value)
{
	csv_append(text, value);
	text_append_char(text, ',');
}

static void number_cell(struct text *text, double number)
{
	if (isfinite(number))
		text_appendf(text, "%.9g", number);
	text_append_char(text, ',');
}

/* Nothing stands behind the last cell. */
static void end_row(struct text *text)
{
	text->data[--text->length] = '\0';
	text_append(text, "\r\n");
}

/* Numbers and texts of the record itself that no row begins with. */
static bool is_column(const struct record_cell *cell)
{
	static const char *const before[] = {"family", "configuration", "outcome", "run", NULL};

	return !*cell->prefix && cell->member->kind != RECORD_KIND_FLAGS &&
	       cell->member->kind != RECORD_KIND_BOOL && name_find(cell->member->name, before) < 0;
}

static void add_name(const struct record_cell *item, void *context)
{
	if (is_column(item))
		cell(context, item->member->name);
}

static void add_value(const struct record_cell *item, void *context)
{
	struct text *text = context;
	const char *string = record_cell_string(item);
	const double number = record_cell_number(item);

	if (!is_column(item))
		return;
	if (string)
		csv_append(text, string);
	else if (isfinite(number))
		export_number(number, text);
	text_append_char(text, ',');
}

static void head(struct text *text, const char *first, const struct record *record)
{
	text_appendf(text, "%s,", first);
	record_cells(record, NULL, add_name, text);
	end_row(text);
}

static void values_cell(struct text *text, const struct named_values *values)
{
	char *list = named_values_text(values);

	cell(text, list);
	free(list);
}

static void time_cells(struct text *text, const struct summary *time)
{
	number_cell(text, time->count ? time->median : NAN);
	number_cell(text, time->count ? time->ci95_low : NAN);
	number_cell(text, time->count ? time->ci95_high : NAN);
	number_cell(text, (double)time->count);
}

static void predicted_cell(struct text *text, const struct score *score)
{
	number_cell(text, score->launch_count ? score->predicted_time_us : NAN);
}

static void tuned_row(struct text *text, const struct tuned_entry *entry, const char *kind,
	const struct tuned_row *row)
{
	cell(text, entry->operation);
	values_cell(text, &entry->problem);
	cell(text, timing_names[entry->predicted]);
	cell(text, kind);
	cell(text, row->family);
	values_cell(text, &row->configuration);
	time_cells(text, &row->time);
	predicted_cell(text, &row->score);
	record_cells(&tuned_row_record, row, add_value, text);
	end_row(text);
}

static void write_tuned(const struct export_source *source, struct text *text)
{
	head(text,
		"operation,problem,timing,row,family,configuration,time_us,ci95_low_us,"
		"ci95_high_us,samples,predicted_us",
		&tuned_row_record);
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_entry *entry = source->entries[i];

		tuned_row(text, entry, "winner", &entry->winner);
		for (size_t k = 0; k < entry->family_count; k++)
			tuned_row(text, entry, "family", &entry->families[k]);
	}
}

static void evaluation_row(struct text *text, const struct journal_problem *problem,
	const char *stage, const struct evaluation *evaluation)
{
	cell(text, problem->operation);
	cell(text, problem->problem);
	cell(text, stage);
	cell(text, evaluation->family);
	cell(text, evaluation->configuration);
	cell(text, outcome_name(evaluation->outcome));
	time_cells(text, &evaluation->time);
	cell(text, timing_names[evaluation->predicted]);
	predicted_cell(text, &evaluation->score);
	record_cells(&evaluation_record, evaluation, add_value, text);
	end_row(text);
}

static void write_journal(const struct journal_record *journal, struct text *text)
{
	head(text,
		"operation,problem,stage,family,configuration,outcome,time_us,ci95_low_us,"
		"ci95_high_us,samples,timing,predicted_us",
		&evaluation_record);
	for (size_t r = 0; r < journal->run_count; r++)
		for (size_t p = 0; p < journal->runs[r].problem_count; p++) {
			const struct journal_problem *problem = &journal->runs[r].problems[p];

			for (size_t i = 0; i < problem->evaluation_count; i++)
				evaluation_row(text, problem, "search", &problem->evaluations[i]);
			for (size_t i = 0; i < problem->remeasurement_count; i++)
				evaluation_row(
					text, problem, "remeasured", &problem->remeasurements[i]);
		}
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	(void)err;
	if (source->journal)
		write_journal(source->journal, text);
	else
		write_tuned(source, text);
	return STATUS_OK;
}

const struct export_format export_format_csv = {
	.name = "csv",
	.summary = "a table: winner and families, or every evaluation of a journal",
	.reads_journals = true,
	.write = write,
};
