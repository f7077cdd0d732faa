/* SPDX-License-Identifier: MIT */
#include "measure/sampler.h"

#include <math.h>

#include "base/clock.h"

enum {
	THROTTLE_RETRIES = 3,  /* visits per candidate that are taken again */
	ENERGY_TIMES_MAX = 10, /* how much longer than asked for it may take */
};
static const double throttle_pause_s = 0.05; /* doubled with each retry */
static const double throttle_warm_up_least_s = 0.02, throttle_warm_up_most_s = 0.2;
static const double throttle_interval_s = 0.002;
/* A visit lasts about this long: short among others, longer alone (fewer gaps). */
static const double visit_target_us = 1000, visit_alone_target_us = 4000;

/* One candidate of a request under way. */
struct series {
	const struct sampler_entry *entry;
	double *samples_us;
	size_t count, capacity;
	unsigned retries;
	struct measured measured;
	bool finished, gave_up;
	uint32_t flags;
	struct failure failure;
};

struct sampler {
	struct gpu_session *gpu;
	struct sampling rule;
	struct series *series;
	size_t count, active;
	enum throttle throttle; /* when it was last read */
	double throttle_read_s;
	double deadline_s;
	sampler_emit *emit;
	void *context;
};

static void append(struct series *series, const double *samples_us, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ARRAY_GROW(series->samples_us, series->count, series->capacity);
		series->samples_us[series->count++] = samples_us[i];
	}
}

static void finish(struct sampler *sampler, struct series *series)
{
	struct device_event result = {
		.handle = series->entry->handle,
		.outcome = series->failure.outcome,
		.fatal = series->failure.fatal,
		.measured = series->measured,
		.samples_us = series->samples_us,
		.sample_count = series->count,
		.gave_up = series->gave_up,
		.flags = series->flags,
	};

	if (result.outcome != OUTCOME_OK) {
		result.detail = string_copy(series->failure.detail);
	} else if (sampler->rule.energy_s <= 0 && !series->gave_up &&
		   stop_is_noisy(series->samples_us, series->count)) {
		result.outcome = OUTCOME_TOO_NOISY;
		result.detail = string_format("the median of %zu samples is known to %.0f%% only",
			series->count,
			100 * stop_half_interval_ratio(series->samples_us, series->count));
	}
	series->samples_us = NULL;
	series->finished = true;
	sampler->active--;
	sampler->emit(&result, sampler->context);
	record_release(&device_event_record, &result);
}

static unsigned visit_size(const struct sampler *sampler, const struct series *series)
{
	const struct runner *runner = series->entry->runner;
	double target = sampler->active > 1 ? visit_target_us : visit_alone_target_us;
	double sample_us = runner->estimate_us * runner->runs_per_sample;
	unsigned size = RUNNER_VISIT_SAMPLES_MAX;
	size_t wanted = sampler->rule.rounds_max > series->count
				? sampler->rule.rounds_max - series->count
				: 1;

	if (sample_us * size > target)
		size = (unsigned)(target / sample_us);
	if (size > wanted)
		size = (unsigned)wanted;
	return size > 0 ? size : 1;
}

/* A reading costs up to a millisecond on some systems: one per 2 ms, the last one is repeated. */
static enum throttle throttle_check(struct sampler *sampler)
{
	const struct gpu_session *gpu = sampler->gpu;
	const double now = clock_seconds();
	struct nvml_reading reading;

	if (!gpu->nvml || (sampler->throttle_read_s > 0 &&
				  now - sampler->throttle_read_s < throttle_interval_s))
		return sampler->throttle;
	reading = nvml_read_clock(gpu->nvml);
	sampler->throttle = throttle_judge(&reading, gpu->gpu.identity.clock_sm_max_hz);
	sampler->throttle_read_s = now;
	return sampler->throttle;
}

/* Whether this visit's samples are to be taken again. */
static bool retry_throttled(struct sampler *sampler, struct series *series, enum throttle throttle)
{
	if (throttle == THROTTLE_NONE)
		return false;
	if (series->retries >= THROTTLE_RETRIES) {
		series->flags |= FLAG_MASK(THROTTLED);
		return false;
	}
	if (throttle == THROTTLE_HELD_DOWN)
		clock_sleep(throttle_pause_s * (double)(1u << series->retries));
	else
		runner_warm_up(sampler->gpu, throttle_warm_up_least_s, throttle_warm_up_most_s);
	series->retries++;
	return true;
}

