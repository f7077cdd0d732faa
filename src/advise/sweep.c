/* SPDX-License-Identifier: MIT */
#include "advise/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_schema.h"
#include "base/record_write.h"
#include "candidate/configuration.h"
#include "family/catalogue.h"
#include "family/family.h"
#include "advise/variant.h"

enum {
	PROBLEMS_PER_BATCH = 6, /* that are on the device at once */
};

/* ---- the problems ---- */
/* "1024:4096:32" or "1024,1100:1200" as numbers; what is wrong with it problem_parse() has said. */
static void read_sizes(struct sweep *sweep, const char *values)
{
	char *copy = string_copy(values), *rest = copy, *piece;
	size_t count = 0;

	while ((piece = strsep(&rest, ",")) != NULL) {
		char *end;
		int64_t first = strtoll(piece, &end, 10), last = first, step = 1;

		if (*end == ':')
			last = strtoll(end + 1, &end, 10);
		if (*end == ':')
			step = strtoll(end + 1, &end, 10);
		for (int64_t x = first; x <= last && step > 0 && count < sweep->problems.count;
			x += step)
			sweep->x[count++] = x;
	}
	free(copy);
}

/* Whether a key, or a part of its alias, has a value. */
static bool is_given(
	const struct operation *operation, const struct setting_list *list, const char *name)
{
	if (setting_list_has(list, name))
		return true;
	for (size_t key = 0; key < operation->key_count; key++) {
		size_t count;
		const char *const *parts = advice_alias_parts(operation, key, &count);

		if (strcmp(operation->keys[key].name, name) != 0)
			continue;
		bool aliased = count > 0;

		for (size_t i = 0; i < count; i++)
			aliased = aliased && setting_list_has(list, parts[i]);
		if (aliased)
			return true;
	}
	return false;
}

/* Keys that neither the problem nor the range gives come from the operation's own example. */
static void add_examples(const struct operation *operation, const struct setting_list *swept,
	struct setting_list *settings)
{
	CLEANUP(setting_list_release) struct setting_list examples = {0};

	setting_list_parse(operation->advice.sweep, &examples);
	for (size_t i = 0; i < examples.count; i++)
		if (!is_given(operation, settings, examples.items[i].name) &&
			!is_given(operation, swept, examples.items[i].name))
			setting_list_add(settings, examples.items[i].name, examples.items[i].value);
}

static enum status read_problems(
	struct sweep *sweep, const char *text, const char *range, struct error *err)
{
	CLEANUP(setting_list_release) struct setting_list swept = {0};
	CLEANUP(setting_list_release) struct setting_list settings = {0};
	const char *values = strrchr(range, '=');
	CLEANUP(memory_free) char *rest = NULL;
	CLEANUP(memory_free) char *whole = NULL;

	if (!values)
		return error_set(err, STATUS_BAD_INPUT,
			"sweep: expected KEY=FIRST:LAST:STEP, found \"%s\"", range);
	setting_list_parse(range, &swept);
	setting_list_parse(text ? text : "", &settings);
	for (size_t i = 0; i < swept.count; i++)
		setting_list_remove(&settings, swept.items[i].name);
	add_examples(sweep->operation, &swept, &settings);
	rest = setting_list_text(&settings);
	whole = string_format("%s%s%s", rest, *rest ? "," : "", range);
	TRY(problem_parse(sweep->operation, whole, &sweep->problems, err));
	if (sweep->problems.count > SWEEP_POINTS_MAX)
		return error_set(err, STATUS_BAD_INPUT,
			"sweep \"%s\": expected at most %d sizes, found %zu", range,
			SWEEP_POINTS_MAX, sweep->problems.count);
	sweep->x = memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->x));
	sweep->flop = memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->flop));
	sweep->label = string_copy_bytes(range, (size_t)(values - range));
	sweep->range = string_copy(range);
	read_sizes(sweep, values + 1);
	sweep->bytes = memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->bytes));
	for (size_t i = 0; i < sweep->problems.count; i++) {
		TRY(problem_flop(sweep->problems.items[i], &sweep->flop[i], err));
		TRY(problem_min_bytes(sweep->problems.items[i], &sweep->bytes[i], err));
	}
	return STATUS_OK;
}

/* ---- running ---- */
static void take_value(const struct sweep *sweep, size_t point, const struct trial *trial,
	struct sweep_value *value)
{
	const struct evaluation *evaluation = &trial->evaluation;
	const struct score *score = &evaluation->score;

	value->is_legal = true;
	value->outcome = evaluation->outcome;
	value->predicted_us = INFINITY;
	value->predicted_tflops = NAN;
	if (score->launch_count) {
		const struct launch_score *longest = &score->launches[score->longest];

		value->tiles = longest->tiles;
		value->waves = longest->waves;
		value->waves_exact = longest->waves_exact;
		if (evaluation->outcome == OUTCOME_OK)
			value->predicted_us = score->predicted_time_us;
	}
	if (sweep->flop[point] > 0 && isfinite(value->predicted_us) && value->predicted_us > 0)
		value->predicted_tflops = sweep->flop[point] / value->predicted_us * 1e-6;
	if (sweep->measured && evaluation->outcome == OUTCOME_OK && evaluation->time.count) {
		value->is_measured = true;
		value->time = evaluation->time;
		value->measured_tflops = sweep->flop[point] / value->time.median * 1e-6;
	}
}

