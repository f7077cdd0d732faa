/* SPDX-License-Identifier: MIT */
#include "format/recorded.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const double us_per_ms = 1e3;
/* What a cache file without end lacks: the brackets of "cache" and of the file. */
static const char closing[] = "}}";

bool recorded_is(const struct text *content)
{
	const char *text = text_string(content), *line_end = strchr(text, '\n');
	const char *event = strstr(text, "\"event\"");

	/* a journal's first line is an object with an event */
	return text[strspn(text, " \t\r\n")] == '{' && (!event || (line_end && event > line_end)) &&
	       (strstr(text, "\"cache\"") || strstr(text, "\"results\""));
}

/* ---- one run, and its problems ---- */
static struct journal_run *add_run(struct journal_record *record, const char *device)
{
	struct journal_run *run;

	ARRAY_GROW(record->runs, record->run_count, record->run_capacity);
	run = &record->runs[record->run_count++];
	*run = (struct journal_run){
		.run = {.id = string_copy("recorded"), .device_kind = string_copy("cuda")},
		.signature = string_copy("recorded"),
		.device = {.name = string_copy(device),
			.compute_capability = -1,
			.sm_count = -1,
			.l2_bytes = -1,
			.dram_bytes = -1,
			.smem_per_sm_bytes = -1,
			.smem_per_block_bytes = -1,
			.regs_per_sm = -1},
	};
	return run;
}

static struct journal_problem *problem_of(
	struct journal_run *run, const char *operation, const char *text)
{
	struct journal_problem *problem;

	/* results of one problem stand together: the last first */
	for (size_t i = run->problem_count; i-- > 0;)
		if (strcmp(run->problems[i].operation, operation) == 0 &&
			strcmp(run->problems[i].problem, text) == 0)
			return &run->problems[i];
	ARRAY_GROW(run->problems, run->problem_count, run->problem_capacity);
	problem = &run->problems[run->problem_count];
	*problem = (struct journal_problem){.number = (int64_t)run->problem_count,
		.operation = string_copy(operation),
		.problem = string_copy(text)};
	run->problem_count++;
	return problem;
}

/* ---- one result ---- */
static enum outcome outcome_of(const char *words)
{
	static const struct {
		const char *words;
		enum outcome outcome;
	} known[] = {
		{"correct", OUTCOME_OK},
		{"InvalidConfig", OUTCOME_PRUNED_BY_MODEL},
		{"constraints", OUTCOME_PRUNED_BY_MODEL},
		{"CompilationFailedConfig", OUTCOME_COMPILE_FAILED},
		{"compile", OUTCOME_COMPILE_FAILED},
		{"correctness", OUTCOME_WRONG_RESULT},
		{"timeout", OUTCOME_TIMED_OUT},
	};

	for (size_t i = 0; i < ARRAY_COUNT(known); i++)
		if (strcmp(words, known[i].words) == 0)
			return known[i].outcome;
	return OUTCOME_LAUNCH_FAILED; /* RuntimeFailedConfig, runtime */
}

/* A number or a word as it stands in a configuration; false for lists and objects. */
static bool put_value(const struct json_at *value, struct text *text)
{
	const enum json_type type = json_type(value);
	CLEANUP(memory_free) char *printed = NULL;
	const char *word;

	if (type == JSON_ARRAY || type == JSON_OBJECT || type == JSON_NULL)
		return false;
	if (type == JSON_STRING && json_get_string(value, &word, NULL) == STATUS_OK) {
		text_append(text, word);
		return true;
	}
	printed = json_print(value->node, false);
	text_append(text, printed);
	return true;
}

/* time: a number of `unit_us`, or a text that says why there is none. */
static enum status add_result(struct journal_problem *problem, const char *family,
	char *configuration, const struct json_at *time, double unit_us, struct error *err)
{
	struct evaluation *evaluation;
	const char *words = NULL;
	double value = 0;

	ARRAY_GROW(problem->evaluations, problem->evaluation_count, problem->evaluation_capacity);
	evaluation = &problem->evaluations[problem->evaluation_count++];
	*evaluation =
		(struct evaluation){.family = string_copy(family), .configuration = configuration};
	if (json_type(time) == JSON_STRING) {
		TRY(json_get_string(time, &words, err));
		evaluation->outcome = outcome_of(words);
		if (evaluation->outcome == OUTCOME_OK)
			return json_error(time, err, "a time, or why there is none");
		evaluation->detail = string_copy(words);
		return STATUS_OK;
	}
	TRY(json_get_double(time, &value, err));
	if (!(value > 0 && isfinite(value * unit_us)))
		return json_error(time, err, "a time above 0");
	value *= unit_us;
	evaluation_add_samples(evaluation, &value, 1);
	return STATUS_OK;
}

/* ---- Kernel Tuner's cache ---- */
static enum status read_sizes(const struct json_at *root, struct text *text)
{
	struct json_at sizes, size = {0};

	text_append(text, "problem_size=");
	if (!json_find(root, "problem_size", &sizes))
		return STATUS_OK;
	if (put_value(&sizes, text))
		return STATUS_OK;
	while (json_next(&sizes, &size)) {
		if (size.index)
			text_append_char(text, 'x');
		put_value(&size, text);
	}
	return STATUS_OK;
}

