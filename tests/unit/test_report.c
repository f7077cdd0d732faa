/* layer: export */
/* What a report says of files: entries, ranks, comparison, sweeps, tile shapes, the page. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "report/comparison.h"
#include "figure/figure.h"
#include "html/html.h"
#include "report/tile_grid.h"
#include "report/report_candidate.h"

#define DATA TEST_DATA "/report/"

static const char *const templates[] = {"templates", NULL};
static const char *const configs[] = {"configs", NULL};

static void open_report(struct report *report, const char *first, const char *second)
{
	const char *paths[] = {first, second};
	struct report_options options = {.paths = paths,
		.path_count = second ? 2 : 1,
		.template_folders = templates,
		.config_folders = configs};
	struct error err = {0};

	assert_ok(report_open(&options, report, &err));
}

static void test_a_tuned_file_brings_its_journal(void **state)
{
	struct report report;
	const struct report_entry *entry;
	size_t remeasurements = 0;

	(void)state;
	open_report(&report, DATA "small.json", NULL);
	assert_int_equal(report.entry_count, 1);
	entry = &report.entries[0];
	assert_string_equal(entry->operation, "gemm");
	assert_string_equal(entry->label, "small");
	assert_string_equal(entry->winner.family, "gemm/wgmma");
	assert_true(fabs(entry->winner.time_us - 193.744) < 0.001);
	assert_true(fabs(entry->flop - 2.0 * 4096 * 4096 * 4096) < 1e6);
	assert_int_equal(entry->candidate_count, 29);
	assert_int_equal(entry->ok_count, 22);
	assert_int_equal(entry->outcomes[OUTCOME_LAUNCH_FAILED], 7);
	assert_int_equal(entry->family_name_count, 2);
	assert_true(entry->winner_index < entry->candidate_count);
	assert_int_equal(entry->candidates[entry->best].measured_rank, 1);
	assert_non_null(entry->spec);
	for (size_t i = 0; i < entry->candidate_count; i++) {
		remeasurements += entry->candidates[i].remeasured != NULL;
		assert_int_equal(!entry->candidates[i].measured_rank,
			isinf(report_time_us(&entry->candidates[i])) ? 1 : 0);
	}
	assert_int_equal(remeasurements, 1);
	report_release(&report);
}

static void test_a_journal_named_beside_its_tuned_file_counts_once(void **state)
{
	struct report report;

	(void)state;
	open_report(&report, DATA "small.json", DATA "small.journal.jsonl");
	assert_int_equal(report.source_count, 1);
	assert_int_equal(report.entry_count, 1);
	report_release(&report);
}

/* Of several runs of a journal, the candidates are those of the run that the entry names. */
static void test_the_run_that_the_entry_names(void **state)
{
	char folder[] = "/tmp/test_report_XXXXXX", tuned_path[64], journal_path[64];
	struct text tuned = {0}, journal = {0}, later = {0};
	struct report report;
	struct error err = {0};
	char *at, *end;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(tuned_path, sizeof(tuned_path), "%s/t.json", folder);
	snprintf(journal_path, sizeof(journal_path), "%s/t.journal.jsonl", folder);
	assert_ok(file_read(DATA "small.json", &tuned, &err));
	assert_ok(file_read(DATA "small.journal.jsonl", &journal, &err));
	/* a second run: the run's line and the problem's, and one evaluation */
	text_append(&later, text_string(&journal));
	end = later.data;
	for (int line = 0; line < 3; line++)
		end = strchr(end, '\n') + 1;
	later.length = (size_t)(end - later.data);
	at = strstr(later.data, "20261121T020212-bf59cb");
	assert_non_null(at);
	memcpy(at, "20261122T020212-bf59cc", 22);
	text_append_bytes(&journal, later.data, later.length);
	assert_ok(file_write(tuned_path, tuned.data, tuned.length, &err));
	assert_ok(file_write(journal_path, journal.data, journal.length, &err));
	open_report(&report, tuned_path, NULL);
	assert_int_equal(report.entry_count, 1);
	assert_int_equal(report.entries[0].candidate_count, 29);
	report_release(&report);
	unlink(tuned_path);
	unlink(journal_path);
	rmdir(folder);
	text_release(&tuned);
	text_release(&journal);
	text_release(&later);
}

