/* SPDX-License-Identifier: MIT
 *
 * The entry at the end of a search, from given times: a search over the recorded operation whose
 * candidates are evaluated by hand.
 */
#include "unit/unit.h"

#include <string.h>

#include "base/memory.h"
#include "engine/row.h"
#include "tune/search.h"

struct recording {
	struct context context;
	struct problem_list problems;
};

static void recording_open(struct recording *fixture)
{
	static const char *const roots[] = {TEST_DATA "/replay", ".", NULL};
	struct error err = {0};
	struct context_options options = {.roots = roots,
		.operation = "tile",
		.device = "replay:" TEST_DATA "/replay/measured.jsonl.gz",
		.machine.seed = 1};
	const struct operation *found;

	*fixture = (struct recording){0};
	assert_ok(context_open(&options, &fixture->context, &err));
	assert_ok(catalogue_operation(&fixture->context.catalogue, "tile", &found, &err));
	assert_ok(problem_parse(found, "M=1000,N=1000,K=512", &fixture->problems, &err));
}

static void recording_close(struct recording *fixture)
{
	problem_list_release(&fixture->problems);
	context_release(&fixture->context);
}

struct stage {
	struct recording fixture;
	struct tune_options options;
	struct tune_run run;
	struct tuned tuned;
	struct search *search;
};

static void stage_open(struct stage *stage)
{
	struct error err = {0};

	*stage = (struct stage){0};
	recording_open(&stage->fixture);
	tuned_init(&stage->tuned, "tuned",
		gpu_model_of(stage->fixture.context.device->spec, "Test GPU"));
	stage->options = (struct tune_options){
		.effort = effort_find("quick"), .candidates = {.score = true}, .seed = 1};
	stage->run = (struct tune_run){.options = &stage->options,
		.context = &stage->fixture.context,
		.problems = &stage->fixture.problems,
		.tuned = &stage->tuned,
		.run_id = "run"};
	assert_ok(search_prepare(&stage->run, 0, &stage->search, &err));
	assert_ok(search_open(stage->search, &err));
}

static void stage_close(struct stage *stage)
{
	search_free(&stage->search);
	tuned_release(&stage->tuned);
	recording_close(&stage->fixture);
}

/* Evaluates the n-th candidate of a family with this median in the search, and this one in the
 * final measurement unless it is 0. */
static void evaluate(
	struct stage *stage, const char *family, size_t n, double search_us, double final_us)
{
	struct search *search = stage->search;
	struct result result = {0};
	struct evaluated *evaluated;
	struct error err = {0};
	double samples_us[9];
	size_t at = 0;

	for (;; at++) {
		const struct candidate candidate = candidates_at(&search->pool, at);

		if (strcmp(candidate.bound->family->name, family) == 0 && n-- == 0) {
			assert_ok(candidate_describe(&candidate, &result, &err));
			break;
		}
	}
	assert_int_equal(result.outcome, OUTCOME_OK);
	result.predicted = false;
	result.sample_count = 0; /* the row has only the prediction */
	for (size_t i = 0; i < ARRAY_COUNT(samples_us); i++)
		samples_us[i] = final_us > 0 ? final_us : search_us;
	result_add_samples(&result, samples_us, ARRAY_COUNT(samples_us));
	search_add(search, at, &result);
	if (!(final_us > 0))
		return;
	evaluated = &search->evaluated.items[search->evaluated.count - 1];
	evaluated->was_remeasured = true;
	evaluated->search_us = search_us;
	evaluated->remeasure_pass = search->remeasure_pass = 1;
	evaluated->loads = 1;
}

/* Checks the entry against "WINNER TIME: FAMILY TIME ...". */
static void assert_rows(const struct stage *stage, const char *expected)
{
	const struct tuned_entry *entry = &stage->tuned.entries[0];
	struct text text = {0};

	assert_int_equal(stage->tuned.entry_count, 1);
	text_appendf(
		&text, "%s %g:", entry->winner.result.family, entry->winner.result.time.median);
	for (size_t i = 0; i < entry->family_count; i++)
		text_appendf(&text, " %s %g", entry->families[i].result.family,
			entry->families[i].result.time.median);
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
}

/* The GPU has warmed up when the best candidates are re-measured, so those times are comparable
 * only with each other. In the cold search the second candidate of split was the fastest of all. */