static enum status read_cached(struct journal_problem *problem, const char *family,
	const struct json_at *keys, const struct json_at *result, struct error *err)
{
	CLEANUP(text_release) struct text configuration = {0};
	struct json_at key = {0}, value, time;
	double compile_ms;

	while (json_next(keys, &key)) {
		const char *name;

		TRY(json_get_string(&key, &name, err));
		TRY(json_member(result, name, &value, err));
		text_appendf(&configuration, "%s%s=", key.index ? "," : "", name);
		if (!put_value(&value, &configuration))
			return json_error(&value, err, "a number or a text");
	}
	TRY(json_member(result, "time", &time, err));
	TRY(add_result(problem, family, text_detach(&configuration), &time, us_per_ms, err));
	if (json_find(result, "compile_time", &value) &&
		json_get_double(&value, &compile_ms, NULL) == STATUS_OK && compile_ms > 0)
		problem->evaluations[problem->evaluation_count - 1].compile_seconds =
			compile_ms / 1e3;
	return STATUS_OK;
}

static enum status read_cache(const struct json_at *root, const struct json_at *cache,
	struct journal_record *record, struct error *err)
{
	CLEANUP(text_release) struct text sizes = {0};
	CLEANUP(memory_free) char *family = NULL;
	struct json_at keys, result = {0};
	const char *kernel, *device;
	struct journal_problem *problem;

	TRY(json_member_string(root, "kernel_name", &kernel, err));
	TRY(json_member_string(root, "device_name", &device, err));
	TRY(json_member(root, "tune_params_keys", &keys, err));
	TRY(json_expect(&keys, JSON_ARRAY, err));
	TRY(read_sizes(root, &sizes));
	family = string_format("%s/recorded", kernel);
	problem = problem_of(add_run(record, device), kernel, text_string(&sizes));
	while (json_next(cache, &result))
		TRY(read_cached(problem, family, &keys, &result, err));
	return STATUS_OK;
}

/* ---- T4 results ---- */
/* The members of a configuration that say what it is of, as tiletune writes them. */
struct belongs {
	const char *operation, *problem, *family;
};

static enum status read_configuration(const struct json_at *configuration, struct belongs *belongs,
	struct text *text, struct error *err)
{
	const struct {
		const char *name, **word;
	} words[] = {{"operation", &belongs->operation}, {"problem", &belongs->problem},
		{"family", &belongs->family}};
	struct json_at value = {0};

	TRY(json_expect(configuration, JSON_OBJECT, err));
	while (json_next(configuration, &value)) {
		bool is_word = false;

		for (size_t i = 0; i < ARRAY_COUNT(words) && !is_word; i++)
			is_word = strcmp(value.key, words[i].name) == 0 &&
				  json_get_string(&value, words[i].word, NULL) == STATUS_OK;
		if (is_word)
			continue;
		text_appendf(text, "%s%s=", text->length ? "," : "", value.key);
		if (!put_value(&value, text))
			return json_error(&value, err, "a number or a text");
	}
	return STATUS_OK;
}

/* The measurement called `time`; *time_us_per: of its unit. */
static enum status find_time(
	const struct json_at *result, struct json_at *value, double *unit_us, struct error *err)
{
	struct json_at measurements, measurement = {0}, unit;

	TRY(json_member(result, "measurements", &measurements, err));
	while (json_next(&measurements, &measurement)) {
		const char *name, *of = "";

		TRY(json_member_string(&measurement, "name", &name, err));
		if (strcmp(name, "time") != 0)
			continue;
		if (json_find(&measurement, "unit", &unit))
			TRY(json_get_string(&unit, &of, err));
		*unit_us = strcmp(of, "s") == 0 ? 1e6 : strcmp(of, "us") == 0 ? 1 : us_per_ms;
		return json_member(&measurement, "value", value, err);
	}
	return json_error(&measurements, err, "a measurement called \"time\"");
}

static enum status read_result(
	struct journal_run *run, const struct json_at *result, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};
	struct belongs belongs = {"recorded", "", "recorded/recorded"};
	struct json_at configuration, invalidity, time;
	double unit_us = us_per_ms;
	const char *words = "correct";

	TRY(json_member(result, "configuration", &configuration, err));
	TRY(read_configuration(&configuration, &belongs, &text, err));
	if (json_find(result, "invalidity", &invalidity))
		TRY(json_get_string(&invalidity, &words, err));
	if (outcome_of(words) == OUTCOME_OK)
		TRY(find_time(result, &time, &unit_us, err));
	else
		time = invalidity;
	return add_result(problem_of(run, belongs.operation, belongs.problem), belongs.family,
		text_detach(&text), &time, unit_us, err);
}

enum status recorded_read(const char *path, const struct text *content,
	struct journal_record *record, struct error *err)
{
	CLEANUP(json_release) struct json *root = NULL;
	struct error reason = {0};
	struct json_at at, list, result = {0};
	struct journal_run *run;

	if (json_parse(content->data, content->length, path, &root, &reason) != STATUS_OK) {
		CLEANUP(text_release) struct text closed = {0};
		size_t length = content->length;

		while (length && strchr(" \t\r\n,", content->data[length - 1]))
			length--;
		text_append_bytes(&closed, content->data, length);
		text_append(&closed, closing);
		if (json_parse(closed.data, closed.length, path, &root, NULL) != STATUS_OK) {
			*err = reason; /* of the file as it is */
			return reason.status;
		}
	}
	at = json_root(root, path);
	if (json_find(&at, "cache", &list)) {
		TRY(json_expect(&list, JSON_OBJECT, err));
		return read_cache(&at, &list, record, err);
	}
	TRY(json_member(&at, "results", &list, err));
	TRY(json_expect(&list, JSON_ARRAY, err));
	run = add_run(record, "not known");
	while (json_next(&list, &result))
		TRY(read_result(run, &result, err));
	return STATUS_OK;
}
