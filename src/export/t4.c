/* SPDX-License-Identifier: MIT
 *
 * T4, the open format of autotuning results (kernel_tuner's schema T4 1.0.0): of a tuned file the
 * best of every family, of a journal every evaluation with its samples. Times are in milliseconds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

static const double ms_per_us = 1e-3;

/* T4 has neither problems nor families: both become members of the configuration. */
static struct json *configuration_json(
	const char *operation, const char *problem, const char *family)
{
	struct json *json = json_new_object();

	json_put_string(json, "operation", operation);
	json_put_string(json, "problem", problem);
	json_put_string(json, "family", family);
	return json;
}

static void put_measurement(struct json *list, const char *name, double value, const char *unit)
{
	struct json *json;

	if (!isfinite(value))
		return;
	json = json_new_object();
	json_put_string(json, "name", name);
	json_put_double(json, "value", value);
	json_put_string(json, "unit", unit);
	json_push(list, json);
}

static struct json *result_json(struct json *configuration, const char *timestamp,
	struct json *times, const char *invalidity, bool correct, struct json *measurements)
{
	struct json *json = json_new_object(), *objectives = json_new_array();

	json_push(objectives, json_new_string("time"));
	if (timestamp[0])
		json_put_string(json, "timestamp", timestamp);
	json_put(json, "configuration", configuration);
	json_put(json, "objectives", objectives);
	json_put(json, "times", times);
	json_put_string(json, "invalidity", invalidity);
	json_put_int(json, "correctness", correct);
	json_put(json, "measurements", measurements);
	return json;
}

/* ---- a tuned file ---- */
static const char *date_of(const struct tuned *tuned, const char *run)
{
	struct json_at root = json_root(tuned->root, tuned->path), runs;

	if (!json_find(&root, "runs", &runs))
		return "";
	for (size_t i = 0; i < json_count(&runs); i++) {
		struct json_at at = json_item(&runs, i);

		if (strcmp(export_string(&at, "id"), run) == 0)
			return export_string(&at, "date");
	}
	return "";
}

static bool was_verified(const struct json_at *row)
{
	struct json_at errors, verified;
	bool value = false;

	return json_find(row, "errors", &errors) && json_find(&errors, "verified", &verified) &&
	       json_get_bool(&verified, &value, NULL) == STATUS_OK && value;
}

static struct json *tuned_result(
	const struct export_source *source, const struct json_at *entry, const struct json_at *row)
{
	bool measured = strcmp(export_string(entry, "timing"), "measured") == 0;
	const char *run = export_string(row, "run");
	struct json *measurements = json_new_array(), *times = json_new_object();
	struct json *runtimes = json_new_array(), *configuration;
	struct text problem = {0};
	struct json_at time, parameters;
	double median = NAN;

	export_member_pairs(entry, "problem", ",", &problem);
	configuration = configuration_json(export_string(entry, "operation"), text_string(&problem),
		export_string(row, "family"));
	if (json_find(row, "configuration", &parameters))
		for (size_t i = 0; i < json_count(&parameters); i++) {
			struct json_at parameter = json_item(&parameters, i);

			json_put(configuration, parameter.key, json_copy(parameter.node));
		}
	if (json_find(row, "time_us", &time))
		median = export_number(&time, "median") * ms_per_us;
	if (measured && isfinite(median))
		json_push(runtimes, json_new_double(median));
	json_put(times, "runtimes", runtimes);
	put_measurement(measurements, measured ? "time" : "predicted_time", median, "ms");
	put_measurement(measurements, "tflops", export_number(row, "tflops"), "TFLOP/s");
	put_measurement(measurements, "gb_per_s", export_number(row, "gb_per_s"), "GB/s");
	put_measurement(measurements, "regs_per_thread", export_number(row, "regs_per_thread"),
		"registers");
	put_measurement(measurements, "smem_bytes", export_number(row, "smem_bytes"), "bytes");
	text_release(&problem);
	return result_json(configuration,
		date_of(source->tuned, run[0] ? run : export_string(entry, "run")), times,
		"correct", was_verified(row), measurements);
}