/* The lines of the small journal but the last `dropped`, in a file of their own. */
static void cut_journal(const char *path, size_t dropped)
{
	struct text content = {0};
	struct error err = {0};

	assert_ok(file_read(DATA "small.journal.jsonl", &content, &err));
	for (size_t i = 0; i <= dropped; i++) {
		while (content.length && content.data[content.length - 1] != '\n')
			content.length--;
		content.length -= content.length && i < dropped;
	}
	assert_ok(file_write(path, content.data, content.length, &err));
	text_release(&content);
}

static void test_an_unfinished_search_has_a_leader(void **state)
{
	char path[] = "/tmp/test_report_XXXXXX.jsonl";
	int fd = mkstemps(path, 6);
	struct report report;
	const struct report_entry *entry;

	(void)state;
	close(fd);
	cut_journal(path, 4); /* finish, entry, final, one evaluation */
	open_report(&report, path, NULL);
	entry = &report.entries[0];
	assert_null(entry->tuned);
	assert_true(entry->has_winner);
	assert_int_equal(entry->candidate_count, 28);
	assert_true(entry->winner.time_us == report_time_us(&entry->candidates[entry->best]));
	/* nobody said how good the model was: it is computed */
	assert_int_equal(entry->quality.measured, entry->ok_count);
	assert_true(fabs(entry->quality.rank_correlation) <= 1);
	assert_true(entry->quality.regret[3] <= entry->quality.regret[0]);
	report_release(&report);
	unlink(path);
}

static void test_wrong_files_are_refused(void **state)
{
	const char *missing[] = {DATA "nothing.json"}, *other[] = {DATA "README.md"};
	struct report_options options = {.paths = missing, .path_count = 1};
	struct report report;
	struct error err = {0};

	(void)state;
	assert_fails(report_open(&options, &report, &err), STATUS_BAD_INPUT, "nothing.json");
	options.paths = other;
	assert_int_not_equal(report_open(&options, &report, &err), STATUS_OK);
	options.path_count = 0;
	assert_fails(report_open(&options, &report, &err), STATUS_BAD_INPUT, "found none");
}

static void test_the_same_problem_is_compared(void **state)
{
	struct report report;
	struct comparison comparison;

	(void)state;
	open_report(&report, DATA "small.json", DATA "slower.json");
	comparison_make(&report, &comparison);
	assert_int_equal(comparison.count, 1);
	assert_true(fabs(comparison.rows[0].ratio - 215 / 193.744) < 0.001);
	assert_string_equal(comparison.rows[0].verdict, "slower");
	assert_false(comparison.devices_differ);
	/* the other way round it is faster */
	comparison_release(&comparison);
	report_release(&report);
	open_report(&report, DATA "slower.json", DATA "small.json");
	comparison_make(&report, &comparison);
	assert_string_equal(comparison.rows[0].verdict, "faster");
	comparison_release(&comparison);
	report_release(&report);
}

static void test_a_sweep_is_found(void **state)
{
	struct report report;
	struct size_group_list groups;

	(void)state;
	open_report(&report, DATA "sizes.json", NULL);
	size_groups_find(&report, &groups);
	assert_int_equal(groups.count, 1);
	/* leading dimensions move too, but follow */
	assert_string_equal(groups.items[0].keys, "M=N=K");
	assert_int_equal(groups.items[0].count, 9);
	assert_true(groups.items[0].points[0].size == 1024);
	assert_true(groups.items[0].points[8].size == 3072);
	size_groups_release(&groups);
	report_release(&report);
}

/* seq_q = seq_k move together through a size that head_dim has, too; seq_k alone; of thousands it
 * is said at once. */
