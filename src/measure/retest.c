/* SPDX-License-Identifier: MIT */
#include "measure/retest.h"

#include "base/statistics.h"
#include "measure/verify.h"

enum {
	SERIES_SAMPLES = 2,
	SERIES_SAMPLES_MAX = SERIES_SAMPLES + 1,
};
/* Margins for a correct kernel: the scatter that sampler_is_noisy() allows, and up to 1.1 us on an
 * H200, because its runs do not overlap with others (README.md). */
static const double noise_ratio = 1.1, noise_us = 2;

/* Reads other memory, so that new inputs leave the L2 cache. */
static bool evict(struct gpu_session *gpu, const struct problem_data *problem)
{
	const uint64_t l2_bytes = (uint64_t)gpu->gpu.facts.l2_bytes;
	const uint64_t bytes =
		problem->arena.bytes < 2 * l2_bytes ? problem->arena.bytes : 2 * l2_bytes;

	return problem->is_warm || helper_checksum(gpu, problem->arena.base, 1, bytes, bytes, 0);
}

/* Takes a sample, whose untimed run precedes the new inputs and the poison. */
static bool sample(struct gpu_session *gpu, struct runner *runner, bool all_fresh, bool resets,
	struct verify_sample *on, double *sample_us)
{
	struct problem_data *problem = runner->loaded->problem;
	const size_t set = on->set;

	gpu_progress(gpu, 0, false);
	return runner_warm_on(gpu, runner, set, &on->first, &on->count) &&
	       (problem->has_no_second ||
		       (all_fresh ? problem_data_fill_fresh(gpu, problem, set)
				  : problem_data_fill_second(gpu, problem, set))) &&
	       problem_data_poison(gpu, problem, on->first, on->count) &&
	       (!resets || loaded_reset(gpu, runner->loaded)) &&
	       loaded_fill_symbols(gpu, runner->loaded, set) && runner_restore(gpu, runner) &&
	       evict(gpu, problem) && runner_start_chosen(gpu, runner) &&
	       runner_finish(gpu, runner, sample_us) &&
	       verify_sample_queue(gpu, runner->loaded, on);
}

/* Clears what this kernel stored, because another kernel could read it. */
static bool restore(struct gpu_session *gpu, const struct loaded *loaded)
{
	return problem_data_fill_first(gpu, loaded->problem) && loaded_reset(gpu, loaded) &&
	       loaded_fill_symbols(gpu, loaded, 0);
}

bool retest_sample(
	struct gpu_session *gpu, struct runner *runner, struct result *result, double *sample_us)
{
	struct problem_data *problem = runner->loaded->problem;
	struct verify_sample on = {
		.set = problem->has_no_second
			       ? 0
			       : (size_t)random_below(&problem->fresh, problem->set_count)};

	return sample(gpu, runner, false, false, &on, sample_us) && restore(gpu, runner->loaded) &&
	       verify_sample(gpu, runner->loaded, &on, true, result);
}

/* Chooses sets so that samples together cover different group sizes. */
static size_t set_of(struct problem_data *problem, size_t index)
{
	const size_t part = problem->set_count / SERIES_SAMPLES;

	if (problem->has_no_second || !part)
		return 0;
	return index % SERIES_SAMPLES * part + (size_t)random_below(&problem->fresh, part);
}

/* The first sample finds kernels that count launches. Before later samples, variables and
 * workspaces are reset, so that the kernel cannot recognise inputs. */
static bool series(
	struct gpu_session *gpu, struct runner *runner, struct result *result, double *time_us)
{
	double samples_us[SERIES_SAMPLES_MAX] = {0};
	size_t count = 0, first = 0;

	while (result->outcome == OUTCOME_OK && count < SERIES_SAMPLES + first) {
		struct verify_sample on = {.set = set_of(runner->loaded->problem, count)};

		if (!sample(gpu, runner, true, count > 0, &on, &samples_us[count]) ||
			!verify_sample(gpu, runner->loaded, &on, false, result))
			return false;
		count++;
		first = count > 1 && retest_is_slower(samples_us[0], samples_us[1]);
	}
	/* the faster sample may only have had smaller groups */
	*time_us = statistics_quantile(
		samples_us + first, SERIES_SAMPLES, runner->group_size_variants > 1 ? 0.5 : 0);
	return restore(gpu, runner->loaded) &&
	       (result->outcome != OUTCOME_OK || verify_memory(gpu, runner->loaded, result));
}

bool retest_series(struct gpu_session *gpu, const struct runner *runner, struct device_reply *reply,
	double *time_us)
{
	struct runner once;
	bool done;

	if (!verify_prepare(gpu, runner->loaded->problem, reply))
		return false;
	runner_prepare_once(runner, &once);
	done = series(gpu, &once, &reply->result, time_us);
	if (done || !gpu->failure.fatal)
		runner_release(gpu, &once);
	return done;
}

bool retest_is_slower(double time_us, double retest_us)
{
	return retest_us > time_us * noise_ratio + noise_us;
}
