/* SPDX-License-Identifier: MIT */
#include "advise/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/catalogue.h"
#include "family/family.h"
#include "advise/setting.h"

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
		for (size_t i = 0; i < count; i++)
			if (setting_list_has(list, parts[i]))
				return true;
	}
	return false;
}

/* Keys that neither the problem nor the range gives come from the operation's own example. */
static void add_examples(const struct operation *operation, const struct setting_list *swept,
	struct setting_list *settings)
{
	struct setting_list examples;

	setting_list_parse(operation->advice.sweep, &examples);
	for (size_t i = 0; i < examples.count; i++)
		if (!is_given(operation, settings, examples.items[i].name) &&
			!is_given(operation, swept, examples.items[i].name))
			setting_list_add(settings, examples.items[i].name, examples.items[i].value);
	setting_list_release(&examples);
}

static enum status read_problems(
	struct sweep *sweep, const char *text, const char *range, struct error *err)
{
	struct setting_list swept, settings;
	const char *values = strrchr(range, '=');
	char *rest, *whole;
	enum status status;

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
	status = problem_parse(sweep->operation, whole, &sweep->problems, err);
	if (status == STATUS_OK && sweep->problems.count > SWEEP_POINTS_MAX)
		status = error_set(err, STATUS_BAD_INPUT,
			"sweep \"%s\": expected at most %d sizes, found %zu", range,
			SWEEP_POINTS_MAX, sweep->problems.count);
	sweep->x = memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->x));
	sweep->flop = memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->flop));
	sweep->label = string_copy_bytes(range, (size_t)(values - range));
	sweep->range = string_copy(range);
	read_sizes(sweep, values + 1);
	for (size_t i = 0; i < sweep->problems.count && status == STATUS_OK; i++)
		status = problem_flop(sweep->problems.items[i], &sweep->flop[i], err);
	free(rest);
	free(whole);
	setting_list_release(&swept);
	setting_list_release(&settings);
	return status;
}

/* ---- a configuration at a point ---- */
static bool is_legal(const struct bound_family *bound, const choice *choices)
{
	bool legal;

	return configuration_is_legal(bound, choices, &legal, NULL) == STATUS_OK && legal;
}

/* One argument moved to another value, the nearest in its list. */
static bool move_an_argument(const struct bound_family *bound, choice *choices)
{
	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		size_t count = space_parameter_values(bound->space, i)->count;
		choice asked = choices[i];

		if (!bound->family->parameters[i].is_argument)
			continue;
		for (size_t distance = 1; distance < count; distance++)
			for (int side = 0; side < 2; side++) {
				size_t other = side ? asked + distance : asked - distance;

				if (other >= count)
					continue;
				choices[i] = (choice)other;
				if (is_legal(bound, choices))
					return true;
			}
		choices[i] = asked;
	}
	return false;
}

enum status sweep_bind(const struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct candidate *candidate, struct error *err)
{
	enum status status;

	*candidate = (struct candidate){0};
	status = family_bind_if_applies(series->family, sweep->problems.items[point],
		device_spec(sweep->context->device), NULL, &candidate->bound, NULL, err);
	if (status != STATUS_OK || !candidate->bound)
		return status;
	if (!configuration_read(candidate->bound, series->configuration, candidate->choices) ||
		(!is_legal(candidate->bound, candidate->choices) &&
			!move_an_argument(candidate->bound, candidate->choices)))
		candidate_release(candidate);
	return STATUS_OK;
}

enum status sweep_add(struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct trial **trial, struct error *err)
{
	struct candidate candidate;
	enum status status = sweep_bind(sweep, series, point, &candidate, err);

	*trial = NULL;
	if (status != STATUS_OK || !candidate.bound)
		return status;
	status = evaluator_add(&sweep->evaluator, &candidate, TRIAL_VERIFIED, trial, err);
	if (status == STATUS_OK)
		(*trial)->owns_bound = true;
	else
		candidate_release(&candidate);
	return status;
}