static void test_sweeps_of_thousands(void **state)
{
	enum {
		SIZES = 4000
	};
	struct report_entry *entries = memory_zeroed(2 * SIZES, sizeof(*entries));
	struct report report = {.entries = entries, .entry_count = 2 * SIZES};
	struct size_group_list groups;
	const clock_t start = clock();

	(void)state;
	for (int i = 0; i < 2 * SIZES; i++) {
		entries[i] = (struct report_entry){
			.operation = string_copy("attention"), .has_winner = true};
		entries[i].problem = string_format("seq_q=%d,seq_k=%d,head_dim=128,dtype=bf16",
			i < SIZES ? 64 + i : 7, i < SIZES ? 64 + i : i - SIZES + 8);
		entries[i].title = string_copy(entries[i].problem);
	}
	size_groups_find(&report, &groups);
	assert_int_equal(groups.count, 2);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(groups.items[i].count, SIZES);
		assert_string_equal(groups.items[i].keys, i == 0 ? "seq_q=seq_k" : "seq_k");
		assert_string_equal(groups.items[i].others,
			i == 0 ? "head_dim=128,dtype=bf16" : "seq_q=7,head_dim=128,dtype=bf16");
		for (int k = 0; k < SIZES; k++) {
			assert_true(groups.items[i].points[k].size == (i == 0 ? 64 : 8) + k);
			assert_ptr_equal(groups.items[i].points[k].entry, &entries[i * SIZES + k]);
		}
	}
	/* 0.1 s of the processor; looking at all pairs takes a hundred times as long */
	assert_true(clock() - start < 5 * CLOCKS_PER_SEC);
	size_groups_release(&groups);
	for (int i = 0; i < 2 * SIZES; i++) {
		free(entries[i].operation);
		free(entries[i].problem);
		free(entries[i].title);
	}
	free(entries);
}

static void test_tile_shapes(void **state)
{
	struct report report;
	const struct report_entry *entry;
	struct tile_grid grid;
	size_t tried = 0, wgmma;
	const struct tile_cell *cell;

	(void)state;
	open_report(&report, DATA "small.json", NULL);
	entry = &report.entries[0];
	wgmma = report_family(entry, "gemm/wgmma");
	assert_true(tile_grid_make(entry, wgmma, &grid));
	assert_string_equal(grid.row_name, "BM");
	assert_string_equal(grid.column_name, "BN");
	assert_int_equal(grid.row_step, 1);
	for (size_t i = 0; i < grid.row_count * grid.column_count; i++)
		tried += grid.cells[i].tried;
	assert_int_equal(tried, 26);
	cell = &grid.cells[tile_grid_row(&grid, 128) * grid.column_count +
			   tile_grid_column(&grid, 256)];
	assert_int_equal(cell->state, TILE_OK);
	assert_true(cell->time_us == grid.best_us);
	cell = &grid.cells[tile_grid_row(&grid, 128) * grid.column_count +
			   tile_grid_column(&grid, 160)];
	assert_int_equal(cell->state, TILE_FAILED);
	assert_int_equal(tile_grid_row(&grid, 100), SIZE_MAX);
	tile_grid_release(&grid);
	report_release(&report);
}

/* 185 values of each of two parameters. */
static void test_many_values_share_rows(void **state)
{
	enum {
		VALUES = 185
	};
	static struct evaluation evaluations[VALUES];
	struct report_candidate candidates[VALUES] = {0};
	char *names[] = {(char[]){"attention/x"}};
	struct report_entry entry = {.candidates = candidates,
		.candidate_count = VALUES,
		.family_names = names,
		.family_name_count = 1};
	struct tile_grid grid;

	(void)state;
	for (int i = 0; i < VALUES; i++) {
		evaluations[i].configuration = string_format("BM=%d,BN=%d", 8 + i, 192 - i);
		evaluations[i].outcome = OUTCOME_COMPILE_FAILED;
		candidates[i].evaluation = &evaluations[i];
	}
	assert_true(tile_grid_make(&entry, 0, &grid));
	assert_int_equal(grid.row_step, 8);
	assert_int_equal(grid.row_count, 24);
	assert_int_equal(tile_grid_row(&grid, 15), 0);
	assert_int_equal(tile_grid_row(&grid, 16), 1);
	tile_grid_release(&grid);
	for (int i = 0; i < VALUES; i++)
		free(evaluations[i].configuration);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, part)); at++)
		count++;
	return count;
}

