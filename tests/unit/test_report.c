/* Pairing and naming of files, and the page as text; tests/checks/report_browser.py opens it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/page.h"

#define DATA TEST_DATA "/report/"

static const char *const templates[] = {"templates", NULL};
static const char *const configs[] = {"configs", NULL};

static void open_report(struct report *report, const char *first, const char *second)
{
	const char *paths[] = {first, second};
	struct report_options options = {
		.paths = paths, .path_count = second ? 2 : 1, .template_folders = templates};
	struct error err = {0};

	assert_ok(report_open(&options, report, &err));
}

TEST(a_tuned_file_brings_its_journal)
{
	struct report report;
	const struct report_entry *entry;

	open_report(&report, DATA "small.json", NULL);
	assert_int_equal(report.entry_count, 1);
	entry = &report.entries[0];
	assert_string_equal(entry->operation, "gemm");
	assert_string_equal(entry->label, "small");
	assert_string_equal(entry->title, "M=4096,N=4096,K=4096,dtype=bf16");
	assert_string_equal(entry->winner->family, "gemm/wgmma");
	assert_true(fabs(entry->winner->time.median - 193.744) < 0.001);
	assert_int_equal(entry->search_count, 1);
	assert_int_equal(entry->searches[0].problem->result_count, 29);
	assert_int_equal(entry->outcomes[OUTCOME_OK], 22);
	assert_int_equal(entry->outcomes[OUTCOME_LAUNCH_FAILED], 7);
	report_release(&report);
}

TEST(a_journal_named_with_its_tuned_file_counts_once)
{
	struct report report;

	open_report(&report, DATA "small.json", DATA "small.journal.jsonl");
	assert_int_equal(report.source_count, 1);
	assert_int_equal(report.entry_count, 1);
	report_release(&report);
}

/* Replaces `from` by `to`, of the same length, in a line and updates the checksum. */
static void append_line(struct text *lines, const char *line, const char *from, const char *to)
{
	static const char member[] = ",\"checksum\":\"";
	CLEANUP(memory_free) char *copy = string_copy(line);
	char *end;

	assert_int_equal(strlen(from), strlen(to));
	for (char *at = copy; (at = strstr(at, from)); at += strlen(from))
		memcpy(at, to, strlen(to));
	end = strstr(copy, member);
	assert_non_null(end);
	*end = '\0';
	text_appendf(lines, "%s%s%08lx\"}\n", copy, member,
		crc32(0, (const Bytef *)copy, (uInt)strlen(copy)));
}

static const char first_id[] = "20261121T020212-bf59cb", later_id[] = "20261122T020212-bf59cc";

/* Lines `from` to `to` (exclusive) of the small journal, with another run id. */
static void lines_of_journal(struct text *lines, size_t from, size_t to, const char *id)
{
	CLEANUP(text_release) struct text content = {0};
	struct error err = {0};
	size_t number = 0;

	assert_ok(file_read(DATA "small.journal.jsonl", &content, &err));
	for (char *line = strtok(content.data, "\n"); line; line = strtok(NULL, "\n"), number++)
		if (number >= from && number < to)
			append_line(lines, line, first_id, id);
}

static void open_journal(struct report *report, const struct text *lines)
{
	char path[] = TEST_SCRATCH "/test_report_XXXXXX.jsonl";
	struct error err = {0};

	close(mkstemps(path, 6));
	assert_ok(file_write(path, lines->data, lines->length, &err));
	open_report(report, path, NULL);
	unlink(path);
}

/* If a journal has several runs, the candidates are those of the run that the entry names. */
TEST(candidates_are_those_of_the_run_that_the_entry_names)
{
	char folder[] = TEST_SCRATCH "/test_report_XXXXXX", tuned_path[1024], journal_path[1024];
	struct text tuned = {0}, journal = {0};
	struct report report;
	struct error err = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(tuned_path, sizeof(tuned_path), "%s/t.json", folder);
	snprintf(journal_path, sizeof(journal_path), "%s/t.journal.jsonl", folder);
	assert_ok(file_read(DATA "small.json", &tuned, &err));
	lines_of_journal(&journal, 0, SIZE_MAX, first_id);
	lines_of_journal(&journal, 0, 3, later_id);
	assert_ok(file_write(tuned_path, tuned.data, tuned.length, &err));
	assert_ok(file_write(journal_path, journal.data, journal.length, &err));
	open_report(&report, tuned_path, NULL);
	assert_int_equal(report.entry_count, 1);
	assert_int_equal(report.entries[0].search_count, 1);
	assert_string_equal(report.entries[0].searches[0].run->run.id, "20261121T020212-bf59cb");
	report_release(&report);
	unlink(tuned_path);
	unlink(journal_path);
	rmdir(folder);
	text_release(&tuned);
	text_release(&journal);
}