TEST(the_best_of_each_family_is_by_times_of_one_kind)
{
	struct stage stage;
	struct error err = {0};

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 100, 120);
	evaluate(&stage, "tile/direct", 1, 105, 130);
	evaluate(&stage, "tile/direct", 2, 110, 0);
	evaluate(&stage, "tile/split", 0, 125, 150);
	evaluate(&stage, "tile/split", 1, 90, 0);
	evaluate(&stage, "tile/split", 2, 120, 160);
	assert_ok(search_conclude(stage.search, &err));
	assert_rows(&stage, "tile/direct 120: tile/split 150");
	stage_close(&stage);
}

/* Nothing was re-measured, so all times come from the search and are comparable. */
TEST(a_search_that_was_cut_short_has_the_best_of_the_search)
{
	struct stage stage;
	struct error err = {0};

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 120, 0);
	evaluate(&stage, "tile/split", 0, 125, 0);
	evaluate(&stage, "tile/split", 1, 100, 0);
	evaluate(&stage, "tile/direct", 1, 115, 0);
	assert_ok(search_save_best(stage.search, &err));
	assert_true(stage.tuned.entries[0].unfinished);
	assert_rows(&stage, "tile/split 100: tile/direct 115");
	stage_close(&stage);
}

/* A candidate that only the search timed cannot win if a final measurement took place. */
TEST(what_could_not_be_timed_again_does_not_win)
{
	struct stage stage;
	struct error err = {0};

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 120, 0);
	assert_int_equal(search_conclude(stage.search, &err), STATUS_FAILED);
	assert_int_equal(stage.tuned.entry_count, 0);
	stage_close(&stage);
}

/* ---- reasons against other rows ---- */
static const struct tuned_row *runner_up_of(const struct stage *stage)
{
	const struct tuned_entry *entry = &stage->tuned.entries[0];

	assert_non_null(entry->runner_up);
	assert_non_null(entry->runner_up->lost);
	return entry->runner_up;
}

TEST(the_entry_says_by_what_the_runner_up_lost)
{
	struct stage stage;
	struct error err = {0};
	const struct tuned_rejection *lost;

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 100, 120);
	evaluate(&stage, "tile/direct", 1, 105, 123);
	evaluate(&stage, "tile/split", 0, 125, 150);
	assert_ok(search_conclude(stage.search, &err));
	assert_float_equal(runner_up_of(&stage)->result.time.median, 123, 1e-9);
	lost = runner_up_of(&stage)->lost;
	assert_int_equal(lost->by, REJECT_SLOWER);
	assert_float_equal(lost->ratio, 1.025, 1e-9);
	assert_true(lost->ratio_low <= lost->ratio && lost->ratio <= lost->ratio_high);
	assert_int_equal(lost->rounds, 9);
	for (size_t i = 0; i < stage.tuned.entries[0].family_count; i++) {
		const struct tuned_row *row = &stage.tuned.entries[0].families[i];

		assert_true(!row->lost == (strcmp(row->result.family, "tile/direct") == 0));
	}
	assert_null(stage.tuned.entries[0].winner.lost);
	stage_close(&stage);
}

TEST(tied_rows_say_what_was_preferred)
{
	struct stage stage;
	struct error err = {0};
	const struct tuned_entry *entry;

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 100, 120);
	evaluate(&stage, "tile/direct", 5, 105, 120.3);
	assert_ok(search_conclude(stage.search, &err));
	entry = &stage.tuned.entries[0];
	assert_int_equal(entry->tied_count, 1);
	assert_int_equal(entry->tied[0].lost->by, REJECT_SMEM);
	assert_true(entry->tied[0].lost->value < entry->tied[0].lost->winner_value);
	assert_float_equal(
		runner_up_of(&stage)->result.time.median, entry->tied[0].result.time.median, 1e-9);
	stage_close(&stage);
}

/* The runner-up was timed before the others were re-measured, but is still the second fastest. */
TEST(the_runner_up_may_be_of_an_earlier_round)
{
	struct stage stage;
	struct error err = {0};

	stage_open(&stage);
	evaluate(&stage, "tile/direct", 0, 100, 120);
	evaluate(&stage, "tile/direct", 1, 105, 130);
	evaluate(&stage, "tile/direct", 2, 103, 124);
	stage.search->remeasure_pass = 2;
	for (size_t i = 0; i < 2; i++)
		stage.search->evaluated.items[i].remeasure_pass = 2;
	assert_ok(search_conclude(stage.search, &err));
	assert_float_equal(runner_up_of(&stage)->result.time.median, 124, 1e-9);
	assert_int_equal(runner_up_of(&stage)->lost->by, REJECT_SLOWER);
	assert_int_equal(runner_up_of(&stage)->lost->rounds, 0);
	stage_close(&stage);
}
