/* SPDX-License-Identifier: MIT
 *
 * The journal: intact lines stay readable after a kill, a full disk or a damaged byte.
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

#include "checked_line.h"
#include "journal_fixture.h"

/* ---- tests ---- */
TEST_WITH(what_is_written_is_read, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal_record record;
	const struct journal_problem *problem;
	struct error err = {0};

	write_run(scratch->path, "one", NULL, true);
	assert_ok(journal_read(scratch->path, &record, &err));
	assert_int_equal(record.run_count, 1);
	assert_int_equal(record.ignored_lines, 0);
	assert_string_equal(record.runs[0].run.id, "one");
	assert_true(record.runs[0].finish);
	assert_int_equal(record.runs[0].problem_count, 2);
	problem = journal_problem_find(&record.runs[0], "gemm", "M=1");
	assert_non_null(problem);
	assert_int_equal(problem->result_count, 2);
	assert_string_equal(problem->results[1].configuration, "BM=32");
	assert_true(problem->results[1].time.median == 2.5);
	assert_int_equal(problem->remeasurement_count, 2);
	assert_true(problem->remeasurements[0].time.median == 2.25);
	assert_non_null(problem->entry);
	problem = journal_problem_find(&record.runs[0], "gemm", "M=2");
	assert_int_equal(problem->result_count, 1);
	assert_null(problem->entry);
	assert_null(journal_problem_find(&record.runs[0], "attention", "M=1"));
	assert_null(journal_problem_find(&record.runs[0], "gemm", "M=3"));
	journal_record_release(&record);
}

TEST_WITH(unfinished_runs_of_one_signature_are_resumed, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal_record record;
	const struct journal_run *run;
	struct error err = {0};

	write_run(scratch->path, "one", NULL, false);
	write_run(scratch->path, "two", "one", false);
	write_run(scratch->path, "fresh", NULL, false);
	write_run(scratch->path, "four", "fresh", false);
	{
		/* another run in between does not matter */
		struct journal *journal;

		assert_ok(journal_open(scratch->path, &journal, &err));
		assert_ok(journal_write(journal, "run", run_line("other", "another", NULL), &err));
		assert_ok(journal_write(journal, "finish", finish_line(), &err));
		journal_close(journal);
	}
	{
		/* a running process owns its run until it ends */
		struct journal *living, *other;

		assert_ok(journal_open(scratch->path, &living, &err));
		assert_ok(journal_open(scratch->path, &other, &err));
		assert_false(journal_run_lives(scratch->path, "living"));
		assert_ok(journal_write(living, "run", run_line("living", "third", NULL), &err));
		assert_true(journal_run_lives(scratch->path, "living"));
		assert_false(journal_run_lives(scratch->path, "four"));
		/* its lines are still written one by one */
		assert_ok(journal_write(other, "run", run_line("beside", "third", NULL), &err));
		assert_ok(journal_write(living, "finish", finish_line(), &err));
		assert_true(journal_run_lives(scratch->path, "living"));
		journal_close(living);
		assert_false(journal_run_lives(scratch->path, "living"));
		journal_close(other);
	}
	assert_ok(journal_read(scratch->path, &record, &err));
	assert_null(journal_resumable(&record, "another")); /* finished */
	assert_null(journal_resumable(&record, "unknown"));
	run = journal_resumable(&record, "sig");
	assert_non_null(run);
	assert_string_equal(run->run.id, "four");
	run = journal_previous(&record, run);
	assert_string_equal(run->run.id, "fresh");
	assert_null(journal_previous(&record, run)); /* --fresh started a new search */
	assert_string_equal(journal_previous(&record, &record.runs[1])->run.id, "one");
	journal_record_release(&record);
}