TEST(an_unfinished_search_has_a_leader)
{
	struct text lines = {0};
	struct report report;
	const struct report_entry *entry;
	double least = INFINITY;

	lines_of_journal(&lines, 0, 30, first_id); /* 28 evaluations */
	open_journal(&report, &lines);
	entry = &report.entries[0];
	assert_null(entry->tuned);
	assert_non_null(entry->winner);
	for (size_t i = 0; i < 28; i++) {
		const struct result *result = &entry->searches[0].problem->results[i];

		if (result->outcome == OUTCOME_OK)
			least = fmin(least, result->time.median);
	}
	assert_true(entry->winner->time.median == least);
	assert_true(fabs(entry->tflops * least / (2.0 * 4096 * 4096 * 4096) * 1e6 - 1) < 1e-6);
	assert_int_equal(entry->outcomes[OUTCOME_OK] + entry->outcomes[OUTCOME_LAUNCH_FAILED], 28);
	report_release(&report);
	text_release(&lines);
}

/* A resumed run also has the candidates of the run that it continues, each once. */
TEST(a_resumed_run_has_earlier_candidates_once)
{
	static const char resumes[] = "\"resumes\":null";
	struct text lines = {0}, later = {0}, run = {0};
	struct report report;
	char *at;

	lines_of_journal(&lines, 0, 12, first_id); /* 10 evaluations */
	lines_of_journal(&later, 0, 1, later_id);
	at = strstr(later.data, resumes);
	assert_non_null(at);
	text_append_bytes(&run, later.data, (size_t)(at - later.data));
	text_appendf(&run, "\"resumes\":\"%s\"%s", first_id, at + strlen(resumes));
	append_line(&lines, run.data, first_id, first_id);
	lines_of_journal(&lines, 1, 2, later_id);
	lines_of_journal(&lines, 8, 20, later_id); /* 12 evaluations, of which 4 are known */
	open_journal(&report, &lines);
	assert_int_equal(report.entry_count, 1);
	assert_int_equal(report.entries[0].search_count, 2);
	assert_string_equal(report.entries[0].searches[0].run->run.id, later_id);
	assert_int_equal(report.entries[0].outcomes[OUTCOME_OK] +
				 report.entries[0].outcomes[OUTCOME_LAUNCH_FAILED],
		18);
	report_release(&report);
	text_release(&lines);
	text_release(&later);
	text_release(&run);
}

TEST(wrong_files_are_refused)
{
	const char *missing[] = {DATA "nothing.json"}, *other[] = {DATA "README.md"};
	struct report_options options = {
		.paths = missing, .path_count = 1, .template_folders = templates};
	struct report report;
	struct error err = {0};

	assert_fails(report_open(&options, &report, &err), STATUS_BAD_INPUT, "nothing.json");
	report_release(&report);
	options.paths = other;
	assert_int_not_equal(report_open(&options, &report, &err), STATUS_OK);
	report_release(&report);
	options.path_count = 0;
	assert_fails(report_open(&options, &report, &err), STATUS_BAD_INPUT,
		"there is no tuned problem to report");
	report_release(&report);
}

TEST(tiles_have_a_text)
{
	assert_string_equal(report_tile("BM=128,WM=64,BN=256,WN=64,BK=32").text, "128x256x32");
	assert_string_equal(report_tile("STAGES=2,BN=96,BM=64").text, "64x96");
	assert_string_equal(report_tile("KEYS=64,STAGES=2").text, "");
	assert_string_equal(report_tile("gemm/mma {BM=128,BN=64} + gemm/mma {BM=32}").text, "");
	/* a value that is too long is left out, not cut */
	assert_string_equal(report_tile("BM=123456789012345678901234567890,BN=64").text, "64");
}

/* ---- the page ---- */
static void make_page(struct report *report, struct text *page)
{
	struct error err = {0};

	assert_ok(page_write(report, configs, page, &err));
}

TEST(the_page_loads_nothing_from_outside)
{
	struct report report;
	struct text page = {0};

	open_report(&report, DATA "small.json", DATA "slower.json");
	make_page(&report, &page);
	assert_non_null(strstr(page.data, "default-src 'none'; script-src 'sha256-"));
	assert_null(strstr(page.data, "unsafe"));
	assert_null(strstr(page.data, " src="));
	assert_null(strstr(page.data, "url(http"));
	assert_null(strstr(page.data, "@"
				      "import"));
	text_release(&page);
	report_release(&report);
}

TEST(texts_of_files_are_never_markup)
{
	struct report report;
	struct text page = {0};

	open_report(&report, DATA "small.json", NULL);
	free(report.entries[0].title);
	report.entries[0].title =
		string_copy("</script><script>alert(1)//<img onerror=1>&\"@DATA@");
	make_page(&report, &page);
	assert_null(strstr(page.data, "<script>alert"));
	assert_null(strstr(page.data, "<img"));
	assert_non_null(strstr(page.data, "&lt;img onerror=1&gt;&amp;&quot;@DATA@ on NVIDIA "));
	text_release(&page);
	report_release(&report);
}
