/* SPDX-License-Identifier: MIT */
#include "measure/sampler.h"

#include <math.h>

#include "base/clock.h"
#include "measure/retest.h"
#include "measure/verify.h"

enum {
	THROTTLE_RETRIES = 3,  /* per candidate */
	ENERGY_TIMES_MAX = 10, /* watchdog's limit in multiples of energy_s */
};
static const double throttle_pause_s = 0.05; /* doubles with each retry */
static const double throttle_warm_up_least_s = 0.02, throttle_warm_up_most_s = 0.2;
static const double throttle_interval_s = 0.002;
/* A single candidate's short samples form batches of this time, so that an outlier is no
 * observation. With several candidates, many batches are better than long ones. */
static const double batch_alone_target_us = 1000;

struct sampler {
	struct gpu_session *gpu;
	const struct sampling *rule;
	size_t count, active;
	enum throttle throttle; /* state at the last reading */
	double throttle_read_s;
	double deadline_s;
	sampler_emit *emit;
	void *context;
};

static bool is_verified(const struct series *series)
{
	return series->reply.result.verification.done && series->runner->loaded->problem;
}

static double median_of(const struct result *result)
{
	return statistics_quantile(result->samples_us, result->sample_count, 0.5);
}

static double fastest_of(const struct result *result)
{
	return statistics_quantile(result->samples_us, result->sample_count, 0);
}

static void take_retest(struct series *series, double retest_us)
{
	struct result *result = &series->reply.result;
	const double time_us = fastest_of(result);

	if (!retest_is_slower(time_us, retest_us))
		return;
	for (size_t i = 0; i < result->sample_count; i++)
		result->samples_us[i] = retest_us;
	result->detail =
		string_format("the kernel takes %.4g us on inputs that it has seen, but %.4g us on "
			      "new inputs with cleared outputs; the latter counts",
			time_us, retest_us);
}

/* Returns whether the candidate would become the best one, or is slower with poisoned outputs. */
static bool wants_series(const struct series *series)
{
	const struct result *result = &series->reply.result;
	const double best_us = series->runner->loaded->problem->confirmed_us;
	const double last_us = result->samples_us[result->sample_count - 1];

	return !(best_us > 0) || median_of(result) < best_us ||
	       retest_is_slower(fastest_of(result), last_us);
}

/* Timed runs of slow candidates need no verification. */
static bool is_slow(const struct sampler *sampler, const struct series *series)
{
	const double slow_ratio = 1.2;
	const double best_us = series->runner->loaded->problem->confirmed_us;

	return series->reply.gave_up || sampler->rule->energy_s > 0 ||
	       sampler->rule->sustained_s > 0 ||
	       (best_us > 0 && median_of(&series->reply.result) > slow_ratio * best_us);
}

static bool confirm(struct sampler *sampler, struct series *series)
{
	struct problem_data *problem = series->runner->loaded->problem;
	struct result *result = &series->reply.result;
	double retest_us = 0;

	if (!series->is_retested && is_slow(sampler, series))
		return verify_memory(sampler->gpu, series->runner->loaded, result);
	if (!series->is_retested &&
		!retest_sample(sampler->gpu, series->runner, result, &retest_us))
		return false;
	if (result->outcome != OUTCOME_OK || !wants_series(series))
		return true;
	if (!retest_series(sampler->gpu, series->runner, &series->reply, &retest_us))
		return false;
	if (result->outcome == OUTCOME_OK) {
		take_retest(series, retest_us);
		if (!(problem->confirmed_us > 0) || median_of(result) < problem->confirmed_us)
			problem->confirmed_us = median_of(result);
	}
	return true;
}

static void sampler_finish(struct sampler *sampler, struct series *series)
{
	struct result *result = &series->reply.result;

	gpu_phase(sampler->gpu, &result->spent.confirm_ms);
	if (result->outcome == OUTCOME_OK && is_verified(series) && !confirm(sampler, series))
		gpu_take_failure(&sampler->gpu->failure, &series->reply);
	if (result->outcome == OUTCOME_OK && sampler->rule->energy_s <= 0 &&
		!series->reply.gave_up &&
		sampler_is_noisy(result->samples_us, result->sample_count)) {
		result->outcome = OUTCOME_TOO_NOISY;
		result->detail = string_format("the times of %zu rounds range from %.3g to %.3g us",
			result->sample_count, fastest_of(result),
			statistics_quantile(result->samples_us, result->sample_count, 1));
	}
	series->finished = true;
	sampler->active--;
	sampler->emit(&series->reply, sampler->context);
}

static unsigned batch_size(const struct sampler *sampler, const struct series *series)
{
	const struct runner *runner = series->runner;
	const double samples =
		batch_alone_target_us / (runner->estimate_us * runner->runs_per_sample);

	return sampler->count > 1 ? 1 : (unsigned)fmin(fmax(samples, 1), RUNNER_VISIT_SAMPLES_MAX);
}

