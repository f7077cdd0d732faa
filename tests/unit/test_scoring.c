/* layer: engine */
/* SPDX-License-Identifier: MIT
 *
 * A pool that is large enough for threads: each candidate's time is what a predictor of its own
 * says.
 */
#include "unit/kernel_fixture.h"

#include <math.h>

#include "engine/scoring.h"

/* The best by physics have what was learned in them, each for itself; the others are as much slower
 * or faster as these are on average, all alike. */
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
		LEARNED_SHIPPED, configs, NULL, "h200-sxm", catalogue, &learned, &err));
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

static void threads_score_as_one_does(void **state)
{
	enum {
		LEAST = 100000, /* of candidates, so that there are several threads */
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

	(void)state;
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
		/* of its longest launch */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_score_as_one_does),
	};

	unsetenv("TILETUNE_LEARNED");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