/* After a kill at any byte, the earlier lines are intact and the next run is readable. */
TEST_WITH(a_kill_at_any_byte_keeps_the_earlier_lines, setup, teardown)
{
	struct scratch *scratch = *state;
	struct text whole = {0};
	struct error err = {0};
	size_t lines = 0;

	write_run(scratch->path, "one", NULL, true);
	assert_ok(file_read(scratch->path, &whole, &err));
	for (size_t size = 0; size <= whole.length; size++) {
		struct journal_record record;
		size_t found = 0;
		bool torn = size && whole.data[size - 1] != '\n' &&
			    !(size < whole.length && whole.data[size] == '\n');

		if (size && (size == whole.length ? whole.data[size - 1] == '\n'
						  : whole.data[size] == '\n'))
			lines += size < whole.length;
		assert_ok(file_write(scratch->path, whole.data, size, &err));
		assert_ok(journal_read(scratch->path, &record, &err));
		assert_int_equal(record.ignored_lines, torn);
		for (size_t r = 0; r < record.run_count; r++) {
			found += 1 + record.runs[r].problem_count + !!record.runs[r].finish;
			for (size_t p = 0; p < record.runs[r].problem_count; p++)
				found += record.runs[r].problems[p].result_count +
					 record.runs[r].problems[p].remeasurement_count +
					 (record.runs[r].problems[p].entry != NULL);
		}
		assert_int_equal(found, lines);
		journal_record_release(&record);
		if (size % 16 == 0) {
			write_run(scratch->path, "two", NULL, true);
			assert_ok(journal_read(scratch->path, &record, &err));
			assert_string_equal(record.runs[record.run_count - 1].run.id, "two");
			assert_int_equal(record.runs[record.run_count - 1].problem_count, 2);
			assert_int_equal(record.ignored_lines, torn);
			journal_record_release(&record);
		}
	}
	text_release(&whole);
}

static void append_checked(const char *path, const char *line)
{
	struct text text = {0};

	checked_line_append(&text, line, strlen(line));
	append(path, text.data);
	text_release(&text);
}

TEST_WITH(broken_lines_cost_no_others, setup, teardown)
{
	static const struct {
		const char *line, *message;
	} cases[] = {
		{"nonsense}", "line 2"},
		{"{\"event\":\"evaluation\",\"problem\":0}", "line 2: $: the member"},
		{"{\"event\":\"finish\",\"run\":\"a\",\"status\":-1}", "line 2: $.status"},
	};
	static const char head[] =
		"{\"event\":\"run\",\"format\":\"tiletune.journal/1\",\"id\":\"a\",\"date\":\"d\","
		"\"tiletune\":{\"version\":\"0\"},\"signature\":\"b\",\"device_kind\":\"cuda\","
		"\"device\":{\"name\":\"x\",\"compute_capability\":90,\"sm_count\":1}}";
	struct scratch *scratch = *state;
	struct journal_record record;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct journal *journal;

		unlink(scratch->path);
		assert_ok(journal_open(scratch->path, &journal, &err));
		append_checked(scratch->path, head);
		append_checked(scratch->path, cases[i].line);
		assert_ok(journal_write(journal, "problem", problem_line(0, "M=1"), &err));
		journal_close(journal);
		assert_ok(journal_read(scratch->path, &record, &err));
		assert_int_equal(record.run_count, 1);
		assert_int_equal(record.runs[0].problem_count, 1);
		assert_int_equal(record.bad_lines, 1);
		assert_non_null(strstr(record.bad_line, cases[i].message));
		assert_non_null(strstr(record.bad_line, scratch->path));
		journal_record_release(&record);
	}
	assert_fails(
		journal_read(scratch->folder, &record, &err), STATUS_BAD_INPUT, scratch->folder);
	assert_fails(journal_read("/nowhere/x.jsonl", &record, &err), STATUS_BAD_INPUT,
		"/nowhere/x.jsonl");
}

/* An incomplete last line may be one that another process is writing. */
TEST_WITH(opening_changes_nothing, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal *journal;
	struct text before = {0}, after = {0};
	struct error err = {0};

	write_run(scratch->path, "one", NULL, false);
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

	write_run(scratch->path, "one", NULL, true);
	append(scratch->path, "{\"event\":\"ru"); /* an incomplete line, then compressed */
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

/* With a disk of any size, the content before the line that did not fit is intact, and no later,
 * shorter line makes the run look finished. */
TEST_WITH(a_full_disk_leaves_the_earlier_lines, setup, teardown)
{
	struct scratch *scratch = *state;
	struct text whole = {0};
	struct error err = {0};
	size_t failures = 0;

	write_run(scratch->path, "one", NULL, false);
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
		status = journal_write(journal, "evaluation", result_line(1, "BM=96", 5), &err);
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

	write_run(scratch->path, "one", NULL, true);
	below = string_format("%s/x.jsonl", scratch->path); /* a path below a file */
	assert_fails(journal_open(below, &journal, &err), STATUS_BAD_INPUT, scratch->path);
	assert_null(journal);
	free(below);
	assert_fails(
		journal_open(scratch->folder, &journal, &err), STATUS_BAD_INPUT, scratch->folder);
}
