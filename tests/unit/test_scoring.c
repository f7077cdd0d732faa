/* SPDX-License-Identifier: MIT
 *
 * A pool large enough for several threads: each candidate's time equals that of a separate
 * predictor.
 */
#include "unit/unit.h"
#include "unit/kernel_fixture.h"

#include <math.h>

#include "engine/candidates.h"

/* The best candidates by the physical model get their own learned factor. All others get the
 * mean factor of these. */
static void what_was_learned_is_asked_of_the_best(const struct catalogue *catalogue,
	const struct candidates *physics, struct device_spec *device, double least_us)
{
	static const char *const configs[] = {"configs", NULL};
	static const char *const families[] = {"mma", NULL};
	const struct candidates_options options = {.families = families, .score = true};
	struct learned learned;
	struct candidates pool;
	struct error err = {0};
	double of_others = 0;
	size_t own = 0;

	assert_ok(learned_open(
		&(struct learned_choice){0}, configs, "h200-sxm", catalogue, &learned, &err));
	device->learned = &learned;
	assert_ok(candidates_open(catalogue, physics->problem, device, &options, &pool, &err));
	assert_int_equal(pool.count, physics->count);
	for (size_t i = 0; i < pool.count; i++) {
		const double ratio = pool.predicted_us[i] / physics->predicted_us[i];
		struct candidate candidate;

		if (!isfinite(ratio) || fabs(ratio / of_others - 1) < 1e-9)
			continue;
		if (physics->predicted_us[i] > 4 * least_us) {
			assert_true(of_others == 0);
			of_others = ratio;
			continue;
		}
		own++;
		candidate = candidates_at(&pool, i);
		assert_ok(predict_candidate(&candidate, &err));
		assert_true(candidate.prediction.time_us == pool.predicted_us[i]);
	}
	assert_true(of_others > 0 && fabs(of_others - 1) > 1e-3);
	assert_true(own > 100 && own <= 4096);
	candidates_release(&pool);
	learned_release(&learned);
	device->learned = NULL;
}

TEST(threads_score_as_one_does)
{
	enum {
		LEAST = 100000, /* enough candidates for several threads */
		EACH = 211
	};
	static const char *const templates[] = {"templates", NULL};
	static const char *const configs[] = {"configs", NULL};
	static const char *const families[] = {"mma", NULL};
	const struct candidates_options options = {.families = families, .score = true};
	const struct operation *operation;
	struct problem_list problems = {0};
	struct catalogue catalogue;
	struct device_spec *device;
	struct candidates pool;
	struct error err = {0};
	double least_us = INFINITY;

	assert_ok(catalogue_load(templates, "gemm", &catalogue, &err));
	assert_ok(device_spec_load("h200-sxm", configs, &device, &err));
	assert_ok(catalogue_operation(&catalogue, "gemm", &operation, &err));
	assert_ok(problem_parse(operation, "M=4096,N=4096,K=4096,dtype=bf16", &problems, &err));
	assert_ok(candidates_open(&catalogue, problems.items[0], device, &options, &pool, &err));
	assert_true(pool.count > LEAST);
	for (size_t i = 0; i < pool.count; i++)
		least_us = fmin(least_us, pool.predicted_us[i]);
	for (size_t i = 0; i < pool.count; i += EACH) {
		struct candidate candidate = candidates_at(&pool, i);

		assert_ok(predict_candidate(&candidate, &err));
		assert_true(candidate.prediction.time_us == pool.predicted_us[i]);
		/* values of the longest launch */
		assert_true(candidate.prediction.units >= 1);
		assert_true(candidate.prediction.regs_per_thread >= 16);
	}
	assert_true(least_us > 0);
	what_was_learned_is_asked_of_the_best(&catalogue, &pool, device, least_us);
	candidates_release(&pool);
	problem_list_release(&problems);
	device_spec_free(device);
	catalogue_release(&catalogue);
}

/* A prediction of the same choices does not use a score that was handed over to the caller. */
static void a_score_may_be_taken(const struct candidate *candidate)
{
	struct predictor predictor = {0};
	struct prediction prediction;
	struct score score;
	struct error err = {0};

	predictor_open(&predictor, candidate->bound);
	for (int i = 0; i < 2; i++) {
		assert_ok(predict_choices(&predictor, candidate->choices, &prediction, &err));
		assert_true(prediction.time_us == candidate->prediction.time_us);
		score = predictor_take_score(&predictor);
		score_release(&score);
	}
	predictor_close(&predictor);
}

/* A pool is scored in order and shares intermediate results between candidates. The test has
 * launches that come and go, and families without a work model. */
TEST(each_is_scored_as_if_alone)
{
	enum {
		EACH = 7
	};
	static const struct {
		const char *templates, *operation, *problem;
	} cases[] = {
		{"tests/toy/templates", "row_softmax", "rows=1000,cols=3000"},
		{"templates", "gemm_chain", "m=512,n=128,k=64,p=64,dtype=fp16"},
		{"templates", "attention",
			"batch=2,heads=8,seq_q=1,seq_k=4096,head_dim=128,dtype=bf16"},
	};
	static const char *const configs[] = {"configs", NULL};
	const struct candidates_options options = {.score = true};
	struct device_spec *device;
	struct error err = {0};

	assert_ok(device_spec_load("h200-sxm", configs, &device, &err));
	for (size_t c = 0; c < ARRAY_COUNT(cases); c++) {
		const char *const templates[] = {cases[c].templates, NULL};
		const struct operation *operation;
		struct problem_list problems = {0};
		struct catalogue catalogue;
		struct candidates pool;
		double last_us = 0;
		bool differ = false;

		assert_ok(catalogue_load(templates, cases[c].operation, &catalogue, &err));
		assert_ok(catalogue_operation(&catalogue, cases[c].operation, &operation, &err));
		assert_ok(problem_parse(operation, cases[c].problem, &problems, &err));
		assert_ok(candidates_open(
			&catalogue, problems.items[0], device, &options, &pool, &err));
		for (size_t i = 0; i<pool.count; i += pool.count> 1000 ? EACH : 1) {
			struct candidate candidate = candidates_at(&pool, i);

			assert_ok(predict_candidate(&candidate, &err));
			assert_true(candidate.prediction.time_us == pool.predicted_us[i]);
			if (i == 0)
				a_score_may_be_taken(&candidate);
			differ |= i && candidate.prediction.time_us != last_us;
			last_us = candidate.prediction.time_us;
		}
		assert_true(differ);
		candidates_release(&pool);
		problem_list_release(&problems);
		catalogue_release(&catalogue);
	}
	device_spec_free(device);
}

static int before(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	unsetenv("TILETUNE_LEARNED");
	return RUN_TESTS;
}
BEFORE_TESTS(before)
