/* SPDX-License-Identifier: MIT */
#include "measure/sampler.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "measure/energy.h"
#include "measure/stop.h"

enum {
	THROTTLE_RETRIES = 3,  /* visits per candidate that are taken again */
	ENERGY_TIMES_MAX = 10, /* how much longer than asked for it may take */
};
static const double throttle_pause_s = 0.05; /* doubled with each retry */
static const double throttle_warm_up_least_s = 0.02, throttle_warm_up_most_s = 0.2;
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
	struct stop_rule rule;
	double energy_s;
	struct series *series;
	size_t count, active;
	struct throttle_watch watch;
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
	struct measure_result result = {
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
	} else if (sampler->energy_s <= 0 && !series->gave_up &&
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
	record_release(&measure_result_record, &result);
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

/* Whether this visit's samples are to be taken again. */
static bool retry_throttled(struct sampler *sampler, struct series *series, enum throttle throttle)
{
	struct failure ignored;

	if (throttle == THROTTLE_NONE)
		return false;
	if (series->retries >= THROTTLE_RETRIES) {
		series->flags |= FLAG_MASK(THROTTLED);
		return false;
	}
	if (throttle == THROTTLE_HELD_DOWN)
		clock_sleep(throttle_pause_s * (double)(1u << series->retries));
	else
		runner_warm_up(
			sampler->gpu, throttle_warm_up_least_s, throttle_warm_up_most_s, &ignored);
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

		if (!runner_prepare(sampler->gpu, runner, estimates_us, &series->failure))
			return false;
		/* Timings of single runs are samples where samples are single runs; a hopeless
		 * candidate ends here. */
		if (runner->runs_per_sample == 1) {
			append(series, estimates_us, RUNNER_ESTIMATES);
			return true;
		}
	}
	if (!runner_start(sampler->gpu, runner, visit_size(sampler, series), &series->failure))
		return false;
	throttle = throttle_check(sampler->gpu, &sampler->watch);
	if (!runner_finish(sampler->gpu, runner, samples_us, &series->failure))
		return false;
	if (!retry_throttled(sampler, series, throttle))
		append(series, samples_us, runner->visit_samples);
	return true;
}

/* Alone, not in turn with others: the card counts for all that runs. */
static void measure_energy(struct sampler *sampler, struct series *series)
{
	struct runner *runner = series->entry->runner;
	double estimates_us[RUNNER_ESTIMATES];

	gpu_progress(sampler->gpu, series->entry->handle,
		sampler->gpu->options.kernel_timeout_s + ENERGY_TIMES_MAX * sampler->energy_s);
	if (runner->prepared ||
		runner_prepare(sampler->gpu, runner, estimates_us, &series->failure))
		energy_measure(sampler->gpu, runner, sampler->energy_s, &series->measured,
			&series->failure);
	finish(sampler, series);
}

static void step(struct sampler *sampler, struct series *series)
{
	enum stop stop;

	if (sampler->energy_s > 0) {
		measure_energy(sampler, series);
		return;
	}
	if (!visit(sampler, series)) {
		finish(sampler, series);
		return;
	}
	stop = stop_decide(&sampler->rule, series->samples_us, series->count);
	series->gave_up = stop == STOP_GIVE_UP;
	if (stop != STOP_NOT_YET || (series->count > 0 && clock_seconds() > sampler->deadline_s))
		finish(sampler, series);
}

static void start(struct sampler *sampler, struct series *series, struct sampler_entry *entry)
{
	series->entry = entry;
	series->failure.outcome = OUTCOME_OK;
	if (!entry->loaded)
		failure_set(&series->failure, OUTCOME_LAUNCH_FAILED, "it is not loaded");
	else
		series->failure = entry->loaded->failure;
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
		.rule = {request->rounds_min, request->rounds_max ? request->rounds_max : 1,
			request->target_ratio, request->give_up_us},
		.energy_s = request->energy_s,
		.count = count,
		.active = count,
		.deadline_s = request->seconds_max > 0 ? clock_seconds() + request->seconds_max
						       : INFINITY,
		.emit = emit,
		.context = context,
	};
	size_t *order = memory_zeroed(count + 1, sizeof(*order));
	bool fatal = false;

	sampler.series = memory_zeroed(count + 1, sizeof(*sampler.series));
	for (size_t i = 0; i < count; i++) {
		order[i] = i;
		start(&sampler, &sampler.series[i], &entries[i]);
	}
	while (sampler.active > 0 && !fatal) {
		random_shuffle(random, order, count);
		for (size_t i = 0; i < count && !fatal; i++) {
			struct series *series = &sampler.series[order[i]];

			if (!series->finished)
				step(&sampler, series);
			fatal = series->failure.fatal;
		}
	}
	for (size_t i = 0; i < count; i++)
		free(sampler.series[i].samples_us);
	free(sampler.series);
	free(order);
}
