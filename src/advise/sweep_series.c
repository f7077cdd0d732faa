/* SPDX-License-Identifier: MIT */
#include "advise/sweep_series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/sweep.h"
#include "base/memory.h"
#include "engine/explanation.h"
#include "learn/prediction.h"

/* ---- a configuration at a point ---- */
static bool is_legal(const struct bound_family *bound, const choice *choices)
{
	bool legal;

	return configuration_is_legal(bound, choices, &legal, NULL) == STATUS_OK && legal;
}

/* One argument moved to another value, the nearest in its list. */
static bool move_an_argument(const struct bound_family *bound, choice *choices)
{
	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		size_t count = bound->space->parameters[i].values.count;
		choice asked = choices[i];

		if (!bound->family->parameters[i].is_argument)
			continue;
		for (size_t distance = 1; distance < count; distance++)
			for (int side = 0; side < 2; side++) {
				size_t other = side ? asked + distance : asked - distance;

				if (other >= count)
					continue;
				choices[i] = (choice)other;
				if (is_legal(bound, choices))
					return true;
			}
		choices[i] = asked;
	}
	return false;
}

/* Its bound family is NULL where there is none; else the caller's. */
static enum status bind(const struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct candidate *candidate, struct error *err)
{
	*candidate = (struct candidate){0};
	TRY(family_bind_if_applies(series->family, sweep->problems.items[point],
		device_spec(sweep->context->device), NULL, &candidate->bound, NULL, err));
	if (!candidate->bound)
		return STATUS_OK;
	if (!configuration_read(candidate->bound, series->configuration, candidate->choices) ||
		(!is_legal(candidate->bound, candidate->choices) &&
			!move_an_argument(candidate->bound, candidate->choices)))
		candidate_release(candidate);
	return STATUS_OK;
}

enum status sweep_series_add(struct sweep *sweep, const struct sweep_series *series, size_t point,
	struct trial **trial, struct error *err)
{
	CLEANUP(candidate_release) struct candidate candidate = {0};

	*trial = NULL;
	TRY(bind(sweep, series, point, &candidate, err));
	if (!candidate.bound)
		return STATUS_OK;
	TRY(evaluator_add(&sweep->evaluator, &candidate, TRIAL_VERIFIED, trial, err));
	(*trial)->owns_bound = true;
	candidate.bound = NULL;
	return STATUS_OK;
}

/* ---- choosing ---- */
enum {
	SAMPLES = 5,
	OF_A_FAMILY_MAX = 3,
	TRIED_AT_ONCE = 4, /* configurations that are compiled, or measured, together */
	TRIED_MAX = 40,
};

/* A configuration and its predicted times over the samples. */
struct rated {
	const struct family *family;
	char *configuration;
	size_t legal;            /* of the samples */
	double mean_log;         /* of the times of these */
	double time_us[SAMPLES]; /* infinite where it does not work */
};

struct choosing {
	struct sweep *sweep;
	const struct sweep_options *options;
	size_t samples[SAMPLES];
	size_t sample_count;
	struct rated *rated;
	size_t rated_count;
	struct error *err;
};

/* Spread over the range; every other one is moved by one size, so that a sweep by 1 is not judged
 * by round sizes alone. */
static void choose_samples(struct choosing *choosing)
{
	size_t count = choosing->sweep->problems.count;

	for (size_t i = 0; i < SAMPLES; i++) {
		size_t at = count * (2 * i + 1) / (2 * SAMPLES);

		if (i % 2 && at + 1 < count)
			at++;
		if (!choosing->sample_count || choosing->samples[choosing->sample_count - 1] < at)
			choosing->samples[choosing->sample_count++] = at;
	}
}

static enum status rate(struct choosing *choosing, struct rated *rated)
{
	const struct sweep_series series = {
		.family = rated->family, .configuration = rated->configuration};

	for (size_t i = 0; i < choosing->sample_count; i++) {
		CLEANUP(candidate_release) struct candidate candidate = {0};

		TRY(bind(
			choosing->sweep, &series, choosing->samples[i], &candidate, choosing->err));
		if (candidate.bound)
			TRY(predict_candidate(&candidate, choosing->err));
		rated->time_us[i] = candidate.bound ? candidate.prediction.time_us : INFINITY;
		if (isfinite(rated->time_us[i])) {
			rated->legal++;
			rated->mean_log += log(rated->time_us[i]);
		}
	}
	if (rated->legal)
		rated->mean_log /= (double)rated->legal;
	return STATUS_OK;
}

