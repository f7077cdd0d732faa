/* SPDX-License-Identifier: MIT
 *
 * The evaluator on a device model, with a compiler that refuses candidates on command. This program
 * is its own worker.
 */
#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/worker.h"
#include "engine/candidates.h"
#include "engine/contenders.h"
#include "unit/compile_units.h"

#define TEMPLATES TEST_DATA "/replay/templates/tile/"

struct fixture {
	char *folder;
	struct context context;
	struct problem_list problems; /* two problems */
	struct candidates pools[2];
	struct evaluator evaluator;
};

static double trial_time_us(const struct trial *trial)
{
	const struct result *result = &trial->result;

	return result->outcome == OUTCOME_OK && result->time.count ? result->time.median : INFINITY;
}

static void put_template(const char *folder, const char *name, const char *more)
{
	char *from = string_format("%s%s", TEMPLATES, name);
	char *to = string_format("templates/tile/%s", name);
	struct text content = {0};
	struct error err;

	assert_ok(file_read(from, &content, &err));
	text_append(&content, more);
	free(folder_put(folder, to, text_string(&content)));
	text_release(&content);
	free(from);
	free(to);
}

/* commands: instructions for the stand-in compiler in the kernels' source */
static void fixture_open(struct fixture *fixture, const char *commands)
{
	const struct candidates_options all = {.score = true};
	const char *roots[3] = {NULL, ".", NULL};
	struct context_options options = {.operation = "tile",
		.device = "model:h200-sxm",
		.need_compiler = true,
		.no_cache = true,
		.compiler = {.nvrtc_path = FAKE_NVRTC, .workers = 2},
		.machine.seed = 1};
	const struct operation *operation;
	struct error err;

	*fixture = (struct fixture){.folder = folder_new()};
	put_template(fixture->folder, "operation.json", "");
	put_template(fixture->folder, "direct.json", "");
	put_template(fixture->folder, "tile.cu", commands);
	roots[0] = fixture->folder;
	options.roots = roots;
	assert_ok(context_open(&options, &fixture->context, &err));
	assert_ok(catalogue_operation(&fixture->context.catalogue, "tile", &operation, &err));
	assert_ok(problem_parse(operation, "M=512,1000,N=512,K=512", &fixture->problems, &err));
	for (int i = 0; i < 2; i++)
		assert_ok(candidates_open(&fixture->context.catalogue, fixture->problems.items[i],
			fixture->context.device->spec, &all, &fixture->pools[i], &err));
	fixture->evaluator = (struct evaluator){
		.context = &fixture->context, .first_look = {.rounds = 1, .seconds_max = 1}};
}

static void fixture_close(struct fixture *fixture)
{
	evaluator_release(&fixture->evaluator);
	for (int i = 0; i < 2; i++)
		candidates_release(&fixture->pools[i]);
	problem_list_release(&fixture->problems);
	context_release(&fixture->context);
	folder_remove(fixture->folder);
}

static struct trial *add(
	struct fixture *fixture, int problem, size_t candidate, enum trial_stage goal)
{
	const struct candidate chosen = candidates_at(&fixture->pools[problem], candidate);
	struct trial *trial;
	struct error err;

	assert_ok(evaluator_add(&fixture->evaluator, &chosen, goal, &trial, &err));
	trial->number = candidate;
	return trial;
}

/* Each trial stops at its goal, and continues when the goal is raised. */
TEST(trials_stop_at_their_goals)
{
	static const enum trial_stage goals[] = {
		TRIAL_COMPILED, TRIAL_LOADED, TRIAL_VERIFIED, TRIAL_DONE};
	struct fixture fixture;
	struct trial *trials[ARRAY_COUNT(goals)];
	struct error err;

	fixture_open(&fixture, "");
	for (size_t i = 0; i < ARRAY_COUNT(goals); i++)
		trials[i] = add(&fixture, i % 2, i, goals[i]);
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	for (size_t i = 0; i < ARRAY_COUNT(goals); i++) {
		assert_int_equal(trials[i]->stage, goals[i]);
		assert_int_equal(trials[i]->result.sample_count, goals[i] == TRIAL_DONE);
	}
	trials[0]->goal = TRIAL_VERIFIED;
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_int_equal(trials[0]->stage, TRIAL_VERIFIED);
	fixture_close(&fixture);
}

