/* SPDX-License-Identifier: MIT
 *
 * CSV (RFC 4180): of a tuned file the winner and the best of every family, of a journal every
 * evaluation.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"

static void cell(struct text *text, const char *value)
{
	if (text->length && text->data[text->length - 1] != '\n')
		text_append_char(text, ',');
	if (!strpbrk(value, ",\"\r\n")) {
		text_append(text, value);
		return;
	}
	text_append_char(text, '"');
	for (; *value; value++)
		text_appendf(text, *value == '"' ? "\"%c" : "%c", *value);
	text_append_char(text, '"');
}

static void end_row(struct text *text)
{
	text_append(text, "\r\n");
}

static void number_cell(struct text *text, double number)
{
	char value[32] = "";

	if (isfinite(number))
		snprintf(value, sizeof(value), "%.9g", number);
	cell(text, value);
}

static void member_cell(struct text *text, const struct json_at *object, const char *key)
{
	struct json_at member;
	struct text value = {0};

	if (json_find(object, key, &member))
		export_value(&member, &value);
	cell(text, text_string(&value));
	text_release(&value);
}

static void pairs_cell(struct text *text, const struct json_at *object, const char *key)
{
	struct text value = {0};

	export_member_pairs(object, key, ",", &value);
	cell(text, text_string(&value));
	text_release(&value);
}

static void head(struct text *text, const char *const *names)
{
	for (; *names; names++)
		cell(text, *names);
	end_row(text);
}

/* A first empty cell would be taken for none: every row begins with a cell that is not empty. */
static void tuned_row(
	struct text *text, const struct json_at *entry, const char *kind, const struct json_at *row)
{
	static const char *const figures[] = {"tflops", "gb_per_s", "regs_per_thread", "smem_bytes",
		"spill_bytes", "workspace_bytes", "kernel_hash"};
	struct json_at time = {0}, score = {0};
	bool timed = json_find(row, "time_us", &time), scored = json_find(row, "score", &score);

	cell(text, export_string(entry, "operation"));
	pairs_cell(text, entry, "problem");
	cell(text, export_string(entry, "timing"));
	cell(text, kind);
	cell(text, export_string(row, "family"));
	pairs_cell(text, row, "configuration");
	number_cell(text, timed ? export_number(&time, "median") : NAN);
	number_cell(text, timed ? export_number(&time, "ci95_low") : NAN);
	number_cell(text, timed ? export_number(&time, "ci95_high") : NAN);
	number_cell(text, timed ? export_number(&time, "samples") : NAN);
	number_cell(text, scored ? export_number(&score, "predicted_time_us") : NAN);
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		member_cell(text, row, figures[i]);
	end_row(text);
}

static void write_tuned(const struct export_source *source, struct text *text)
{
	static const char *const names[] = {"operation", "problem", "timing", "row", "family",
		"configuration", "time_us", "ci95_low_us", "ci95_high_us", "samples",
		"predicted_us", "tflops", "gb_per_s", "regs_per_thread", "smem_bytes",
		"spill_bytes", "workspace_bytes", "kernel_hash", NULL};

	head(text, names);
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct json_at *entry = &source->entries[i];
		struct json_at winner, families;

		if (json_find(entry, "winner", &winner))
			tuned_row(text, entry, "winner", &winner);
		if (!json_find(entry, "families", &families))
			continue;
		for (size_t k = 0; k < json_count(&families); k++) {
			struct json_at row = json_item(&families, k);

			tuned_row(text, entry, "family", &row);
		}
	}
}

static void evaluation_row(struct text *text, const struct journal_problem *problem,
	const char *stage, const struct evaluation *evaluation)
{
	const struct score *score = &evaluation->score;
	bool timed = evaluation->time.count > 0;

	cell(text, problem->operation);
	cell(text, problem->problem);
	cell(text, stage);
	cell(text, evaluation->family);
	cell(text, evaluation->configuration);
	cell(text, outcome_name(evaluation->outcome));
	number_cell(text, timed ? evaluation->time.median : NAN);
	number_cell(text, timed ? evaluation->time.ci95_low : NAN);
	number_cell(text, timed ? evaluation->time.ci95_high : NAN);
	number_cell(text, (double)evaluation->time.count);
	cell(text, evaluation->predicted ? "predicted" : "measured");
	number_cell(text, score->launch_count ? score->predicted_time_us : NAN);
	cell(text, evaluation->kernel_hash);
	cell(text, evaluation->detail ? evaluation->detail : "");
	end_row(text);
}

static void write_journal(const struct journal_record *journal, struct text *text)
{
	static const char *const names[] = {"operation", "problem", "stage", "family",
		"configuration", "outcome", "time_us", "ci95_low_us", "ci95_high_us", "samples",
		"timing", "predicted_us", "kernel_hash", "detail", NULL};

	head(text, names);
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
