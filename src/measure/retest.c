/* SPDX-License-Identifier: MIT */
#include "measure/retest.h"

#include "base/statistics.h"
#include "measure/verify.h"

enum {
	RETEST_SAMPLES = 2
};
/* The second series of a correct kernel may be slower than the first one by these amounts. 10% is
 * the scatter that sampler_is_noisy() accepts. Samples of the second series may be single runs.
 * Their start and end do not overlap those of other runs, which takes up to 1.1 us on an H200
 * (README.md); 2 us leave a margin for other GPUs. */
static const double noise_ratio = 1.1, noise_us = 2;

/* Reads other memory, so that the data that was just filled leaves the L2 cache before the kernel
 * reads it. Does nothing if the runs of this problem find their data in the cache anyway. */
static bool evict(struct gpu_session *gpu, const struct problem_data *problem)
{
	const uint64_t l2_bytes = (uint64_t)gpu->gpu.facts.l2_bytes;
	const uint64_t bytes =
		problem->arena.bytes < 2 * l2_bytes ? problem->arena.bytes : 2 * l2_bytes;

	return problem->is_warm || helper_checksum(gpu, problem->arena.base, 1, bytes, bytes, 0);
}

static bool sample(struct gpu_session *gpu, struct runner *runner, size_t set,
	struct result *result, double *sample_us)
{
	struct verify_sample on = {.set = set};

	gpu_progress(gpu, 0);
	return loaded_fill_symbols(gpu, runner->loaded, set) &&
	       runner_start_on(gpu, runner, set, &on.first, &on.count) &&
	       runner_finish(gpu, runner, sample_us) &&
	       verify_sample(gpu, runner->loaded, &on, result);
}

bool retest_sample(struct gpu_session *gpu, struct runner *runner, struct random_state *random,
	struct result *result, double *sample_us)
{
	struct problem_data *problem = runner->loaded->problem;
	const size_t set =
		problem->has_no_second ? 0 : (size_t)random_below(random, problem->set_count);

	return (problem->has_no_second || problem_data_fill_second(gpu, problem, set)) &&
	       problem_data_poison(gpu, problem, 0, problem->set_count) && evict(gpu, problem) &&
	       sample(gpu, runner, set, result, sample_us) &&
	       problem_data_fill_first(gpu, problem) &&
	       loaded_fill_symbols(gpu, runner->loaded, 0) &&
	       (result->outcome != OUTCOME_OK || verify_memory(gpu, runner->loaded, result));
}

/* Chooses a random set from the part of the sets that belongs to the sample with this index, so
 * that the samples together cover different draws of group sizes. */
static size_t set_of(const struct problem_data *problem, struct random_state *random, size_t index)
{
	const size_t part = problem->set_count / RETEST_SAMPLES;

	if (problem->has_no_second || !part)
		return 0;
	return index * part + (size_t)random_below(random, part);
}

static bool series(struct gpu_session *gpu, struct runner *runner, struct random_state *random,
	struct result *result, double *time_us)
{
	struct problem_data *problem = runner->loaded->problem;
	double samples_us[RETEST_SAMPLES] = {0};

	for (size_t i = 0; i < RETEST_SAMPLES && result->outcome == OUTCOME_OK; i++) {
		const size_t set = set_of(problem, random, i);

		gpu_progress(gpu, 0);
		if (!(problem->has_no_second || problem_data_fill_fresh(gpu, problem, set)) ||
			!problem_data_poison(gpu, problem, 0, problem->set_count) ||
			!evict(gpu, problem) || !sample(gpu, runner, set, result, &samples_us[i]))
			return false;
	}
	/* with different group sizes, the faster sample only has smaller groups */
	*time_us = statistics_quantile(samples_us, RETEST_SAMPLES, runner->draws > 1 ? 0.5 : 0);
	return problem_data_fill_first(gpu, problem) &&
	       loaded_fill_symbols(gpu, runner->loaded, 0) &&
	       (result->outcome != OUTCOME_OK || verify_memory(gpu, runner->loaded, result));
}

bool retest_series(struct gpu_session *gpu, const struct runner *runner,
	struct random_state *random, struct device_reply *reply, double *time_us)
{
	struct runner once;
	bool done;

	if (!verify_prepare(gpu, runner->loaded->problem, reply))
		return false;
	runner_prepare_once(runner, &once);
	done = series(gpu, &once, random, &reply->result, time_us);
	if (done || !gpu->failure.fatal)
		runner_release(gpu, &once);
	return done;
}

bool retest_is_slower(double time_us, double retest_us)
{
	return retest_us > time_us * noise_ratio + noise_us;
}
