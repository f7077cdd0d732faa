/* SPDX-License-Identifier: MIT
 *
 * Scratch journals for tests, with lines of every kind.
 */
#ifndef TESTS_JOURNAL_FIXTURE_H
#define TESTS_JOURNAL_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/record_write.h"
#include "format/journal.h"
#include "unit/unit.h"

struct scratch {
	char folder[512];
	char *path;
};

static inline int setup(void **state)
{
	struct scratch *scratch = memory_zeroed(1, sizeof(*scratch));

	string_put(
		scratch->folder, sizeof(scratch->folder), TEST_SCRATCH "/tiletune-journal-XXXXXX");
	assert_non_null(mkdtemp(scratch->folder));
	scratch->path = path_join(scratch->folder, "deep/er/x.journal.jsonl");
	*state = scratch;
	return 0;
}

static inline int teardown(void **state)
{
	struct scratch *scratch = *state;
	char *command = string_format("rm -rf '%s'", scratch->folder);

	assert_int_equal(system(command), 0);
	free(command);
	free(scratch->path);
	free(scratch);
	return 0;
}

/* ---- lines ---- */
static inline struct json *run_line(const char *id, const char *signature, const char *resumes)
{
	static const char text[] =
		"{\"format\":\"tiletune.journal/1\",\"date\":\"2026-01-01\",\"tiletune\":"
		"{\"version\":\"0\"},\"device_kind\":\"cuda\",\"device\":{\"name\":\"x\","
		"\"compute_capability\":90,\"sm_count\":100}}";
	struct json *line = NULL;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "run", &line, &err));
	json_put_string(line, "id", id);
	json_put_string(line, "signature", signature);
	if (resumes)
		json_put_string(line, "resumes", resumes);
	return line;
}

static inline struct json *problem_line(int64_t number, const char *text)
{
	static const char rest[] = "{\"problem\":{\"M\":1},\"families\":[]}";
	struct json *line = NULL;
	struct error err = {0};

	assert_ok(json_parse(rest, strlen(rest), "problem", &line, &err));
	json_put_int(line, "number", number);
	json_put_string(line, "operation", "gemm");
	json_put_string(line, "text", text);
	return line;
}

static inline struct json *result_line(int64_t problem, const char *configuration, double time_us)
{
	struct result result = {.family = string_copy("gemm/mma"),
		.configuration = string_copy(configuration),
		.outcome = OUTCOME_OK};
	struct json *line;

	result_add_samples(&result, &time_us, 1);
	line = record_to_json(&result_record, &result);
	json_put_int(line, "problem", problem);
	result_release(&result);
	return line;
}

static inline struct json *finish_line(void)
{
	struct json *line = json_new_object();

	json_put_string(line, "run", "r");
	json_put_int(line, "status", 0);
	return line;
}

static inline struct json *entry_line(int64_t problem)
{
	static const char text[] =
		"{\"operation\":\"gemm\",\"problem\":{\"M\":1},\"timing\":\"measured\","
		"\"run\":\"r\",\"winner\":{\"family\":\"gemm/mma\",\"configuration\":{\"BM\":16},"
		"\"time_us\":{\"median\":3.25,\"ci95_low\":3,\"ci95_high\":4,\"samples\":1},"
		"\"kernel_hash\":\"\"},\"tied\":[],\"families\":[]}";
	struct json *line = json_new_object(), *entry = NULL;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "entry", &entry, &err));
	json_put_int(line, "problem", problem);
	json_put(line, "entry", entry);
	return line;
}

/* One run: two problems, three evaluations, two remeasurements, an entry. */
static inline void write_run(const char *path, const char *id, const char *resumes, bool finish)
{
	struct journal *journal;
	struct error err = {0};

	assert_ok(journal_open(path, &journal, &err));
	assert_ok(journal_write(journal, "run", run_line(id, "sig", resumes), &err));
	assert_ok(journal_write(journal, "problem", problem_line(0, "M=1"), &err));
	assert_ok(journal_write(journal, "evaluation", result_line(0, "BM=16", 3.5), &err));
	assert_ok(journal_write(journal, "evaluation", result_line(0, "BM=32", 2.5), &err));
	assert_ok(journal_write(journal, "final", result_line(0, "BM=32", 2.25), &err));
	assert_ok(journal_write(journal, "final", result_line(0, "BM=16", 3.25), &err));
	assert_ok(journal_write(journal, "entry", entry_line(0), &err));
	assert_ok(journal_write(journal, "problem", problem_line(1, "M=2"), &err));
	assert_ok(journal_write(journal, "evaluation", result_line(1, "BM=64", 7), &err));
	if (finish)
		assert_ok(journal_write(journal, "finish", finish_line(), &err));
	journal_close(journal);
}

static inline void append(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#endif