/* ---- running ---- */
static void take_value(
	const struct sweep *sweep, const struct trial *trial, struct sweep_value *value)
{
	const struct evaluation *evaluation = &trial->evaluation;
	const struct score *score = &evaluation->score;

	value->outcome = evaluation->outcome;
	value->predicted_us = INFINITY;
	if (score->launch_count) {
		const struct launch_score *longest = &score->launches[score->longest];

		value->tiles = longest->tiles;
		value->waves = longest->waves;
		value->waves_exact = longest->waves_exact;
		if (evaluation->outcome == OUTCOME_OK)
			value->predicted_us = score->predicted_time_us;
	}
	if (sweep->measured && evaluation->outcome == OUTCOME_OK)
		value->time = evaluation->time;
}

static enum status run_batch(struct sweep *sweep, size_t first, size_t end, struct error *err)
{
	const double seconds_each = 0.08;
	struct sampling sampling = {.rounds_min = 5, .rounds_max = 25, .target_ratio = 0.004};
	struct trial *added[SWEEP_SERIES_MAX * PROBLEMS_PER_BATCH] = {NULL};
	enum status status = STATUS_OK;

	for (size_t i = first; i < end && status == STATUS_OK; i++)
		for (size_t s = 0; s < sweep->series_count && status == STATUS_OK; s++)
			status = sweep_add(sweep, &sweep->series[s], i,
				&added[(i - first) * SWEEP_SERIES_MAX + s], err);
	sampling.seconds_max = seconds_each * (double)sweep->evaluator.count;
	if (status == STATUS_OK)
		status = evaluator_compare(&sweep->evaluator, &sampling, err);
	for (size_t i = first; i < end && status == STATUS_OK; i++)
		for (size_t s = 0; s < sweep->series_count; s++) {
			const struct trial *trial = added[(i - first) * SWEEP_SERIES_MAX + s];
			struct sweep_value *value = &sweep->series[s].values[i];

			value->is_legal = trial != NULL;
			if (trial)
				take_value(sweep, trial, value);
		}
	evaluator_clear(&sweep->evaluator);
	return status;
}

enum status sweep_run(struct sweep *sweep, struct context *context,
	const struct operation *operation, const char *text, const char *range,
	const struct sweep_options *options, struct error *err)
{
	enum status status;

	*sweep = (struct sweep){.context = context,
		.operation = operation,
		.measured = device_measures(context->device),
		.evaluator = {.context = context, .interrupted = options->interrupted}};
	status = read_problems(sweep, text, range, err);
	if (status == STATUS_OK)
		status = sweep_choose(sweep, options, err);
	for (size_t s = 0; s < sweep->series_count; s++)
		sweep->series[s].values =
			memory_zeroed(sweep->problems.count + 1, sizeof(*sweep->series[s].values));
	for (size_t i = 0; i < sweep->problems.count && status == STATUS_OK;
		i += PROBLEMS_PER_BATCH) {
		size_t end = i + PROBLEMS_PER_BATCH < sweep->problems.count ? i + PROBLEMS_PER_BATCH
									    : sweep->problems.count;

		status = run_batch(sweep, i, end, err);
		if (options->progress)
			options->progress(options->progress_context, end, sweep->problems.count);
	}
	return status;
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
	free(sweep->label);
	free(sweep->range);
	*sweep = (struct sweep){0};
}

double sweep_predicted_tflops(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *value = &sweep->series[series].values[point];

	if (!value->is_legal || !isfinite(value->predicted_us) || value->predicted_us <= 0)
		return NAN;
	return sweep->flop[point] / value->predicted_us * 1e-6;
}

double sweep_measured_tflops(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *value = &sweep->series[series].values[point];

	return value->is_legal && value->time.count ? sweep->flop[point] / value->time.median * 1e-6
						    : NAN;
}

bool sweep_is_wave_edge(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *values = sweep->series[series].values;

	return point > 0 && values[point].is_legal && values[point - 1].is_legal &&
	       fabs(values[point].waves - values[point - 1].waves) > 0.5;
}

/* ---- JSON and CSV ---- */
static struct json *point_json(const struct sweep *sweep, size_t series, size_t point)
{
	const struct sweep_value *value = &sweep->series[series].values[point];
	struct json *json = json_new_object();