static enum status run_batch(struct sweep *sweep, size_t first, size_t end, struct error *err)
{
	const double seconds_each = 0.08;
	struct sampling sampling = {.rounds_min = 5, .rounds_max = 25, .target_ratio = 0.004};
	struct trial *added[SWEEP_SERIES_MAX * PROBLEMS_PER_BATCH] = {NULL};

	for (size_t i = first; i < end; i++)
		for (size_t s = 0; s < sweep->series_count; s++)
			TRY(sweep_series_add(sweep, &sweep->series[s], i,
				&added[(i - first) * SWEEP_SERIES_MAX + s], err));
	sampling.seconds_max = seconds_each * (double)sweep->evaluator.count;
	TRY(evaluator_compare(&sweep->evaluator, &sampling, err));
	for (size_t i = first; i < end; i++)
		for (size_t s = 0; s < sweep->series_count; s++) {
			const struct trial *trial = added[(i - first) * SWEEP_SERIES_MAX + s];
			struct sweep_value *value = &sweep->series[s].values[i];

			value->x = sweep->x[i];
			if (trial)
				take_value(sweep, i, trial, value);
		}
	evaluator_clear(&sweep->evaluator);
	return STATUS_OK;
}

enum status sweep_run(struct sweep *sweep, struct context *context,
	const struct operation *operation, const char *text, const char *range,
	const struct sweep_options *options, struct error *err)
{
	*sweep = (struct sweep){.context = context,
		.operation = operation,
		.measured = device_measures(context->device),
		.evaluator = {.context = context, .interrupted = options->interrupted}};
	TRY(read_problems(sweep, text, range, err));
	TRY(sweep_series_choose(sweep, options, err));
	for (size_t s = 0; s < sweep->series_count; s++)
		sweep->series[s].values =
			memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->series[s].values));
	for (size_t i = 0; i < sweep->problems.count; i += PROBLEMS_PER_BATCH) {
		size_t end = i + PROBLEMS_PER_BATCH < sweep->problems.count ? i + PROBLEMS_PER_BATCH
									    : sweep->problems.count;

		TRY(run_batch(sweep, i, end, err));
		if (options->progress)
			options->progress(options->progress_context, end, sweep->problems.count);
	}
	return STATUS_OK;
}

void sweep_release(struct sweep *sweep)
{
	evaluator_release(&sweep->evaluator);
	seeds_release(&sweep->seeds);
	for (size_t s = 0; s < sweep->series_count; s++) {
		free(sweep->series[s].configuration);
		free(sweep->series[s].values);
	}
	problem_list_release(&sweep->problems);
	free(sweep->x);
	free(sweep->flop);
	free(sweep->bytes);
	free(sweep->label);
	free(sweep->range);
	*sweep = (struct sweep){0};
}

bool sweep_is_wave_edge(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *values = sweep->series[series].values;

	return point > 0 && values[point].is_legal && values[point - 1].is_legal &&
	       fabs(values[point].waves - values[point - 1].waves) > 0.5;
}

/* ---- JSON and CSV ---- */
/* Another number of waves than at the size before. */
struct edge {
	int64_t x;
	double waves_before, waves;
};

struct line {
	const char *family, *configuration;
	struct sweep_value *values;
	size_t value_count;
};

struct document {
	const char *operation, *range;
	struct gpu_model device;
	bool predicted;
	struct named_values first_problem;
	struct line *series;
	size_t series_count;
	struct edge *edges;
	size_t edge_count;
	struct run run;
};

#define AT_POINT(field, key, help, flag, ...)                                                      \
	RECORD_VALUE(struct sweep_value, field, key, help, .flags = RECORD_OPTIONAL __VA_ARGS__,   \
		.present = RECORD_PRESENT(struct sweep_value, flag))
#define FIGURES                                                                                    \
	AT_POINT(tiles, "tiles", "of the longest launch", is_legal),                               \
		AT_POINT(waves, "waves", "whole waves of tiles", is_legal),                        \
		AT_POINT(waves_exact, "waves_exact", "the same, not rounded up", is_legal),        \
		AT_POINT(predicted_us, "predicted_us", "microseconds; null: it does not run",      \
			is_legal, | RECORD_NULLABLE, .absent = INFINITY),                          \
		AT_POINT(predicted_tflops, "predicted_tflops", "10^12 FLOP per second", is_legal,  \
			| RECORD_NULLABLE, .absent = NAN),                                         \
		AT_POINT(time.median, "measured_us", "median, microseconds", is_measured),         \
		AT_POINT(time.ci95_low, "ci95_low_us", "of the median", is_measured),              \
		AT_POINT(time.ci95_high, "ci95_high_us", "of the median", is_measured),            \
		AT_POINT(measured_tflops, "measured_tflops", "10^12 FLOP per second", is_measured)
