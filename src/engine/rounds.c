/* SPDX-License-Identifier: MIT */
#include "engine/rounds.h"

#include <math.h>

#include "base/clock.h"

/* Rounds up to a look (from 0). */
static size_t round_look(const struct round_limits *limits, size_t look)
{
	const double growth = (double)limits->last_look / (double)limits->first_look;

	return (size_t)rint(
		(double)limits->first_look * pow(growth, (double)look / (ROUND_LOOKS - 1)));
}

void round_series_take(struct round_series *series, const struct result *found)
{
	series->is_asked = false;
	if (series->outcome != OUTCOME_OK)
		return;
	series->flags |= found->flags;
	series->is_finished |= !found->sample_count;
	for (size_t i = 0; i < found->sample_count; i++) {
		if (series->warm_up) {
			series->warm_up--;
			continue;
		}
		ARRAY_GROW(series->round_us, series->rounds, series->capacity);
		series->round_us[series->rounds++] = found->samples_us[i];
	}
	if (found->outcome != OUTCOME_OK) {
		series->outcome = found->outcome;
		series->detail = string_copy(found->detail);
	}
}

/* Asks for the next rounds of those that go on; *asked: how many these are. */
static enum status ask(struct evaluator *evaluator, struct round_series *series, size_t count,
	const struct sampling *sampling, size_t *asked, struct error *err)
{
	CLEANUP(memory_free)
	struct trial **trials = memory_zeroed(count + 1, sizeof(struct trial *));

	*asked = 0;
	for (size_t i = 0; i < count; i++) {
		series[i].is_asked = series[i].outcome == OUTCOME_OK && !series[i].is_finished;
		if (series[i].is_asked)
			trials[(*asked)++] = series[i].trial;
	}
	return evaluator_sample(evaluator, trials, *asked, sampling, err);
}

static enum status wait_for_all(struct evaluator *evaluator, const struct round_series *series,
	size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		while (series[i].is_asked) {
			if (evaluator->interrupted && *evaluator->interrupted)
				return error_set(err, STATUS_INTERRUPTED, "interrupted");
			TRY(evaluator_step(evaluator, err));
			evaluator_wait(evaluator);
		}
	return STATUS_OK;
}

static enum status run_all(struct evaluator *evaluator, struct round_series *series, size_t count,
	const struct round_limits *limits, struct error *err)
{
	const double end_s = clock_seconds() + limits->seconds;
	size_t done = 0, asked;

	for (size_t look = 0; look < ROUND_LOOKS; look++) {
		const size_t rounds = round_look(limits, look) + limits->warm_up_rounds;
		const struct sampling sampling = {.rounds = (unsigned)(rounds - done),
			.rounds_before = (unsigned)done,
			.seconds_max = look ? end_s - clock_seconds() : 0,
			.rest_ratio = limits->rest_ratio};

		if (rounds == done)
			continue;
		if (look && sampling.seconds_max <= 0)
			break;
		TRY(ask(evaluator, series, count, &sampling, &asked, err));
		TRY(wait_for_all(evaluator, series, count, err));
		done = rounds;
		if (!asked || (limits->enough && limits->enough(series, count, limits->context)))
			break;
	}
	return STATUS_OK;
}

/* NULL, or one that did not load: nothing would ever come of it. */
static bool can_be_sampled(const struct trial *trial)
{
	return trial && (trial->stage == TRIAL_LOADED || trial->stage == TRIAL_VERIFIED);
}

enum status rounds_run(struct evaluator *evaluator, struct round_series *series, size_t count,
	const struct round_limits *limits, struct error *err)
{
	enum status status;

	for (size_t i = 0; i < count; i++) {
		series[i].outcome = OUTCOME_OK;
		series[i].warm_up = limits->warm_up_rounds;
		series[i].is_finished = !can_be_sampled(series[i].trial);
		if (!series[i].is_finished)
			series[i].trial->series = &series[i];
	}
	status = run_all(evaluator, series, count, limits, err);
	for (size_t i = 0; i < count; i++)
		if (series[i].trial)
			series[i].trial->series = NULL;
	return status;
}

size_t round_ratios(
	const struct round_series *series, const struct round_series *over, double *ratios)
{
	const size_t count = series->rounds < over->rounds ? series->rounds : over->rounds;

	for (size_t i = 0; i < count; i++)
		ratios[i] = series->round_us[i] / over->round_us[i];
	return count;
}

static size_t common_rounds(const struct round_series *loads, size_t count)
{
	size_t rounds = loads[0].rounds;

	for (size_t i = 1; i < count; i++)
		rounds = loads[i].rounds < rounds ? loads[i].rounds : rounds;
	return rounds;
}

/* How far the loads are apart: of each its median distance from the mean, round by round, so that
 * a drift that they share does not count. */
static double deviation_between(
	const struct round_series *loads, size_t count, const struct round_series *merged)
{
	CLEANUP(memory_free)
	double *apart = memory_zeroed(merged->rounds + 1, sizeof(*apart));
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		double median;

		for (size_t round = 0; round < merged->rounds; round++)
			apart[round] = loads[i].round_us[round] - merged->round_us[round];
		median = statistics_quantile(apart, merged->rounds, 0.5);
		squares += median * median;
	}
	return count > 1 ? sqrt(squares / (double)(count - 1)) : 0;
}

void round_series_merge(const struct round_series *loads, size_t count, struct round_series *merged)
{
	size_t rounds = common_rounds(loads, count);

	*merged = (struct round_series){.trial = loads[0].trial,
		.outcome = OUTCOME_OK,
		.rounds = rounds,
		.loads = count,
		.round_us = memory_zeroed(rounds + 1, sizeof(double)),
		.load_us = memory_zeroed(count, sizeof(double))};
	for (size_t i = 0; i < count; i++) {
		merged->flags |= loads[i].flags;
		if (loads[i].outcome != OUTCOME_OK && merged->outcome == OUTCOME_OK) {
			merged->outcome = loads[i].outcome;
			merged->detail = string_copy(loads[i].detail);
		}
		for (size_t round = 0; round < rounds; round++)
			merged->round_us[round] += loads[i].round_us[round] / (double)count;
		if (rounds)
			merged->load_us[i] = statistics_quantile(loads[i].round_us, rounds, 0.5);
	}
	if (rounds)
		merged->load_deviation_us = deviation_between(loads, count, merged);
}

void round_series_release(struct round_series *series)
{
	free(series->round_us);
	free(series->load_us);
	free(series->detail);
	*series = (struct round_series){0};
}