	json_put_int(json, "x", sweep->x[point]);
	json_put_bool(json, "legal", value->is_legal);
	if (!value->is_legal)
		return json;
	json_put_string(json, "outcome", outcome_name(value->outcome));
	json_put_double(json, "tiles", value->tiles);
	json_put_double(json, "waves", value->waves);
	json_put_double(json, "waves_exact", value->waves_exact);
	json_put_double(json, "predicted_us", value->predicted_us);
	json_put_double(json, "predicted_tflops", sweep_predicted_tflops(sweep, series, point));
	if (value->time.count) {
		json_put_double(json, "measured_us", value->time.median);
		json_put_double(json, "ci95_low_us", value->time.ci95_low);
		json_put_double(json, "ci95_high_us", value->time.ci95_high);
		json_put_double(
			json, "measured_tflops", sweep_measured_tflops(sweep, series, point));
	}
	return json;
}

static struct json *edges_json(const struct sweep *sweep)
{
	struct json *list = json_new_array();

	for (size_t i = 1; i < sweep->problems.count; i++) {
		struct json *json;

		if (!sweep_is_wave_edge(sweep, 0, i))
			continue;
		json = json_new_object();
		json_put_int(json, "x", sweep->x[i]);
		json_put_double(json, "waves_before", sweep->series[0].values[i - 1].waves);
		json_put_double(json, "waves", sweep->series[0].values[i].waves);
		json_push(list, json);
	}
	return list;
}

struct json *sweep_to_json(const struct sweep *sweep)
{
	struct json *json = json_new_object(), *list = json_new_array();

	json_put_string(json, "format", "tiletune.sweep/1");
	json_put_string(json, "operation", operation_name(sweep->operation));
	json_put_string(json, "sweep", sweep->range);
	json_put(json, "device",
		gpu_model_json(device_spec(sweep->context->device),
			device_identity(sweep->context->device)->name));
	json_put_string(json, "timing", sweep->measured ? "measured" : "predicted");
	json_put(json, "first_problem", problem_to_json(sweep->problems.items[0]));
	for (size_t s = 0; s < sweep->series_count; s++) {
		struct json *series = json_new_object(), *points = json_new_array();

		json_put_string(series, "family", family_name(sweep->series[s].family));
		json_put_string(series, "configuration", sweep->series[s].configuration);
		for (size_t i = 0; i < sweep->problems.count; i++)
			json_push(points, point_json(sweep, s, i));
		json_put(series, "points", points);
		json_push(list, series);
	}
	json_put(json, "series", list);
	json_put(json, "wave_edges", edges_json(sweep));
	return json;
}

static void put_number(struct text *csv, double value)
{
	text_append_char(csv, ',');
	if (isfinite(value))
		text_appendf(csv, "%.6g", value);
}

void sweep_to_csv(const struct sweep *sweep, struct text *csv)
{
	text_appendf(csv,
		"%s,family,configuration,tiles,waves,waves_exact,predicted_us,predicted_tflops,"
		"measured_us,ci95_low_us,ci95_high_us,measured_tflops,outcome\n",
		sweep->label);
	for (size_t s = 0; s < sweep->series_count; s++)
		for (size_t i = 0; i < sweep->problems.count; i++) {
			const struct sweep_value *value = &sweep->series[s].values[i];

			if (!value->is_legal)
				continue;
			text_appendf(csv, "%" PRId64 ",%s,\"%s\"", sweep->x[i],
				family_name(sweep->series[s].family),
				sweep->series[s].configuration);
			put_number(csv, value->tiles);
			put_number(csv, value->waves);
			put_number(csv, value->waves_exact);
			put_number(csv, value->predicted_us);
			put_number(csv, sweep_predicted_tflops(sweep, s, i));
			put_number(csv, value->time.count ? value->time.median : NAN);
			put_number(csv, value->time.count ? value->time.ci95_low : NAN);
			put_number(csv, value->time.count ? value->time.ci95_high : NAN);
			put_number(csv, sweep_measured_tflops(sweep, s, i));
			text_appendf(csv, ",%s\n", outcome_name(value->outcome));
		}
}