/* Candidates that do not compile end with that outcome; the others are timed together. */
TEST(a_candidate_that_fails_costs_itself)
{
	const struct sampling sampling = {.rounds = 1};
	struct fixture fixture;
	size_t failed = 0, timed = 0;
	struct error err;

	fixture_open(&fixture, "//fake: reject -DBM=64\n");
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < fixture.pools[i].count; k += 3)
			add(&fixture, i, k, TRIAL_VERIFIED);
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_ok(evaluator_sample(&fixture.evaluator, fixture.evaluator.trials,
		fixture.evaluator.count, &sampling, &err));
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	for (size_t i = 0; i < fixture.evaluator.count; i++) {
		const struct trial *trial = fixture.evaluator.trials[i];
		const struct result *result = &trial->result;
		bool refused = string_starts_with(result->configuration, "BM=64,");

		assert_int_equal(trial->stage, refused ? TRIAL_DONE : TRIAL_VERIFIED);
		failed += refused;
		timed += !refused;
		if (refused) {
			assert_int_equal(result->outcome, OUTCOME_COMPILE_FAILED);
			assert_non_null(strstr(result->detail, "-DBM=64"));
			assert_true(isinf(trial_time_us(trial)));
		} else {
			assert_int_equal(result->outcome, OUTCOME_OK);
			assert_true(result->predicted);
			assert_true(fabs(trial_time_us(trial) - result->score.predicted_time_us) <
				    1e-9);
		}
	}
	assert_true(failed > 3 && timed > 3);
	fixture_close(&fixture);
}

/* Like a search: one candidate on the device at a time; each result is taken once, as it
 * arrives. */
TEST(results_are_taken_once)
{
	enum {
		COUNT = 20
	};
	struct fixture fixture;
	bool seen[COUNT] = {false};
	size_t taken = 0;
	struct error err;

	fixture_open(&fixture, "");
	fixture.evaluator.on_device_max = 1;
	for (size_t i = 0; i < COUNT; i++)
		add(&fixture, 0, i, TRIAL_DONE);
	while (fixture.evaluator.count) {
		struct trial *trial;

		assert_ok(evaluator_step(&fixture.evaluator, &err));
		assert_true(
			evaluator_count(&fixture.evaluator, TRIAL_ON_DEVICE, TRIAL_ON_DEVICE) <= 1);
		while ((trial = evaluator_take(&fixture.evaluator)) != NULL) {
			assert_false(seen[trial->number]);
			seen[trial->number] = true;
			taken++;
			evaluator_free_trial(&fixture.evaluator, trial);
		}
		evaluator_wait(&fixture.evaluator);
	}
	assert_int_equal(taken, COUNT);
	fixture_close(&fixture);
}

/* A second load of a kernel, and a kernel from another source, next to the compiled trial. */
TEST(loads_of_other_origin_are_sampled_too)
{
	const struct sampling sampling = {.rounds = 1};
	struct fixture fixture;
	struct trial *trials[2];
	struct error err;

	fixture_open(&fixture, "");
	trials[0] = add(&fixture, 0, 5, TRIAL_LOADED);
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_ok(evaluator_add_job(
		&fixture.evaluator, trials[0]->problem, &trials[0]->job, &trials[1], &err));
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_int_equal(trials[1]->stage, TRIAL_LOADED);
	assert_int_not_equal(trials[0]->job.load, trials[1]->job.load);
	assert_ok(evaluator_sample(&fixture.evaluator, trials, 2, &sampling, &err));
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_true(trial_time_us(trials[0]) > 0);
	assert_true(fabs(trial_time_us(trials[0]) - trial_time_us(trials[1])) < 1e-9);
	fixture_close(&fixture);
}

TEST(an_interrupt_ends_the_wait)
{
	volatile sig_atomic_t interrupted = 1;
	struct fixture fixture;
	struct error err;

	fixture_open(&fixture, "//fake: hang\n");
	fixture.evaluator.interrupted = &interrupted;
	add(&fixture, 0, 0, TRIAL_COMPILED);
	assert_fails(evaluator_run(&fixture.evaluator, &err), STATUS_INTERRUPTED, "interrupted");
	fixture_close(&fixture);
}

/* The model device answers each request with one sample; the first sample is the warm-up. */
TEST(warm_up_rounds_are_left_out)
{
	const struct timing_limits limits = {
		.seconds = 600, .warm_up_rounds = 1, .first_look = 2, .last_look = 3};
	struct contender contender = {.load_count = 1};
	struct fixture fixture;
	struct error err;

	fixture_open(&fixture, "");
	contender.loads[0] = add(&fixture, 0, 5, TRIAL_LOADED);
	assert_ok(evaluator_run(&fixture.evaluator, &err));
	assert_ok(contenders_time(&fixture.evaluator, &contender, 1, &limits, &err));
	assert_int_equal(contender.loads[0]->result.sample_count, 2);
	assert_int_equal(contender.round_count, 1);
	assert_int_equal(contender.outcome, OUTCOME_OK);
	contender_release(&contender);
	fixture_close(&fixture);
}

static int before(int count, char **arguments)
{
	if (count == 2 && strcmp(arguments[1], "worker-compile") == 0)
		return compile_worker_main();
	return RUN_TESTS;
}
BEFORE_TESTS(before)