#define OUTCOME                                                                                    \
	RECORD_ENUM(struct sweep_value, outcome, outcome_names, "outcome", "how it ended",         \
		.flags = RECORD_OPTIONAL, .present = RECORD_PRESENT(struct sweep_value, is_legal))
static const struct record_member point_members[] = {
	RECORD_VALUE(struct sweep_value, x, "x", "the size that varies"),
	RECORD_VALUE(struct sweep_value, is_legal, "legal", "whether the configuration may be"),
	OUTCOME,
	FIGURES,
};
static RECORD_DEFINE(struct sweep_value, point_record, point_members, .name = "point");
static const struct record_member column_members[] = {FIGURES, OUTCOME};
static RECORD_DEFINE(struct sweep_value, columns_record, column_members, .name = "columns");
#undef AT_POINT
#undef FIGURES
#undef OUTCOME

static const struct record_member line_members[] = {
	RECORD_VALUE(
		struct line, family, "family", "of the configuration", .rule = &family_name_rule),
	RECORD_VALUE(struct line, configuration, "configuration", "the same at every size"),
	RECORD_RECORDS(struct line, values, value_count, point_record, "points", "one per size"),
};
static RECORD_DEFINE(struct line, line_record, line_members, .name = "series");

static const struct record_member edge_members[] = {
	RECORD_VALUE(struct edge, x, "x", "the size where it begins"),
	RECORD_VALUE(struct edge, waves_before, "waves_before", "at the size before"),
	RECORD_VALUE(struct edge, waves, "waves", "at this size"),
};
static RECORD_DEFINE(struct edge, edge_record, edge_members, .name = "wave_edge");

static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.sweep/1", "what this file is"),
	RECORD_VALUE(struct document, operation, "operation", "its name"),
	RECORD_VALUE(struct document, range, "sweep", "the sizes, as they were asked for"),
	RECORD_NESTED(struct document, device, gpu_model_record, "device", "the GPU model"),
	RECORD_ENUM(struct document, predicted, timing_names, "timing", "whose times they are"),
	RECORD_NAMED_VALUES(struct document, first_problem, "first_problem",
		"every key of the operation, in its order", .flags = RECORD_OPTIONAL,
		.count_min = 1),
	RECORD_RECORDS(struct document, series, series_count, line_record, "series",
		"the best configuration first", .count_min = 1),
	RECORD_RECORDS(struct document, edges, edge_count, edge_record, "wave_edges",
		"of the first series"),
	RECORD_NESTED(struct document, run, run_record, "run", "that made this"),
};
RECORD_DEFINE(struct document, sweep_record, document_members, .name = "sweep", .open = true);

static void find_edges(const struct sweep *sweep, struct document *document)
{
	const struct sweep_value *values = sweep->series[0].values;

	document->edges = memory_zeroed(sweep->problems.count + 1, sizeof(*document->edges));
	for (size_t i = 1; i < sweep->problems.count; i++)
		if (sweep_is_wave_edge(sweep, 0, i))
			document->edges[document->edge_count++] =
				(struct edge){values[i].x, values[i - 1].waves, values[i].waves};
}

struct json *sweep_to_json(const struct sweep *sweep, const struct run *run)
{
	struct line lines[SWEEP_SERIES_MAX];
	struct document document = {.operation = sweep->operation->name,
		.range = sweep->range,
		.device = gpu_model_of(device_spec(sweep->context->device),
			device_identity(sweep->context->device)->name),
		.predicted = !sweep->measured,
		.first_problem = problem_named_values(sweep->problems.items[0]),
		.series = lines,
		.series_count = sweep->series_count,
		.run = *run};
	struct json *json;

	for (size_t s = 0; s < sweep->series_count; s++)
		lines[s] =
			(struct line){sweep->series[s].family->name, sweep->series[s].configuration,
				sweep->series[s].values, sweep->problems.count};
	find_edges(sweep, &document);
	json = record_to_json(&sweep_record, &document);
	gpu_model_release(&document.device);
	named_values_release(&document.first_problem);
	free(document.edges);
	return json;
}

void sweep_to_csv(const struct sweep *sweep, struct text *csv)
{
	text_appendf(csv, "%s,family,configuration,", sweep->label);
	record_csv_header(&columns_record, csv);
	for (size_t s = 0; s < sweep->series_count; s++)
		for (size_t i = 0; i < sweep->problems.count; i++) {
			const struct sweep_value *value = &sweep->series[s].values[i];

			if (!value->is_legal)
				continue;
			text_appendf(
				csv, "\n%" PRId64 ",%s,", value->x, sweep->series[s].family->name);
			csv_append(csv, sweep->series[s].configuration);
			text_append_char(csv, ',');
			record_csv_row(&columns_record, value, csv);
		}
	text_append_char(csv, '\n');
}
