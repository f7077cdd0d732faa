/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180): of a tuned file the winner and the best of every family, of a journal every
 * evaluation. Behind what all rows begin with come the numbers and texts of the record.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"
#include "base/format_text.h"

void csv_append(struct text *line, const char *field)
{
	const bool is_formula = *field && strchr("=+-@\t", *field);

	if (!is_formula && !field[strcspn(field, ",\"\r\n")]) {
		text_append(line, field);
		return;
	}
	text_append(line, is_formula ? "\"'" : "\"");
	for (; *field; field++) {
		if (*field == '"')
			text_append_char(line, '"');
		text_append_char(line, *field);
	}
	text_append_char(line, '"');
}

static void number_cell(struct text *text, double number)
{
	if (isfinite(number))
		text_appendf(text, "%.9g", number);
	text_append_char(text, ',');
}

/* Numbers, texts and names of enums that no row begins with; those of nested records are left out.
 */
static bool is_column(const struct record_member *member)
{
	static const char *const before[] = {"family", "configuration", "outcome", "run", NULL};

	return !(member->flags & RECORD_NOT_JSON) && member->shape == RECORD_ONE &&
	       member->kind != RECORD_KIND_BOOL && member->kind <= RECORD_KIND_ENUM &&
	       member->kind != RECORD_KIND_BYTES && member->kind != RECORD_KIND_JSON &&
	       name_find(member->name, before) < 0;
}

static void append_value(struct text *text, const struct record_member *member, const void *item)
{
	const char *string = item;
	double number;

	switch (member->kind) {
	case RECORD_KIND_REAL:
		number = record_load_real(member, item);
		if (isfinite(number))
			text_append_real(text, number);
		return;
	case RECORD_KIND_INT:
		text_append_real(text, (double)record_load(member, item));
		return;
	case RECORD_KIND_UINT:
		text_append_real(text, (double)(uint64_t)record_load(member, item));
		return;
	case RECORD_KIND_ENUM:
		string = member->names[record_load(member, item)];
		break;
	case RECORD_KIND_TEXT:
		break;
	default:
		memcpy(&string, item, sizeof(string));
	}
	if (string)
		csv_append(text, string);
}

/* value NULL: their names. */
static void add_columns(struct text *text, const struct record *record, const void *value)
{
	struct record_fields fields;

	record_fields_fill(record, &fields);
	for (size_t i = 0; i < fields.count; i++) {
		const struct record_member *member = fields.items[i].member;
		const char *base = value ? (const char *)value + fields.items[i].base : NULL;
		const bool may_lack = member->present || member->flags & RECORD_OPTIONAL;

		if (!is_column(member))
			continue;
		if (!base)
			csv_append(text, member->name);
		else if (!may_lack || !record_is_absent(member, base))
			append_value(text, member, base + member->offset);
		text_append_char(text, ',');
	}
	/* nothing stands behind the last cell */
	text_cut(text, text->length - 1);
	text_append(text, "\r\n");
}

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
	add_columns(text, record, value);
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
	add_columns(text, journal ? &evaluation_record : &tuned_row_record, NULL);
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