/* False on failure. */
static bool visit(struct sampler *sampler, struct series *series)
{
	struct runner *runner = series->entry->runner;
	double samples_us[RUNNER_VISIT_SAMPLES_MAX];
	enum throttle throttle;

	gpu_progress(sampler->gpu, series->entry->handle, 0);
	if (!runner->prepared) {
		double estimates_us[RUNNER_ESTIMATES];

		if (!runner_prepare(sampler->gpu, runner, estimates_us))
			return false;
		/* Timings of single runs are samples where samples are single runs; a hopeless
		 * candidate ends here. */
		if (runner->runs_per_sample == 1) {
			append(series, estimates_us, RUNNER_ESTIMATES);
			return true;
		}
	}
	if (!runner_start(sampler->gpu, runner, visit_size(sampler, series)))
		return false;
	throttle = throttle_check(sampler);
	if (!runner_finish(sampler->gpu, runner, samples_us))
		return false;
	if (!retry_throttled(sampler, series, throttle))
		append(series, samples_us, runner->visit_samples);
	return true;
}

/* Alone, not in turn with others: the card counts for all that runs. */
static bool measure_energy(struct sampler *sampler, struct series *series)
{
	struct runner *runner = series->entry->runner;
	double estimates_us[RUNNER_ESTIMATES];

	gpu_progress(sampler->gpu, series->entry->handle,
		sampler->gpu->options.kernel_timeout_s + ENERGY_TIMES_MAX * sampler->rule.energy_s);
	return (runner->prepared || runner_prepare(sampler->gpu, runner, estimates_us)) &&
	       energy_measure(sampler->gpu, runner, sampler->rule.energy_s, &series->measured) &&
	       draws_measure(sampler->gpu, runner, &series->measured);
}

static void step(struct sampler *sampler, struct series *series)
{
	const bool energy = sampler->rule.energy_s > 0;
	const bool worked = energy ? measure_energy(sampler, series) : visit(sampler, series);
	enum stop stop = STOP_FULL;

	if (!worked)
		series->failure = sampler->gpu->failure;
	else if (!energy)
		stop = stop_decide(&sampler->rule, series->samples_us, series->count);
	series->gave_up = stop == STOP_GIVE_UP;
	if (stop != STOP_NOT_YET || (series->count > 0 && clock_seconds() > sampler->deadline_s))
		finish(sampler, series);
}

/* At the power limit the clock of a GPU that runs without a pause wanders by 10%, and how much
 * depends on what ran before; one that rests in between keeps its highest clock. */
static void rest(const struct sampler *sampler, const struct series *series, double visit_s)
{
	const struct runner *runner = series->entry->runner;
	/* with the run that is not timed; what the host needs besides is rest already */
	const double busy_s = 1e-6 * runner->estimate_us *
			      (double)(runner->runs_per_sample * runner->visit_samples + 1);

	if (sampler->rule.rest_ratio > 0 && sampler->active > 0)
		clock_sleep(sampler->rule.rest_ratio * fmin(busy_s, visit_s));
}

static void start(struct sampler *sampler, struct series *series, struct sampler_entry *entry)
{
	series->entry = entry;
	if (entry->loaded)
		series->failure = entry->loaded->failure;
	else
		series->failure = (struct failure){
			.outcome = OUTCOME_LAUNCH_FAILED, .detail = "it is not loaded"};
	if (series->failure.outcome != OUTCOME_OK)
		finish(sampler, series);
	else
		entry->runner->loaded = entry->loaded;
}