static int compare_rated(const void *a, const void *b)
{
	const struct rated *x = a, *y = b;

	if (x->legal != y->legal)
		return x->legal > y->legal ? -1 : 1;
	if (x->mean_log < y->mean_log || x->mean_log > y->mean_log)
		return x->mean_log < y->mean_log ? -1 : 1;
	return strcmp(x->configuration, y->configuration);
}

static enum status rate_seeds(struct choosing *choosing)
{
	struct sweep *sweep = choosing->sweep;
	struct seeds *seeds = &sweep->seeds;

	/* the middle, and what lies beside a round size */
	for (size_t i = choosing->sample_count / 2; i <= choosing->sample_count / 2 + 1; i++)
		if (i < choosing->sample_count)
			TRY(seeds_scan(seeds, sweep->context,
				sweep->problems.items[choosing->samples[i]],
				choosing->options->families, choosing->err));
	choosing->rated = memory_zeroed(seeds->count + 1, sizeof(*choosing->rated));
	for (size_t i = 0; i < seeds->count; i++) {
		struct rated *rated = &choosing->rated[choosing->rated_count++];

		*rated = (struct rated){.family = seeds->items[i].family,
			.configuration = string_copy(seeds->items[i].configuration)};
		TRY(rate(choosing, rated));
	}
	if (choosing->rated_count)
		qsort(choosing->rated, choosing->rated_count, sizeof(*choosing->rated),
			compare_rated);
	return STATUS_OK;
}

/* How many samples work, and the mean log of their times, from a comparison. */
static void judge(const struct choosing *choosing, struct trial *const *trials, struct rated *rated)
{
	rated->legal = 0;
	rated->mean_log = 0;
	for (size_t i = 0; i < choosing->sample_count; i++) {
		double time_us = trials[i] ? trial_time_us(trials[i]) : INFINITY;

		rated->time_us[i] = time_us;
		if (!isfinite(time_us))
			continue;
		rated->legal++;
		rated->mean_log += log(time_us);
	}
	if (rated->legal)
		rated->mean_log /= (double)rated->legal;
}

/* Compiles (and measures) configurations first..end-1 at all samples and rates them anew. */
static enum status try_some(struct choosing *choosing, size_t first, size_t end)
{
	struct sweep *sweep = choosing->sweep;
	const struct sampling sampling = {
		.rounds_min = 5, .rounds_max = 20, .seconds_max = 4, .target_ratio = 0.005};
	struct trial *trials[TRIED_AT_ONCE][SAMPLES] = {{NULL}};

	for (size_t k = first; k < end; k++) {
		const struct sweep_series series = {.family = choosing->rated[k].family,
			.configuration = choosing->rated[k].configuration};

		for (size_t i = 0; i < choosing->sample_count; i++)
			TRY(sweep_series_add(sweep, &series, choosing->samples[i],
				&trials[k - first][i], choosing->err));
	}
	TRY(evaluator_compare(&sweep->evaluator, &sampling, choosing->err));
	for (size_t k = first; k < end; k++)
		judge(choosing, trials[k - first], &choosing->rated[k]);
	evaluator_clear(&sweep->evaluator);
	return STATUS_OK;
}

static void add_series(struct sweep *sweep, const struct rated *rated)
{
	sweep->series[sweep->series_count++] = (struct sweep_series){
		.family = rated->family, .configuration = string_copy(rated->configuration)};
}

/* The best of what was tried; beside it the next best of its family, so that tiles are compared,
 * not kernels. */
static void take_series(struct choosing *choosing, size_t tried)
{
	struct sweep *sweep = choosing->sweep;

	qsort(choosing->rated, tried, sizeof(*choosing->rated), compare_rated);
	for (size_t i = 0; i < tried && sweep->series_count < OF_A_FAMILY_MAX; i++)
		if (choosing->rated[i].legal &&
			(!sweep->series_count ||
				choosing->rated[i].family == choosing->rated[0].family))
			add_series(sweep, &choosing->rated[i]);
}

/* The next configurations of a family from `from` on, moved to the front there; how many
 * (TRIED_AT_ONCE at most). */
static size_t gather_family(struct choosing *choosing, size_t from, const struct family *family)
{
	size_t found = 0;

	for (size_t i = from; i < choosing->rated_count && found < TRIED_AT_ONCE; i++) {
		struct rated swapped = choosing->rated[i];

		if (!swapped.legal || swapped.family != family)
			continue;
		choosing->rated[i] = choosing->rated[from + found];
		choosing->rated[from + found++] = swapped;
	}
	return found;
}

/* The mean log of how much longer b takes than a where both work; infinite where that is nowhere.
 */