/* Reuses a recent reading, because a reading takes up to 1 ms on some systems. */
static enum throttle throttle_check(struct sampler *sampler)
{
	const struct gpu_session *gpu = sampler->gpu;
	const double now = clock_seconds();
	struct nvml_reading reading;

	if (!gpu->nvml || (sampler->throttle_read_s > 0 &&
				  now - sampler->throttle_read_s < throttle_interval_s))
		return sampler->throttle;
	reading = nvml_read_clock(gpu->nvml);
	sampler->throttle = throttle_judge(
		&reading, gpu->clock_is_locked ? 0 : gpu->gpu.identity.clock_sm_max_hz);
	sampler->throttle_read_s = now;
	return sampler->throttle;
}

/* Pauses or warms up, and returns true, if the batch must be repeated. */
static bool retry_throttled(struct sampler *sampler, struct series *series, enum throttle throttle)
{
	if (throttle == THROTTLE_NONE)
		return false;
	if (series->retries >= THROTTLE_RETRIES) {
		/* the user has locked the clock */
		if (throttle == THROTTLE_HELD_DOWN)
			series->reply.result.flags |= FLAG_MASK(THROTTLED);
		else
			sampler->gpu->clock_is_locked = true;
		return false;
	}
	if (throttle == THROTTLE_HELD_DOWN)
		clock_sleep(throttle_pause_s * (double)(1u << series->retries));
	else
		runner_warm_up(sampler->gpu, throttle_warm_up_least_s, throttle_warm_up_most_s);
	series->retries++;
	return true;
}

static bool take_samples(struct sampler *sampler, const struct series *series, double *samples_us,
	unsigned *count, enum throttle *throttle)
{
	struct runner *runner = series->runner;

	if (!(runner->estimate_us > 0)) {
		if (!runner_prepare(sampler->gpu, runner, samples_us))
			return false;
		/* the estimates count as samples of single runs */
		*count = RUNNER_ESTIMATES;
		*throttle = throttle_check(sampler);
		if (runner->runs_per_sample == 1)
			return true;
	}
	if (!runner_start(sampler->gpu, runner, batch_size(sampler, series)))
		return false;
	*throttle = throttle_check(sampler);
	*count = runner->batch_samples;
	return runner_finish(sampler->gpu, runner, samples_us);
}

static void add_observation(struct series *series, double time_us)
{
	struct result *result = &series->reply.result;

	if (series->runner->loaded->problem && series->runner->loaded->problem->is_warm)
		result->flags |= FLAG_MASK(WARM_L2);
	ARRAY_GROW(result->samples_us, result->sample_count, series->capacity);
	result->samples_us[result->sample_count++] = time_us;
}

/* Returns whether the next observation is the last, which uses the second inputs. */
static bool is_retest(const struct sampler *sampler, const struct series *series)
{
	const size_t count = series->reply.result.sample_count;

	return is_verified(series) && series->runner->estimate_us > 0 &&
	       series->runner->loaded->set_count > 1 && count + 1 >= sampler->rule->rounds &&
	       !(count && is_slow(sampler, series));
}

static bool batch_retest(struct sampler *sampler, struct series *series)
{
	double sample_us = 0;

	series->is_retested = true;
	gpu_phase(sampler->gpu, &series->reply.result.spent.confirm_ms);
	if (!retest_sample(sampler->gpu, series->runner, &series->reply.result, &sample_us))
		return false;
	if (series->reply.result.outcome == OUTCOME_OK)
		add_observation(series, sample_us);
	return true;
}

static bool batch_sustained(struct sampler *sampler, struct series *series)
{
	struct runner *runner = series->runner;
	double estimates_us[RUNNER_ESTIMATES], time_us = 0;

	gpu_progress(sampler->gpu,
		sampler->gpu->options.kernel_timeout_s + sampler->rule->sustained_s, false);
	if (!(runner->estimate_us > 0) && !runner_prepare(sampler->gpu, runner, estimates_us))
		return false;
	if (!runner_sustain(sampler->gpu, runner, sampler->rule->sustained_s, &time_us))
		return false;
	if (throttle_check(sampler) == THROTTLE_HELD_DOWN)
		series->reply.result.flags |= FLAG_MASK(THROTTLED);
	add_observation(series, time_us);
	return true;
}

static bool take_batch(struct sampler *sampler, struct series *series)
{
	double samples_us[RUNNER_VISIT_SAMPLES_MAX];
	enum throttle throttle = THROTTLE_NONE;
	unsigned count = 0;

	if (sampler->rule->sustained_s > 0)
		return batch_sustained(sampler, series);
	if (is_retest(sampler, series))
		return batch_retest(sampler, series);
	do {
		gpu_progress(sampler->gpu, 0, false);
		if (!take_samples(sampler, series, samples_us, &count, &throttle))
			return false;
	} while (retry_throttled(sampler, series, throttle));
	add_observation(series, statistics_quantile(samples_us, count, 0.5));
	return true;
}

