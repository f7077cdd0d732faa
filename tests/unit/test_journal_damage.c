/* SPDX-License-Identifier: MIT
 *
 * Journals that several processes write, and journals with one changed byte: no line is misread.
 */
#include "unit/unit.h"
#include "journal_fixture.h"

/* Two processes append to one journal; each line belongs to the run that wrote it. */
TEST_WITH(lines_belong_to_the_run_that_they_name, setup, teardown)
{
	struct scratch *scratch = *state;
	struct journal_record record;
	struct journal *a, *b;
	struct error err = {0};

	assert_ok(journal_open(scratch->path, &a, &err));
	assert_ok(journal_open(scratch->path, &b, &err));
	assert_ok(journal_write(a, "run", run_line("a", "sig a", NULL), &err));
	assert_ok(journal_write(a, "problem", problem_line(0, "M=1"), &err));
	assert_ok(journal_write(b, "run", run_line("b", "sig b", NULL), &err));
	assert_ok(journal_write(a, "evaluation", result_line(0, "BM=16", 5319), &err));
	assert_ok(journal_write(b, "problem", problem_line(0, "M=2"), &err));
	assert_ok(journal_write(b, "evaluation", result_line(0, "BM=16", 4.5), &err));
	assert_ok(journal_write(a, "evaluation", result_line(0, "BM=32", 5320), &err));
	assert_ok(journal_write(b, "finish", finish_line(), &err));
	journal_close(a);
	journal_close(b);
	assert_ok(journal_read(scratch->path, &record, &err));
	assert_int_equal(record.run_count, 2);
	assert_int_equal(record.bad_lines, 0);
	assert_null(journal_resumable(&record, "sig b"));
	assert_ptr_equal(journal_resumable(&record, "sig a"), &record.runs[0]);
	assert_int_equal(record.runs[0].problem_count, 1);
	assert_int_equal(record.runs[0].problems[0].result_count, 2);
	assert_true(record.runs[0].problems[0].results[0].time.median == 5319);
	assert_true(record.runs[0].problems[0].results[1].time.median == 5320);
	assert_int_equal(record.runs[1].problems[0].result_count, 1);
	assert_true(record.runs[1].problems[0].results[0].time.median == 4.5);
	journal_record_release(&record);
}

/* Every evaluation in the record equals a written one. */
static void expect_written(const struct journal_record *record)
{
	for (size_t r = 0; r < record->run_count; r++)
		for (size_t p = 0; p < record->runs[r].problem_count; p++) {
			const struct journal_problem *problem = &record->runs[r].problems[p];

			for (size_t i = 0; i < problem->result_count; i++) {
				const double median = problem->results[i].time.median;

				assert_true(median == 3.5 || median == 2.5 || median == 7);
			}
		}
}

/* Changing any byte of a journal loses at most its line, and the line is reported. */
TEST_WITH(a_damaged_line_is_skipped_and_reported, setup, teardown)
{
	struct scratch *scratch = *state;
	struct text whole = {0};
	struct error err = {0};
	size_t number = 1, bad = 0;

	write_run(scratch->path, "one", NULL, false);
	write_run(scratch->path, "two", NULL, true);
	assert_ok(file_read(scratch->path, &whole, &err));
	for (size_t at = 0; at < whole.length; at++) {
		const char kept = whole.data[at];
		struct journal_record record;
		char *line = string_format("line %zu: ", number);

		whole.data[at] = kept == '5' ? '6' : '5';
		assert_ok(file_write(scratch->path, whole.data, whole.length, &err));
		assert_ok(journal_read(scratch->path, &record, &err));
		if (record.bad_lines)
			assert_non_null(strstr(record.bad_line, line));
		bad += record.bad_lines > 0 || record.ignored_lines > 0;
		expect_written(&record);
		assert_true(record.run_count == 2 || record.bad_lines);
		journal_record_release(&record);
		free(line);
		number += kept == '\n';
		whole.data[at] = kept;
	}
	assert_true(bad > whole.length - 40); /* newlines, and bytes that join two lines */
	text_release(&whole);
}