static void test_the_page(void **state)
{
	struct report report;
	struct text page = {0};

	(void)state;
	open_report(&report, DATA "small.json", DATA "slower.json");
	html_page(&report, &page);
	assert_non_null(strstr(page.data, "193.7 µs"));
	assert_non_null(strstr(page.data, "709.4 TFLOP/s"));
	assert_non_null(strstr(page.data, "NVRTC 13.0 (V13.0.88)"));
	assert_non_null(strstr(page.data, "CUDA_ERROR_INVALID_VALUE"));
	assert_int_equal(count_of(page.data, "<script"), count_of(page.data, "</script>"));
	assert_int_equal(count_of(page.data, "<svg"), count_of(page.data, "</svg>"));
	assert_int_equal(count_of(page.data, "<section"), count_of(page.data, "</section>"));
	/* nothing from the network */
	assert_null(strstr(page.data, " src="));
	assert_null(strstr(page.data, "href=\"http"));
	assert_null(strstr(page.data, "url(http"));
	assert_null(strstr(page.data, "@import"));
	text_release(&page);
	report_release(&report);
}

static void test_what_files_say_stays_text(void **state)
{
	struct report report;
	struct report_entry *entry;
	struct text page = {0};

	(void)state;
	open_report(&report, DATA "small.json", NULL);
	entry = &report.entries[0];
	free(entry->family_names[0]);
	entry->family_names[0] = string_copy("</script><script>alert(1)//");
	free(entry->title);
	entry->title = string_copy("<img onerror=alert(1)>&\"");
	html_page(&report, &page);
	assert_null(strstr(page.data, "<script>alert"));
	assert_null(strstr(page.data, "<img"));
	assert_non_null(strstr(page.data, "&lt;img onerror=alert(1)&gt;&amp;&quot;"));
	text_release(&page);
	report_release(&report);
}

static void test_every_figure_is_drawn(void **state)
{
	struct report report;
	size_t drawn = 0;

	(void)state;
	open_report(&report, DATA "small.json", DATA "slower.json");
	for (const struct figure *const *figure = figures; *figure; figure++) {
		struct text svg = {0}, title = {0}, caption = {0};
		double width = 0;

		if (figure_render(*figure, &report,
			    (*figure)->of_report ? NULL : &report.entries[0], 0, true, &svg, &title,
			    &caption, &width)) {
			drawn++;
			assert_non_null(strstr(svg.data, "xmlns="));
			assert_true(width > 0 && title.length && caption.length);
			assert_null(strstr(svg.data, "nan"));
			assert_null(strstr(svg.data, "inf "));
		} else {
			assert_string_equal((*figure)->name, "waves"); /* one size only */
		}
		text_release(&svg);
		text_release(&title);
		text_release(&caption);
	}
	assert_int_equal(drawn, 7);
	report_release(&report);
}

static void test_without_a_journal(void **state)
{
	struct report report;
	struct text page = {0};

	(void)state;
	open_report(&report, DATA "slower.json", NULL);
	assert_int_equal(report.entries[0].candidate_count, 0);
	html_page(&report, &page);
	assert_non_null(strstr(page.data, "No journal lies beside"));
	text_release(&page);
	report_release(&report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tuned_file_brings_its_journal),
		cmocka_unit_test(test_a_journal_named_beside_its_tuned_file_counts_once),
		cmocka_unit_test(test_the_run_that_the_entry_names),
		cmocka_unit_test(test_an_unfinished_search_has_a_leader),
		cmocka_unit_test(test_wrong_files_are_refused),
		cmocka_unit_test(test_the_same_problem_is_compared),
		cmocka_unit_test(test_a_sweep_is_found),
		cmocka_unit_test(test_sweeps_of_thousands),
		cmocka_unit_test(test_tile_shapes),
		cmocka_unit_test(test_many_values_share_rows),
		cmocka_unit_test(test_the_page),
		cmocka_unit_test(test_what_files_say_stays_text),
		cmocka_unit_test(test_every_figure_is_drawn),
		cmocka_unit_test(test_without_a_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