/* The energy counter includes all work on the card. */
static bool measure_energy(struct sampler *sampler, struct series *series)
{
	struct runner *runner = series->runner;
	double estimates_us[RUNNER_ESTIMATES];

	gpu_progress(sampler->gpu,
		sampler->gpu->options.kernel_timeout_s + ENERGY_TIMES_MAX * sampler->rule->energy_s,
		false);
	return (runner->estimate_us > 0 || runner_prepare(sampler->gpu, runner, estimates_us)) &&
	       energy_measure(sampler->gpu, runner, sampler->rule->energy_s,
		       &series->reply.result.measured);
}

static void step(struct sampler *sampler, struct series *series)
{
	const struct sampling *rule = sampler->rule;
	struct device_reply *reply = &series->reply;
	const bool energy = rule->energy_s > 0;

	sampler->gpu->ticket = reply->ticket;
	gpu_phase(sampler->gpu, &reply->result.spent.sample_ms);
	const bool worked = energy ? measure_energy(sampler, series) : take_batch(sampler, series);
	bool enough = !worked || energy || reply->result.outcome != OUTCOME_OK ||
		      reply->result.sample_count >= rule->rounds;

	if (!worked)
		gpu_take_failure(&sampler->gpu->failure, reply);
	if (!enough && rule->give_up_us > 0 && reply->result.samples_us[0] > rule->give_up_us)
		enough = reply->gave_up = true;
	gpu_phase(sampler->gpu, NULL);
	if (enough || clock_seconds() > sampler->deadline_s)
		sampler_finish(sampler, series);
}

/* Without pauses the GPU reaches its power limit, where the clock varies by 10% with the previous
 * work. */
static void rest(const struct sampler *sampler, const struct series *series, double batch_s)
{
	const struct runner *runner = series->runner;
	/* the GPU is busy during the untimed run, too */
	const double busy_s = 1e-6 * runner->estimate_us *
			      (double)(runner->runs_per_sample * runner->batch_samples + 1);

	if (sampler->rule->rest_ratio > 0 && sampler->active > 0)
		clock_sleep(sampler->rule->rest_ratio * fmin(busy_s, batch_s));
}

void sampler_serve(struct gpu_session *gpu, struct series *series, size_t count,
	const struct sampling *rule, struct random_state *random, sampler_emit *emit, void *context)
{
	struct sampler sampler = {
		.gpu = gpu,
		.rule = rule,
		.count = count,
		.active = count,
		.deadline_s =
			rule->seconds_max > 0 ? clock_seconds() + rule->seconds_max : INFINITY,
		.emit = emit,
		.context = context,
	};
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));

	for (size_t i = 0; i < count; i++)
		order[i] = i;
	while (sampler.active > 0 && !gpu->failure.fatal) {
		random_shuffle(random, order, count);
		for (size_t i = 0; i < count && !gpu->failure.fatal; i++) {
			const double start_s = clock_seconds();

			if (series[order[i]].finished)
				continue;
			step(&sampler, &series[order[i]]);
			rest(&sampler, &series[order[i]], clock_seconds() - start_s);
		}
	}
}

bool sampler_is_noisy(const double *observations_us, size_t count)
{
	const double noisy_ratio = 0.10;
	const size_t least = 3;

	return count >= least &&
	       statistics_quantile(observations_us, count, 0.75) -
			       statistics_quantile(observations_us, count, 0.25) >
		       2 * noisy_ratio * statistics_quantile(observations_us, count, 0.5);
}

/* A busy card's clock is rarely below this part of its maximum. */
static const double slow_clock_ratio = 0.6;
/* A warm-up does not raise clocks limited for these reasons. */
static const unsigned long long set_so =
	NVML_THROTTLE_APPLICATION_CLOCKS | NVML_THROTTLE_POWER_CAP | NVML_THROTTLE_SYNC_BOOST;
static const unsigned long long held_down = NVML_THROTTLE_HW_SLOWDOWN | NVML_THROTTLE_SW_THERMAL |
					    NVML_THROTTLE_HW_THERMAL | NVML_THROTTLE_HW_POWER_BRAKE;

enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz)
{
	if (!reading->valid)
		return THROTTLE_NONE;
	if (reading->throttle_reasons & held_down)
		return THROTTLE_HELD_DOWN;
	if (!(reading->throttle_reasons & set_so) && reading->clock_sm_hz > 0 &&
		reading->clock_sm_hz < slow_clock_ratio * clock_sm_max_hz)
		return THROTTLE_SLOW_CLOCK;
	return THROTTLE_NONE;
}