static double mean_log_ratio(const struct rated *a, const struct rated *b)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < SAMPLES; i++)
		if (a->legal && b->legal && isfinite(a->time_us[i]) && isfinite(b->time_us[i]) &&
			a->time_us[i] > 0 && b->time_us[i] > 0) {
			sum += log(b->time_us[i] / a->time_us[i]);
			count++;
		}
	return count ? sum / (double)count : INFINITY;
}

/* The best of a family of which some are tried, if it beats the first series where it works. */
static enum status add_if_faster(
	struct choosing *choosing, size_t from, const struct family *family, size_t *tried)
{
	const struct rated first = choosing->rated[0];
	struct rated *best = NULL;

	*tried = gather_family(choosing, from, family);
	if (*tried)
		TRY(try_some(choosing, from, from + *tried));
	for (size_t i = from; i < from + *tried; i++)
		if (mean_log_ratio(best ? best : &first, &choosing->rated[i]) < 0)
			best = &choosing->rated[i];
	if (best)
		add_series(choosing->sweep, best);
	return STATUS_OK;
}

/* Where another family can do a part of the sizes only (aligned ones, say), and does these faster,
 * it is shown too: that is what alignment is worth. */
static enum status add_other_families(struct choosing *choosing, size_t from)
{
	struct sweep *sweep = choosing->sweep;

	while (from < choosing->rated_count && sweep->series_count < SWEEP_SERIES_MAX) {
		const struct rated *next = &choosing->rated[from];
		size_t tried = 0;
		bool known = !next->legal;

		for (size_t i = 0; i < from && !known; i++)
			known = choosing->rated[i].family == next->family;
		if (!known)
			TRY(add_if_faster(choosing, from, next->family, &tried));
		from += tried ? tried : 1;
	}
	return STATUS_OK;
}

static size_t count_working(const struct choosing *choosing, size_t tried, size_t wanted)
{
	size_t working = 0;

	for (size_t i = 0; i < tried; i++)
		working += choosing->rated[i].legal >= wanted;
	return working;
}

static enum status choose_best(struct choosing *choosing)
{
	const struct sweep *sweep = choosing->sweep;
	size_t tried = 0, wanted;

	TRY(rate_seeds(choosing));
	wanted = choosing->rated_count ? choosing->rated[0].legal : 0;
	while (tried < choosing->rated_count && tried < TRIED_MAX &&
		count_working(choosing, tried, wanted) < OF_A_FAMILY_MAX) {
		size_t end = tried + TRIED_AT_ONCE < choosing->rated_count ? tried + TRIED_AT_ONCE
									   : choosing->rated_count;

		TRY(try_some(choosing, tried, end));
		tried = end;
	}
	take_series(choosing, tried);
	return sweep->series_count ? add_other_families(choosing, tried) : STATUS_OK;
}

/* What was asked for, completed by the model in the middle of the range. */
static enum status choose_asked(struct choosing *choosing)
{
	struct sweep *sweep = choosing->sweep;
	const struct problem *middle =
		sweep->problems.items[choosing->samples[choosing->sample_count / 2]];
	const struct family *family;
	CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
	struct completion completion = {0};
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(text_release) struct text why = {0};
	bool found = false;

	TRY(catalogue_family(&sweep->context->catalogue, sweep->operation,
		choosing->options->families[0], &family, choosing->err));
	if (family->step_count)
		return error_set(choosing->err, STATUS_BAD_INPUT,
			"%s: expected a family with parameters, found one of steps", family->name);
	TRY(family_bind(
		family, middle, device_spec(sweep->context->device), NULL, &bound, choosing->err));
	TRY(completion_find(
		bound, choosing->options->configuration, &found, &completion, &why, choosing->err));
	if (!found)
		return error_set(choosing->err, STATUS_BAD_INPUT,
			"%s: expected a configuration that is legal at %s: %s",
			choosing->options->configuration, middle->text, text_string(&why));
	configuration_format(bound, completion.candidate.choices, &text);
	add_series(sweep, &(struct rated){.family = family, .configuration = text.data});
	return STATUS_OK;
}

enum status sweep_series_choose(
	struct sweep *sweep, const struct sweep_options *options, struct error *err)
{
	struct choosing choosing = {.sweep = sweep, .options = options, .err = err};
	enum status status;

	choose_samples(&choosing);
	status = options->configuration ? choose_asked(&choosing) : choose_best(&choosing);
	if (status == STATUS_OK && !sweep->series_count)
		status = error_set(err, STATUS_FAILED,
			"sweep %s: expected a configuration that works, found none", sweep->range);
	for (size_t i = 0; i < choosing.rated_count; i++)
		free(choosing.rated[i].configuration);
	free(choosing.rated);
	return status;
}
