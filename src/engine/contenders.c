/* SPDX-License-Identifier: MIT */
#include "engine/contenders.h"

#include <math.h>

#include "base/clock.h"
#include "measure/retest.h"

static size_t rounds_of_look(const struct timing_limits *limits, size_t look)
{
	const double growth = (double)limits->last_look / (double)limits->first_look;

	return (size_t)rint(
		(double)limits->first_look * pow(growth, (double)look / (TIMING_LOOKS - 1)));
}

static struct round_times load_times(const struct contender *contender, size_t load)
{
	const struct result *result = &contender->loads[load]->result;
	const size_t first = contender->first_samples[load];

	return result->sample_count > first ? (struct round_times){result->samples_us + first,
						      result->sample_count - first}
					    : (struct round_times){NULL, 0};
}

static void take_outcome(struct contender *contender, const struct result *result)
{
	contender->flags |= result->flags;
	if (result->outcome == OUTCOME_OK || contender->outcome != OUTCOME_OK)
		return;
	contender->outcome = result->outcome;
	contender->detail = result->detail;
}

/* Takes a load's median distance from the mean of each round, so that drift cancels. */
static double deviation_between_loads(
	const struct contender *contender, const struct round_times *loads)
{
	CLEANUP(memory_free)
	double *apart = memory_zeroed(contender->round_count + 1, sizeof(*apart));
	double squares = 0;

	for (size_t i = 0; i < contender->load_count; i++) {
		double median;

		for (size_t round = 0; round < contender->round_count; round++)
			apart[round] = loads[i].us[round] - contender->round_us[round];
		median = statistics_quantile(apart, contender->round_count, 0.5);
		squares += median * median;
	}
	return contender->load_count > 1 ? sqrt(squares / (double)(contender->load_count - 1)) : 0;
}

static void merge_loads(struct contender *contender)
{
	struct round_times loads[CONTENDER_LOADS_MAX];
	const double count = (double)contender->load_count;

	for (size_t i = 0; i < contender->load_count; i++) {
		loads[i] = load_times(contender, i);
		take_outcome(contender, &contender->loads[i]->result);
	}
	contender->round_count = round_times_common(loads, contender->load_count);
	free(contender->round_us);
	contender->round_us = memory_zeroed(contender->round_count + 1, sizeof(double));
	if (!contender->round_count)
		return;
	for (size_t i = 0; i < contender->load_count; i++) {
		for (size_t round = 0; round < contender->round_count; round++)
			contender->round_us[round] += loads[i].us[round] / count;
		contender->load_us[i] =
			statistics_quantile(loads[i].us, contender->round_count, 0.5);
	}
	contender->load_deviation_us = deviation_between_loads(contender, loads);
}

/* *any is false if all contenders are finished. */
static enum status sample_rounds(struct evaluator *evaluator, struct contender *contenders,
	size_t count, const struct sampling *sampling, bool *any, struct error *err)
{
	CLEANUP(memory_free)
	struct trial **trials =
		memory_zeroed(count * CONTENDER_LOADS_MAX + 1, sizeof(struct trial *));
	CLEANUP(memory_free)
	size_t *before = memory_zeroed(count * CONTENDER_LOADS_MAX + 1, sizeof(*before));
	size_t asked = 0, at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct contender *contender = &contenders[i];

		for (size_t k = 0; k < contender->load_count && !contender->is_finished; k++) {
			before[asked] = contender->loads[k]->result.sample_count;
			trials[asked++] = contender->loads[k];
		}
	}
	*any = asked > 0;
	if (!asked)
		return STATUS_OK;
	TRY(evaluator_sample(evaluator, trials, asked, sampling, err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < count; i++) {
		struct contender *contender = &contenders[i];
		const bool was_asked = !contender->is_finished;

		for (size_t k = 0; k < contender->load_count && was_asked; k++, at++)
			contender->is_finished |= trials[at]->result.outcome != OUTCOME_OK ||
						  trials[at]->result.sample_count == before[at];
	}
	return STATUS_OK;
}

