/* SPDX-License-Identifier: MIT
 *
 * T4, the open format of autotuning results (kernel_tuner's schema T4 1.0.0): of a tuned file the
 * best of every family, of a journal every evaluation with its samples. Times are in milliseconds.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/export.h"
#include "report/format.h"

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
static struct json *tuned_result(const struct export_source *source,
	const struct tuned_entry *entry, const struct tuned_row *row)
{
	const struct {
		const char *name, *unit;
		double value;
	} amounts[] = {
		{entry->predicted ? "predicted_time" : "time", "ms", row->time.median * ms_per_us},
		{"tflops", "TFLOP/s", row->tflops}, {"gb_per_s", "GB/s", row->gb_per_s},
		{"regs_per_thread", "registers",
			row->regs_per_thread < 0 ? NAN : (double)row->regs_per_thread},
		{"smem_bytes", "bytes", row->smem_bytes < 0 ? NAN : (double)row->smem_bytes}};
	const struct run *run = tuned_row_run(source->tuned, entry, row);
	struct json *measurements = json_new_array(), *times = json_new_object();
	struct json *runtimes = json_new_array(), *configuration;
	char *problem = named_values_text(&entry->problem);

	configuration = configuration_json(entry->operation, problem, row->family);
	for (size_t i = 0; i < row->configuration.count; i++)
		json_put(configuration, row->configuration.items[i].name,
			named_value_custom.write(&row->configuration.items[i].value));
	if (!entry->predicted)
		json_push(runtimes, json_new_double(row->time.median * ms_per_us));
	json_put(times, "runtimes", runtimes);
	for (size_t i = 0; i < ARRAY_COUNT(amounts); i++)
		put_measurement(measurements, amounts[i].name, amounts[i].value, amounts[i].unit);
	free(problem);
	return result_json(configuration, run ? run->date : "", times, "correct",
		row->errors && row->errors->verified, measurements);
}

static void write_tuned(const struct export_source *source, struct json *results)
{
	for (size_t i = 0; i < source->entry_count; i++) {
		const struct tuned_entry *entry = source->entries[i];

		for (size_t k = 0; k < entry->family_count; k++)
			json_push(results, tuned_result(source, entry, &entry->families[k]));
		if (!entry->family_count)
			json_push(results, tuned_result(source, entry, &entry->winner));
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
static void put_parameters(struct json *configuration, const char *list)
{
	struct pair pair;

	while (pair_next(&list, &pair)) {
		CLEANUP(memory_free)
		char *name = string_copy_bytes(pair.name, (size_t)pair.name_length);
		CLEANUP(memory_free)
		char *value = string_copy_bytes(pair.value, (size_t)pair.value_length);
		int64_t number;

		if (pair_integer(&pair, &number))
			json_put_int(configuration, name, number);
		else
			json_put_string(configuration, name, value);
	}
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
	/* a compact journal keeps what follows from the samples */
	if (timed && !evaluation->predicted && !evaluation->sample_count)
		json_push(runtimes, json_new_double(evaluation->time.median * ms_per_us));
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

		for (size_t p = 0; p < run->problem_count; p++)
			for (size_t i = 0; i < run->problems[p].evaluation_count; i++)
				json_push(
					results, evaluation_result(&run->problems[p], run->run.date,
							 &run->problems[p].evaluations[i]));
	}
}

static enum status write(const struct export_source *source, struct text *text, struct error *err)
{
	struct json *json = json_new_object(), *results = json_new_array();
	struct json *metadata = json_new_object();

	(void)err;
	json_put_string(json, "schema_version", "1.0.0");
	json_put_string(metadata, "timeunit", "milliseconds");
	json_put(json, "metadata", metadata);
	if (source->journal)
		write_journal(source->journal, results);
	else
		write_tuned(source, results);
	json_put(json, "results", results);
	export_json(json, text);
	return STATUS_OK;
}

const struct export_format export_format_t4 = {
	.name = "t4",
	.summary = "the open format of autotuning results (kernel_tuner's T4 schema)",
	.reads_journals = true,
	.write = write,
};
