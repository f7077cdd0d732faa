/* SPDX-License-Identifier: MIT
 *
 * Writes the training data of `python3 -m tiletune.learn`: a line for each problem and family of
 * a journal.
 *
 *	{"device", "family", "problem", "features": [name],
 *	 "rows": [[configuration, measured us, us predicted by physics, a value for each feature]]}
 *
 * Candidates that today's templates lack are left out.
 */
#include <math.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "candidate/configuration.h"
#include "export/export.h"
#include "score/features.h"
#include "score/prediction.h"

static void append_string(struct text *text, const char *string)
{
	CLEANUP(json_release) struct json *node = json_new_string(string);
	CLEANUP(memory_free) char *printed = json_print(node, false);

	text_append(text, printed);
}

static void append_row(const struct predictor *predictor, const struct result *result,
	double predicted_us, size_t features, struct text *text)
{
	CLEANUP(memory_free) float *values = memory_zeroed(features + 1, sizeof(*values));

	features_values(predictor->bound->family, predictor->values, &predictor->score, values);
	format_put(text, append_string, "[%s,", result->configuration);
	text_append_real(text, result->time.median);
	text_append(text, ",");
	text_append_real(text, predicted_us);
	for (size_t i = 0; i < features; i++)
		text_appendf(text, ",%.9g", (double)values[i]);
	text_append(text, "]");
}

static enum status append_rows(const struct journal_problem *problem,
	const struct bound_family *bound, struct text *rows, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = features_names(bound->family);
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, bound);
	for (size_t i = 0; i < problem->result_count; i++) {
		const struct result *result = &problem->results[i];
		struct prediction prediction = {.time_us = INFINITY};
		choice choices[SPACE_PARAMETERS_MAX];
		bool legal;

		if (result->outcome != OUTCOME_OK || result->predicted ||
			strcmp(result->family, bound->family->name) != 0)
			continue;
		legal = configuration_read(bound, result->configuration, choices);
		if (legal)
			TRY(configuration_is_legal(bound, choices, &legal, err));
		if (legal)
			TRY(predict_choices(&predictor, choices, &prediction, err));
		if (!isfinite(prediction.time_us) || !(result->time.median > 0))
			continue;
		text_append(rows, rows->length ? ",\n" : "");
		append_row(&predictor, result, prediction.time_us, names.count, rows);
	}
	return STATUS_OK;
}

static void append_line(
	const struct bound_family *bound, const struct text *rows, struct text *text)
{
	CLEANUP(name_set_release) struct name_set names = features_names(bound->family);
	CLEANUP(memory_free)
	char *problem =
		string_format("%s %s", bound->problem->operation->name, bound->problem->text);

	format_put(text, append_string,
		"{\"device\":%s,\"family\":%s,\"problem\":%s,\"features\":[", bound->device->name,
		bound->family->name, problem);
	for (size_t i = 0; i < names.count; i++)
		format_put(text, append_string, i ? ",%s" : "%s", names.items[i]);
	text_appendf(text, "],\"rows\":[%s]}\n", text_string(rows));
}

static enum status append_family(const struct export_source *source,
	const struct journal_problem *problem, const char *name, struct text *text,
	struct error *err)
{
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	CLEANUP(text_release) struct text rows = {0};
	const struct family *family;

	if (catalogue_family(source->catalogue, NULL, name, &family, NULL) != STATUS_OK ||
		problem_parse(family->operation, problem->problem, &problems, NULL) != STATUS_OK)
		return STATUS_OK;
	TRY(family_bind_if_applies(
		family, problems.items[0], source->device, NULL, &bound, NULL, err));
	if (bound)
		TRY(append_rows(problem, bound, &rows, err));
	if (rows.length)
		append_line(bound, &rows, text);
	return STATUS_OK;
}

static enum status features_write(
	const struct export_source *source, struct text *text, struct error *err)
{
	for (size_t r = 0; r < source->journal->run_count; r++)
		for (size_t p = 0; p < source->journal->runs[r].problem_count; p++) {
			const struct journal_problem *problem =
				&source->journal->runs[r].problems[p];

			for (size_t f = 0; f < problem->family_count; f++)
				TRY(append_family(
					source, problem, problem->families[f].name, text, err));
		}
	return STATUS_OK;
}

const struct export_format export_format_features = {
	.name = "features",
	.summary = "training data for python3 -m tiletune.learn, from a journal",
	.of_journals = true,
	.write = features_write,
};