enum status contenders_time(struct evaluator *evaluator, struct contender *contenders, size_t count,
	const struct timing_limits *limits, struct error *err)
{
	const double end_s = clock_seconds() + limits->seconds;
	size_t done = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < contenders[i].load_count; k++)
			contenders[i].first_samples[k] =
				contenders[i].loads[k]->result.sample_count +
				limits->warm_up_rounds;
	for (size_t look = 0; look < TIMING_LOOKS; look++) {
		const size_t rounds = rounds_of_look(limits, look) + limits->warm_up_rounds;
		const struct sampling sampling = {.rounds = (unsigned)(rounds - done),
			.rounds_before = (unsigned)done,
			.seconds_max = look ? end_s - clock_seconds() : 0,
			.rest_ratio = limits->rest_ratio,
			.sustained_s = limits->sustained_s};
		bool any;

		if (rounds == done)
			continue;
		if (look && sampling.seconds_max <= 0)
			break;
		TRY(sample_rounds(evaluator, contenders, count, &sampling, &any, err));
		for (size_t i = 0; i < count; i++)
			if (contenders[i].load_count)
				merge_loads(&contenders[i]);
		done = rounds;
		if (!any || (limits->is_enough &&
				    limits->is_enough(contenders, count, limits->context)))
			break;
	}
	return STATUS_OK;
}

static bool was_timed(const struct contender *contender)
{
	return contender->outcome == OUTCOME_OK || contender->outcome == OUTCOME_TOO_NOISY;
}

static void take_retests(struct contender *contender)
{
	double first_us = 0, now_us = 0, ratio;

	for (size_t k = 0; k < contender->load_count; k++) {
		const double load_us = contender->load_us[k];
		const double retest_us = contender->loads[k]->retest_us;

		first_us += load_us;
		now_us += retest_is_slower(load_us, retest_us) ? retest_us : load_us;
	}
	ratio = now_us / first_us;
	for (size_t i = 0; i < contender->round_count; i++)
		contender->round_us[i] *= ratio;
	for (size_t k = 0; k < contender->load_count; k++)
		contender->load_us[k] *= ratio;
	contender->load_deviation_us *= ratio;
}

enum status contenders_verify(
	struct evaluator *evaluator, struct contender *contenders, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (was_timed(&contenders[i]))
			TRY(evaluator_check(
				evaluator, contenders[i].loads, contenders[i].load_count, err));
	TRY(evaluator_run(evaluator, err));
	for (size_t i = 0; i < count; i++) {
		struct contender *contender = &contenders[i];

		if (contender->round_count)
			take_retests(contender);
		for (size_t k = 0; k < contender->load_count; k++) {
			const struct result *result = &contender->loads[k]->result;

			if (was_timed(contender) && result->outcome != OUTCOME_OK &&
				result->outcome != OUTCOME_TOO_NOISY) {
				contender->outcome = result->outcome;
				contender->detail = result->detail;
			}
		}
	}
	return STATUS_OK;
}

enum status contender_expect_device(const struct contender *contender, struct error *err)
{
	for (size_t i = 0; i < CONTENDER_LOADS_MAX && contender->loads[i]; i++) {
		const struct result *result = &contender->loads[i]->result;

		if (result->outcome == OUTCOME_DEVICE_LOST)
			return error_set(err, STATUS_NO_DEVICE, "the device was lost: %s",
				result->detail ? result->detail : "no message");
	}
	return STATUS_OK;
}

void contender_release(struct contender *contender)
{
	free(contender->round_us);
	*contender = (struct contender){0};
}

double round_times_median(struct round_times times)
{
	return statistics_quantile(times.us, times.count, 0.5);
}

struct interval round_times_ratio(
	struct round_times times, struct round_times over, enum confidence confidence)
{
	const size_t count = times.count < over.count ? times.count : over.count;
	CLEANUP(memory_free) double *ratios = memory_zeroed(count + 1, sizeof(*ratios));

	for (size_t i = 0; i < count; i++)
		ratios[i] = times.us[i] / over.us[i];
	return statistics_interval(ratios, count, confidence);
}

size_t round_times_common(const struct round_times *times, size_t count)
{
	size_t common = count ? times[0].count : 0;

	for (size_t i = 1; i < count; i++)
		common = times[i].count < common ? times[i].count : common;
	return common;
}

size_t round_times_fastest(const struct round_times *times, size_t count)
{
	const size_t common = round_times_common(times, count);
	double best_us = INFINITY;
	size_t fastest = 0;

	for (size_t i = 0; i < count; i++) {
		const double median_us = statistics_quantile(times[i].us, common, 0.5);

		if (median_us < best_us)
			fastest = i;
		best_us = fmin(best_us, median_us);
	}
	return fastest;
}
