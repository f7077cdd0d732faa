/* SPDX-License-Identifier: MIT
 *
 * The journal's file: opening, a full disk, devices. tests/rules/test_journal.py has its lines.
 */
#include "unit/unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "format/journal.h"
#include "record/record_write.h"

struct scratch {
	char folder[512];
	char *path;
};

static int setup(void **state)
{
	struct scratch *scratch = memory_zeroed(1, sizeof(*scratch));

	string_put(
		scratch->folder, sizeof(scratch->folder), TEST_SCRATCH "/tiletune-journal-XXXXXX");
	assert_non_null(mkdtemp(scratch->folder));
	scratch->path = path_join(scratch->folder, "deep/er/x.journal.jsonl");
	*state = scratch;
	return 0;
}

static int teardown(void **state)
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
static struct json *run_line(const char *id)
{
	static const char text[] =
		"{\"format\":\"tiletune.journal/1\",\"date\":\"2026-01-01\",\"tiletune\":"
		"{\"version\":\"0\"},\"device_kind\":\"cuda\",\"device\":{\"name\":\"x\","
		"\"compute_capability\":90,\"sm_count\":100},\"signature\":\"sig\"}";
	struct json *line = NULL;
	struct error err = {0};

	assert_ok(json_parse(text, strlen(text), "run", &line, &err));
	json_put_string(line, "id", id);
	return line;
}

static struct json *problem_line(int64_t number, const char *text)
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

static struct json *result_line(int64_t problem)
{
	struct result result = {.family = string_copy("gemm/mma"),
		.configuration = string_copy("BM=16"),
		.outcome = OUTCOME_OK};
	const double time_us = 3.5;
	struct json *line;

	result_add_samples(&result, &time_us, 1);
	line = record_to_json(&result_record, &result);
	json_put_int(line, "problem", problem);
	result_release(&result);
	return line;
}

static struct json *finish_line(void)
{
	struct json *line = json_new_object();

	json_put_string(line, "run", "r");
	json_put_int(line, "status", 0);
	return line;
}

/* An unfinished run with two problems and two evaluations. */
static void write_run(const char *path, const char *id)
{
	struct journal *journal;
	struct error err = {0};

	assert_ok(journal_open(path, &journal, &err));
	assert_ok(journal_write(journal, "run", run_line(id), &err));
	for (int64_t i = 0; i < 2; i++) {
		assert_ok(journal_write(
			journal, "problem", problem_line(i, i ? "M=2" : "M=1"), &err));
		assert_ok(journal_write(journal, "evaluation", result_line(i), &err));
	}
	journal_close(journal);
}

