/* layer: format
 * SPDX-License-Identifier: MIT
 *
 * What other tuners recorded, read as journals.
 */
#include "unit.h"

#include <string.h>

#include "base/memory.h"
#include "format/recorded.h"

static const char cache[] =
	"{\n\"device_name\": \"A card\",\n\"kernel_name\": \"blur\",\n\"problem_size\": "
	"[\n64,\n32\n],\n"
	"\"tune_params_keys\": [\n\"x\",\n\"mode\"\n],\n\"tune_params\": {\"x\": [16, 32], "
	"\"mode\": [\"a\"]},\n"
	"\"cache\": {\n\"16,a\": {\"x\": 16, \"mode\": \"a\", \"time\": 2.5, \"times\": [2.4, "
	"2.6], \"compile_time\": 750},\n"
	"\"32,a\": {\"x\": 32, \"mode\": \"a\", \"compile_time\": \"\", \"time\": "
	"\"RuntimeFailedConfig\"},\n"
	"\"48,a\": {\"x\": 48, \"mode\": \"a\", \"time\": \"CompilationFailedConfig\"},\n"
	"\"64,a\": {\"x\": 64, \"mode\": \"a\", \"time\": \"InvalidConfig\"}";

static const char t4[] =
	"{\"metadata\": {}, \"schema_version\": \"1.0.0\", \"results\": [\n"
	"{\"configuration\": {\"x\": 16, \"fast\": true}, \"invalidity\": \"correct\", \"times\": "
	"{},\n"
	" \"measurements\": [{\"name\": \"power\", \"value\": 3, \"unit\": \"W\"},"
	" {\"name\": \"time\", \"value\": 0.5, \"unit\": \"ms\"}]},\n"
	"{\"configuration\": {\"operation\": \"gemm\", \"problem\": \"M=1\", \"family\": "
	"\"gemm/mma\","
	" \"BM\": 32}, \"invalidity\": \"correctness\"},\n"
	"{\"configuration\": {\"operation\": \"gemm\", \"problem\": \"M=1\", \"family\": "
	"\"gemm/mma\","
	" \"BM\": 64}, \"invalidity\": \"correct\","
	" \"measurements\": [{\"name\": \"time\", \"value\": 7, \"unit\": \"us\"}]}\n]}";

static enum status read_string(const char *string, struct journal_record *record, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};

	text_append(&content, string);
	*record = (struct journal_record){0};
	assert_true(recorded_is(&content));
	return recorded_read("file", &content, record, err);
}

static void check_cache(const struct journal_record *record)
{
	const struct journal_problem *problem;

	assert_int_equal(record->run_count, 1);
	assert_string_equal(record->runs[0].device.name, "A card");
	problem = journal_problem_find(&record->runs[0], "blur", "problem_size=64x32");
	assert_non_null(problem);
	assert_int_equal(problem->evaluation_count, 4);
	assert_string_equal(problem->evaluations[0].family, "blur/recorded");
	assert_string_equal(problem->evaluations[0].configuration, "x=16,mode=a");
	assert_int_equal(problem->evaluations[0].outcome, OUTCOME_OK);
	assert_true(problem->evaluations[0].time.median == 2500);
	assert_true(problem->evaluations[0].compile_seconds == 0.75);
	assert_true(problem->evaluations[1].compile_seconds == 0);
	assert_int_equal(problem->evaluations[1].outcome, OUTCOME_LAUNCH_FAILED);
	assert_string_equal(problem->evaluations[1].detail, "RuntimeFailedConfig");
	assert_int_equal(problem->evaluations[1].sample_count, 0);
	assert_int_equal(problem->evaluations[2].outcome, OUTCOME_COMPILE_FAILED);
	assert_int_equal(problem->evaluations[3].outcome, OUTCOME_PRUNED_BY_MODEL);
}

/* Its end is missing while it is being written. */
static void test_cache(void **state)
{
	static const char *const ends[] = {"", ",\n", "}}\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		CLEANUP(journal_record_release) struct journal_record record;
		CLEANUP(memory_free) char *content = string_format("%s%s", cache, ends[i]);
		struct error err = {0};

		assert_ok(read_string(content, &record, &err));
		check_cache(&record);
	}
}

static void test_results(void **state)
{
	CLEANUP(journal_record_release) struct journal_record record;
	const struct journal_problem *problem;
	struct error err = {0};

	(void)state;
	assert_ok(read_string(t4, &record, &err));
	problem = journal_problem_find(&record.runs[0], "recorded", "");
	assert_non_null(problem);
	assert_int_equal(problem->evaluation_count, 1);
	assert_string_equal(problem->evaluations[0].configuration, "x=16,fast=true");
	assert_true(problem->evaluations[0].time.median == 500);
	problem = journal_problem_find(&record.runs[0], "gemm", "M=1");
	assert_non_null(problem);
	assert_int_equal(problem->evaluation_count, 2);
	assert_string_equal(problem->evaluations[1].family, "gemm/mma");
	assert_string_equal(problem->evaluations[1].configuration, "BM=64");
	assert_int_equal(problem->evaluations[0].outcome, OUTCOME_WRONG_RESULT);
	assert_true(problem->evaluations[1].time.median == 7);
}

static void test_what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *content, *where;
	} cases[] = {
		{"{\"cache\": {}}", "kernel_name"},
		{"{\"kernel_name\": \"k\", \"device_name\": \"d\", \"tune_params_keys\": [\"x\"], "
		 "\"cache\": {\"1\": {\"x\": [], \"time\": 1}}}",
			"x: expected a number or a text"},
		{"{\"kernel_name\": \"k\", \"device_name\": \"d\", \"tune_params_keys\": [\"x\"], "
		 "\"cache\": {\"1\": {\"x\": 1, \"time\": -1}}}",
			"expected a time above 0"},
		{"{\"results\": [{\"configuration\": {\"x\": 1}, \"measurements\": []}]}",
			"expected a measurement called \"time\""},
		{"{\"cache\": {\"1\": {\"x\": ", "file"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		CLEANUP(journal_record_release) struct journal_record record;
		struct error err = {0};

		assert_int_equal(read_string(cases[i].content, &record, &err), STATUS_BAD_INPUT);
		assert_non_null(strstr(err.message, cases[i].where));
	}
}

/* A journal's first line is an event. */
static void test_journals_are_none(void **state)
{
	CLEANUP(text_release) struct text content = {0};

	(void)state;
	text_append(
		&content, "{\"event\":\"run\",\"command\":\"\\\"cache\\\" \\\"results\\\"\"}\n");
	assert_false(recorded_is(&content));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_what_is_wrong_is_named),
		cmocka_unit_test(test_journals_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
