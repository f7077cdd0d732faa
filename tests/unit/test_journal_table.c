/* layer: format */
/* SPDX-License-Identifier: MIT
 *
 * The compact form of a journal: what comes back of it, and what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "format/journal_table.h"

static const char small[] = TEST_DATA "/report/small.journal.jsonl";
#define RUN                                                                                        \
	"{\"event\":\"run\",\"format\":\"tiletune.journal/1\",\"date\":\"2026-01-01\","            \
	"\"tiletune\":{\"version\":\"0\"},\"device_kind\":\"cuda\",\"device\":{\"name\":\"x\","    \
	"\"compute_capability\":90,\"sm_count\":100},"
#define PROBLEM "{\"event\":\"problem\",\"problem\":{\"M\":1},\"families\":[],"
static const char head[] = RUN "\"id\":\"a\",\"signature\":\"s\"}\n" PROBLEM
			       "\"number\":0,\"operation\":\"gemm\",\"text\":\"M=1\"}\n";

static void write_compact(const struct journal_record *record, const char *path)
{
	struct text text = {0};
	struct error err;

	for (size_t r = 0; r < record->run_count; r++) {
		const struct journal_run *run = &record->runs[r];

		text_appendf(&text, RUN "\"id\":\"%s\",\"signature\":\"%s\"}\n", run->run.id,
			run->signature);
		for (size_t p = 0; p < run->problem_count; p++) {
			const struct journal_problem *problem = &run->problems[p];

			text_appendf(&text,
				PROBLEM "\"number\":%d,\"operation\":\"%s\",\"text\":\"%s\"}\n",
				(int)problem->number, problem->operation, problem->problem);
			journal_table_put(problem->evaluations, problem->evaluation_count,
				"evaluation", problem->number, run->run.id, &text);
			journal_table_put(problem->remeasurements, problem->remeasurement_count,
				"final", problem->number, run->run.id, &text);
		}
	}
	assert_ok(file_write(path, text_string(&text), text.length, &err));
	text_release(&text);
}

static void assert_near(double found, double expected)
{
	if (fabs(found - expected) > 1e-4 * fabs(expected))
		fail_msg("expected %.9g, found %.9g", expected, found);
}

static void compare(const struct evaluation *back, const struct evaluation *evaluation)
{
	assert_string_equal(back->family, evaluation->family);
	assert_string_equal(back->configuration, evaluation->configuration);
	assert_int_equal(back->outcome, evaluation->outcome);
	assert_int_equal(back->flags, evaluation->flags);
	assert_int_equal(back->predicted, evaluation->predicted);
	assert_int_equal(back->time.count, evaluation->time.count);
	assert_near(back->time.median, evaluation->time.median);
	assert_near(back->time.ci95_low, evaluation->time.ci95_low);
	assert_near(back->compile_seconds, evaluation->compile_seconds);
	assert_int_equal(back->resources != NULL, evaluation->resources != NULL);
	for (size_t i = 0; evaluation->resources && i < evaluation->launch_count; i++) {
		assert_int_equal(back->resources[i].regs_per_thread,
			evaluation->resources[i].regs_per_thread);
		assert_int_equal(
			back->resources[i].blocks_per_sm, evaluation->resources[i].blocks_per_sm);
	}
}

static void test_round_trip(void **state)
{
	const char *path = TEST_BUILD "/tests/compact.journal.jsonl";
	struct journal_record record, back;
	struct error err;
	size_t compared = 0;

	(void)state;
	assert_ok(journal_read(small, &record, &err));
	write_compact(&record, path);
	assert_ok(journal_read(path, &back, &err));
	assert_int_equal(back.run_count, record.run_count);
	for (size_t r = 0; r < record.run_count; r++)
		for (size_t p = 0; p < record.runs[r].problem_count; p++) {
			const struct journal_problem *now = &back.runs[r].problems[p];
			const struct journal_problem *then = &record.runs[r].problems[p];

			assert_int_equal(now->evaluation_count, then->evaluation_count);
			assert_int_equal(now->remeasurement_count, then->remeasurement_count);
			for (size_t i = 0; i < then->evaluation_count; i++, compared++) {
				compare(&now->evaluations[i], &then->evaluations[i]);
				assert_int_equal(now->evaluations[i].sample_count, 0);
			}
			for (size_t i = 0; i < then->remeasurement_count; i++) {
				compare(&now->remeasurements[i], &then->remeasurements[i]);
				assert_int_equal(now->remeasurements[i].sample_count,
					then->remeasurements[i].sample_count);
			}
		}
	assert_true(compared > 10);
	journal_record_release(&record);
	journal_record_release(&back);
	remove(path);
}

static void refuse(const char *line, const char *expected)
{
	const char *path = TEST_BUILD "/tests/refused.journal.jsonl";
	char *content = string_format("%s%s\n", head, line);
	struct journal_record record;
	struct error err;

	assert_ok(file_write(path, content, strlen(content), &err));
	if (journal_read(path, &record, &err) != STATUS_BAD_INPUT)
		fail_msg("expected an error that says \"%s\"", expected);
	if (!strstr(err.message, expected))
		fail_msg("expected \"%s\" in \"%s\"", expected, err.message);
	free(content);
	remove(path);
}

#define TABLE(places, columns)                                                                     \
	"{\"event\":\"evaluations\",\"problem\":0,\"of\":\"evaluation\",\"parameters\":[\"BM\"],"  \
	"\"places\":" places                                                                       \
	",\"same\":{\"family\":\"gemm/mma\",\"kernel_hash\":\"\",\"outcome\":\"crashed\","         \
	"\"flags\":[],\"compile_seconds\":1,\"from_cache\":false},\"columns\":" columns "}"

static void test_refused(void **state)
{
	(void)state;
	refuse(TABLE("[0,1]", "{\"configuration.BM\":[64]}"), "expected a value for each place");
	refuse(TABLE("[0,0]", "{\"configuration.BM\":[64,128]}"), "a place that no other row has");
	refuse(TABLE("[1]", "{\"configuration.BM\":[64]}"),
		"a row for each place, found none for 0");
	refuse(TABLE("[99999999]", "{\"configuration.BM\":[64]}"), "0..16777216");
	refuse(TABLE("[0]", "{\"detail\":[5]}"), "detail: expected a string");
	refuse(TABLE("[0]", "[]"), "$.columns: expected an object");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