void sampler_serve(struct gpu_session *gpu, struct sampler_entry *entries, size_t count,
	const struct sampling *request, struct random_state *random, sampler_emit *emit,
	void *context)
{
	struct sampler sampler = {
		.gpu = gpu,
		.rule = *request,
		.count = count,
		.active = count,
		.deadline_s = request->seconds_max > 0 ? clock_seconds() + request->seconds_max
						       : INFINITY,
		.emit = emit,
		.context = context,
	};
	CLEANUP(memory_free) size_t *order = memory_zeroed(count + 1, sizeof(*order));
	bool fatal = false;

	if (!sampler.rule.rounds_max)
		sampler.rule.rounds_max = 1;
	sampler.series = memory_zeroed(count + 1, sizeof(*sampler.series));
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		start(&sampler, &sampler.series[i], &entries[i]);
	}
	while (sampler.active > 0 && !fatal) {
		random_shuffle(random, order, count);
		for (size_t i = 0; i < count && !fatal; i++) {
			struct series *series = &sampler.series[order[i]];

			const double start_s = clock_seconds();

			if (series->finished)
				continue;
			step(&sampler, series);
			rest(&sampler, series, clock_seconds() - start_s);
			fatal = series->failure.fatal;
		}
	}
	for (size_t i = 0; i < count; i++)
		free(sampler.series[i].samples_us);
	free(sampler.series);
}

/* ---- when there are enough samples ---- */
/* Noise counts as stable when the spread of the first two thirds and of all agree this well. */
static const double stable_ratio = 0.05;
static const double noisy_ratio = 0.10;
static const size_t noisy_samples = 6; /* fewer give no interval, only minimum and maximum */

double stop_half_interval_ratio(const double *samples_us, size_t count)
{
	double low = 0, high = 0, median;

	if (count == 0)
		return INFINITY;
	statistics_median_interval(samples_us, count, 0.95, &low, &high);
	median = statistics_quantile(samples_us, count, 0.5);
	return median > 0 ? (high - low) / 2 / median : INFINITY;
}

static double spread_ratio(const double *samples_us, size_t count)
{
	double median = statistics_quantile(samples_us, count, 0.5);
	double spread = statistics_quantile(samples_us, count, 0.75) -
			statistics_quantile(samples_us, count, 0.25);

	return median > 0 ? spread / median : INFINITY;
}

static bool noise_is_stable(const double *samples_us, size_t count)
{
	double before, now;

	if (count < STOP_STABLE_SAMPLES)
		return false;
	before = spread_ratio(samples_us, count * 2 / 3);
	now = spread_ratio(samples_us, count);
	return fabs(now - before) <= stable_ratio * now;
}

static bool all_above(const double *samples_us, size_t count, double limit_us)
{
	for (size_t i = 0; i < count; i++)
		if (samples_us[i] <= limit_us)
			return false;
	return true;
}

enum stop stop_decide(const struct sampling *rule, const double *samples_us, size_t count)
{
	if (rule->give_up_us > 0 && count >= STOP_GIVE_UP_SAMPLES && count < rule->rounds_max &&
		all_above(samples_us, count, rule->give_up_us))
		return STOP_GIVE_UP;
	if (count >= rule->rounds_max)
		return STOP_FULL;
	if (count < rule->rounds_min || count == 0 || rule->target_ratio <= 0)
		return STOP_NOT_YET;
	if (stop_half_interval_ratio(samples_us, count) <= rule->target_ratio)
		return STOP_PRECISE;
	return noise_is_stable(samples_us, count) ? STOP_STABLE : STOP_NOT_YET;
}

bool stop_is_noisy(const double *samples_us, size_t count)
{
	return count >= noisy_samples && stop_half_interval_ratio(samples_us, count) > noisy_ratio;
}

/* ---- is the clock held down? ---- */
/* Dense tensor work under the power cap was seen down to 0.7 of the highest clock. */
static const double slow_clock_ratio = 0.6;
static const unsigned long long held_down = NVML_THROTTLE_HW_SLOWDOWN | NVML_THROTTLE_SW_THERMAL |
					    NVML_THROTTLE_HW_THERMAL | NVML_THROTTLE_HW_POWER_BRAKE;

enum throttle throttle_judge(const struct nvml_reading *reading, double clock_sm_max_hz)
{
	if (!reading->valid)
		return THROTTLE_NONE;
	if (reading->throttle_reasons & held_down)
		return THROTTLE_HELD_DOWN;
	if (clock_sm_max_hz > 0 && reading->clock_sm_hz > 0 &&
		reading->clock_sm_hz < slow_clock_ratio * clock_sm_max_hz)
		return THROTTLE_SLOW_CLOCK;
	return THROTTLE_NONE;
}