static void write_tuned(const struct export_source *source, struct json *results)
{
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct json_at *entry = &source->entries[i];
		struct json_at families, winner;

		if (json_find(entry, "families", &families) && json_count(&families)) {
			for (size_t k = 0; k < json_count(&families); k++) {
				struct json_at row = json_item(&families, k);

				json_push(results, tuned_result(source, entry, &row));
			}
		} else if (json_find(entry, "winner", &winner)) {
			json_push(results, tuned_result(source, entry, &winner));
		}
	}
}

/* ---- a journal ---- */
static const char *invalidity_of(enum outcome outcome)
{
	switch (outcome) {
	case OUTCOME_OK:
	case OUTCOME_TOO_NOISY:
		return "correct";
	case OUTCOME_PRUNED_BY_MODEL:
		return "constraints";
	case OUTCOME_COMPILE_FAILED:
	case OUTCOME_COMPILE_CRASHED:
	case OUTCOME_COMPILE_TIMEOUT:
		return "compile";
	case OUTCOME_TIMED_OUT:
		return "timeout";
	case OUTCOME_WRONG_RESULT:
	case OUTCOME_OUT_OF_BOUNDS:
	case OUTCOME_NONDETERMINISTIC:
		return "correctness";
	case OUTCOME_LAUNCH_FAILED:
	case OUTCOME_OUT_OF_MEMORY:
	case OUTCOME_CRASHED:
	case OUTCOME_DEVICE_LOST:
	case OUTCOME_COUNT:
		break;
	}
	return "runtime";
}

/* "BM=128,X=bf16" into members; whole numbers as numbers. */
static void put_parameters(struct json *configuration, const char *text)
{
	char *copy = string_copy(text), *rest = copy, *item;

	while (*text && (item = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(item, '='), *end;
		long long number;

		if (!equals)
			continue;
		*equals = '\0';
		number = strtoll(equals + 1, &end, 10);
		if (equals[1] && !*end)
			json_put_int(configuration, item, (int64_t)number);
		else
			json_put_string(configuration, item, equals + 1);
	}
	free(copy);
}

static struct json *evaluation_result(const struct journal_problem *problem, const char *date,
	const struct evaluation *evaluation)
{
	struct json *configuration =
		configuration_json(problem->operation, problem->problem, evaluation->family);
	struct json *measurements = json_new_array(), *times = json_new_object();
	struct json *runtimes = json_new_array();
	bool timed = evaluation->time.count > 0;

	put_parameters(configuration, evaluation->configuration);
	for (size_t i = 0; !evaluation->predicted && i < evaluation->sample_count; i++)
		json_push(runtimes, json_new_double(evaluation->samples_us[i] * ms_per_us));
	json_put_double(times, "compilation_time", evaluation->compile_seconds * 1e3);
	json_put(times, "runtimes", runtimes);
	if (evaluation->score.launch_count)
		put_measurement(measurements, "predicted_time",
			evaluation->score.predicted_time_us * ms_per_us, "ms");
	if (!evaluation->predicted)
		put_measurement(measurements, "time",
			timed ? evaluation->time.median * ms_per_us : NAN, "ms");
	return result_json(configuration, date, times, invalidity_of(evaluation->outcome),
		evaluation->verification.done && !evaluation->verification.violations,
		measurements);
}

static void write_journal(const struct journal_record *journal, struct json *results)
{
	for (size_t r = 0; r < journal->run_count; r++) {
		const struct journal_run *run = &journal->runs[r];
		struct json_at line = json_root(run->line, "journal");
		const char *date = export_string(&line, "date");

		for (size_t p = 0; p < run->problem_count; p++)
			for (size_t i = 0; i < run->problems[p].evaluation_count; i++)
				json_push(results, evaluation_result(&run->problems[p], date,
							   &run->problems[p].evaluations[i]));
	}
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *json = json_new_object(), *results = json_new_array();
	struct json *metadata = json_new_object();
	char *printed;

	(void)err;
	json_put_string(json, "schema_version", "1.0.0");
	json_put_string(metadata, "timeunit", "milliseconds");
	json_put(json, "metadata", metadata);
	if (source->journal)
		write_journal(source->journal, results);
	else
		write_tuned(source, results);
	json_put(json, "results", results);
	printed = json_print(json, true);
	text_appendf(text, "%s\n", printed);
	free(printed);
	json_free(json);
	return STATUS_OK;
}

const struct export_format export_format_t4 = {
	.name = "t4",
	.summary = "the open format of autotuning results (kernel_tuner's T4 schema)",
	.reads_journals = true,
	.write = write,
};