static void append(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

TEST_WITH(a_running_process_owns_its_run, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal *living, *other;
	struct error err = {0};

	write_run(scratch->path, "earlier");
	assert_ok(journal_open(scratch->path, &living, &err));
	assert_ok(journal_open(scratch->path, &other, &err));
	assert_false(journal_run_lives(scratch->path, "living"));
	assert_ok(journal_write(living, "run", run_line("living"), &err));
	assert_true(journal_run_lives(scratch->path, "living"));
	assert_false(journal_run_lives(scratch->path, "earlier"));
	/* lines are still written one by one */
	assert_ok(journal_write(other, "run", run_line("beside"), &err));
	assert_ok(journal_write(living, "finish", finish_line(), &err));
	assert_true(journal_run_lives(scratch->path, "living"));
	journal_close(living);
	assert_false(journal_run_lives(scratch->path, "living"));
	journal_close(other);
}

/* An incomplete last line may be one that another process is writing. */
TEST_WITH(opening_changes_nothing, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal *journal;
	struct text before = {0}, after = {0};
	struct error err = {0};

	write_run(scratch->path, "one");
	append(scratch->path, "{\"event\":\"ru");
	assert_ok(file_read(scratch->path, &before, &err));
	assert_ok(journal_open(scratch->path, &journal, &err));
	assert_ok(file_read(scratch->path, &after, &err));
	assert_string_equal(after.data, before.data);
	journal_close(journal);
	text_release(&before);
	text_release(&after);
}

TEST_WITH(compressed_journals_are_read, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal_record record;
	struct journal *journal;
	struct text whole = {0};
	struct error err = {0};

	write_run(scratch->path, "one");
	append(scratch->path,
		"{\"event\":\"ru"); /* an incomplete line ends the file, which is then compressed */
	assert_ok(file_read(scratch->path, &whole, &err));
	write_gzip(scratch->path, whole.data, whole.length);
	assert_ok(journal_read(scratch->path, &record, &err));
	assert_int_equal(record.run_count, 1);
	assert_int_equal(record.ignored_lines, 1);
	assert_int_equal(record.runs[0].problem_count, 2);
	journal_record_release(&record);
	/* no process appends plain lines to a compressed journal */
	assert_fails(journal_open(scratch->path, &journal, &err), STATUS_BAD_INPUT,
		"cannot append to a compressed journal");
	text_release(&whole);
	assert_ok(file_read(scratch->path, &whole, &err));
	assert_true(whole.length > 0);
	text_release(&whole);
}

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* If a disk of any size is full, the content before the line that did not fit stays intact, and no
 * later, shorter line makes the run look finished. */
TEST_WITH(a_full_disk_leaves_the_earlier_lines, setup, teardown)
{
	struct scratch *scratch = *state;
	struct text whole = {0};
	struct error err = {0};
	size_t failures = 0;

	write_run(scratch->path, "one");
	assert_ok(file_read(scratch->path, &whole, &err));
	signal(SIGXFSZ, SIG_IGN);
	for (size_t size = whole.length; size < whole.length + 400; size += 7) {
		struct journal *journal;
		struct journal_record record;
		struct text after = {0};
		enum status status;

		assert_ok(file_write(scratch->path, whole.data, whole.length, &err));
		assert_ok(journal_open(scratch->path, &journal, &err));
		limit_file_size(size);
		err = (struct error){0};
		status = journal_write(journal, "evaluation", result_line(1), &err);
		if (status != STATUS_OK) {
			failures++;
			assert_int_equal(status, STATUS_FAILED);
			assert_non_null(strstr(err.message, scratch->path));
			assert_non_null(strstr(err.hint, "run the command again to resume"));
			assert_int_equal(journal_write(journal, "finish", finish_line(), &err),
				STATUS_FAILED);
		}
		limit_file_size(RLIM_INFINITY);
		journal_close(journal);
		assert_ok(file_read(scratch->path, &after, &err));
		assert_true(after.length >= whole.length);
		assert_memory_equal(after.data, whole.data, whole.length);
		if (status != STATUS_OK)
			assert_int_equal(after.length, whole.length);
		assert_ok(journal_read(scratch->path, &record, &err));
		assert_non_null(journal_resumable(&record, "sig"));
		journal_record_release(&record);
		text_release(&after);
	}
	assert_true(failures > 10 && failures < 57);
	signal(SIGXFSZ, SIG_DFL);
	text_release(&whole);
}

TEST_WITH(devices_are_written_directly, setup, teardown)
{
	struct journal *journal;
	struct error err = {0};

	assert_ok(journal_open("/dev/null", &journal, &err));
	assert_ok(journal_write(journal, "finish", finish_line(), &err));
	journal_close(journal);
	assert_ok(journal_open("/dev/full", &journal, &err));
	assert_fails(
		journal_write(journal, "finish", finish_line(), &err), STATUS_FAILED, "/dev/full");
	journal_close(journal);
}

TEST_WITH(unwritable_paths_are_reported, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal *journal;
	struct error err = {0};
	char *below;

	write_run(scratch->path, "one");
	below = string_format("%s/x.jsonl", scratch->path); /* the path continues below a file */
	assert_fails(journal_open(below, &journal, &err), STATUS_BAD_INPUT, scratch->path);
	assert_null(journal);
	free(below);
	assert_fails(
		journal_open(scratch->folder, &journal, &err), STATUS_BAD_INPUT, scratch->folder);
}
