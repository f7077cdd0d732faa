/* SPDX-License-Identifier: MIT */
#include "report/report_candidate.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "report/format.h"

double report_time_us(const struct report_candidate *candidate)
{
	const struct evaluation *evaluation = candidate->evaluation;

	return evaluation->outcome == OUTCOME_OK && evaluation->time.count ? evaluation->time.median
									   : INFINITY;
}

double report_predicted_us(const struct report_candidate *candidate)
{
	return candidate->evaluation->score.launch_count
		       ? candidate->evaluation->score.predicted_time_us
		       : INFINITY;
}

bool report_parameter(const char *configuration, const char *name, int64_t *value)
{
	struct pair pair;

	return pair_find(configuration, name, &pair) && pair_integer(&pair, value);
}

static size_t family_index(struct report_entry *entry, const char *family)
{
	size_t index = report_family(entry, family);

	if (index != SIZE_MAX)
		return index;
	entry->family_names = memory_resize(
		entry->family_names, entry->family_name_count + 1, sizeof(*entry->family_names));
	entry->family_names[entry->family_name_count] = string_copy(family);
	return entry->family_name_count++;
}

/* ---- ranks by clock and by model, and how good the model was ---- */
/* Every candidate, ordered by a comparison of two struct report_candidate *const *. Caller frees.
 */
static struct report_candidate **sorted(
	const struct report_entry *entry, int (*compare)(const void *, const void *))
{
	struct report_candidate **list =
		memory_zeroed(entry->candidate_count + 1, sizeof(struct report_candidate *));

	for (size_t i = 0; i < entry->candidate_count; i++)
		list[i] = &entry->candidates[i];
	qsort(list, entry->candidate_count, sizeof(struct report_candidate *), compare);
	return list;
}

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

static int compare_measured(const void *a_, const void *b_)
{
	const struct report_candidate *a = *(const struct report_candidate *const *)a_;
	const struct report_candidate *b = *(const struct report_candidate *const *)b_;
	int order = compare_doubles(report_time_us(a), report_time_us(b));

	return order ? order : (a > b) - (a < b);
}

static int compare_model(const void *a_, const void *b_)
{
	const struct report_candidate *a = *(const struct report_candidate *const *)a_;
	const struct report_candidate *b = *(const struct report_candidate *const *)b_;
	/* those without a time last */
	int order = isinf(report_time_us(a)) - isinf(report_time_us(b));

	order = order ? order : compare_doubles(report_predicted_us(a), report_predicted_us(b));
	return order ? order : (a > b) - (a < b);
}

/* Of what has both a time and a prediction, where the entry does not say it. */
static void rate_model(struct report_entry *entry, struct report_candidate **by_model)
{
	CLEANUP(memory_free) double *times = memory_zeroed(entry->ok_count + 1, sizeof(double));
	CLEANUP(memory_free)
	double *predictions = memory_zeroed(entry->ok_count + 1, sizeof(double));
	struct tuned_model *quality = &entry->quality;
	double best = report_time_us(&entry->candidates[entry->best]), so_far = INFINITY;
	size_t count = 0, top = 0;

	for (; count < entry->ok_count; count++) {
		times[count] = report_time_us(by_model[count]);
		predictions[count] = report_predicted_us(by_model[count]);
		if (!isfinite(predictions[count]))
			break;
		so_far = fmin(so_far, times[count]);
		if (times[count] <= best && !quality->rank_of_best)
			quality->rank_of_best = count + 1;
		while (top < TUNED_TOPS && count + 1 == tuned_tops[top])
			quality->regret[top++] = so_far / best - 1;
	}
	while (top < TUNED_TOPS && count)
		quality->regret[top++] = so_far / best - 1;
	quality->measured = count;
	quality->rank_correlation = statistics_rank_correlation(predictions, times, count);
}

/* Fills in ranks, best and, where the entry does not say it, quality. */
static void rank_candidates(struct report_entry *entry)
{
	CLEANUP(memory_free) struct report_candidate **by_time = sorted(entry, compare_measured);
	CLEANUP(memory_free) struct report_candidate **by_model = sorted(entry, compare_model);

	for (size_t i = 0; i < entry->ok_count; i++) {
		by_time[i]->measured_rank = i + 1;
		by_model[i]->model_rank = i + 1;
	}
	entry->best = entry->ok_count ? (size_t)(by_time[0] - entry->candidates) : SIZE_MAX;
	if (entry->ok_count && !entry->quality.measured && !entry->predicted)
		rate_model(entry, by_model);
}

/* ---- collecting ---- */
struct chain {
	const struct journal_problem **problems; /* of the run and those before it, newest first */
	size_t count;
};

static struct chain chain_of(const struct report_entry *entry, const struct journal_record *journal,
	const struct journal_run *run)
{
	struct chain chain = {.problems = memory_zeroed(
				      journal->run_count + 1, sizeof(struct journal_problem *))};

	for (; run; run = journal_previous(journal, run)) {
		const struct journal_problem *problem =
			journal_problem_find(run, entry->operation, entry->problem);

		if (problem)
			chain.problems[chain.count++] = problem;
	}
	return chain;
}

/* Whether it is an evaluation of this configuration. */
static bool is_of(
	const struct evaluation *evaluation, const char *family, const char *configuration)
{
	return strcmp(evaluation->configuration, configuration) == 0 &&
	       strcmp(evaluation->family, family) == 0;
}

static int compare_identity(const void *a_, const void *b_)
{
	const struct report_candidate *a = *(const struct report_candidate *const *)a_;
	const struct report_candidate *b = *(const struct report_candidate *const *)b_;
	int order = strcmp(a->evaluation->family, b->evaluation->family);

	if (order == 0)
		order = strcmp(a->evaluation->configuration, b->evaluation->configuration);
	return order ? order : (a > b) - (a < b);
}

/* A resumed run may have evaluated again what its predecessor had; the later one counts. */
static void drop_repeated(struct report_entry *entry)
{
	CLEANUP(memory_free) struct report_candidate **list = sorted(entry, compare_identity);
	size_t kept = 0;

	for (size_t i = 0; i + 1 < entry->candidate_count; i++)
		if (is_of(list[i]->evaluation, list[i + 1]->evaluation->family,
			    list[i + 1]->evaluation->configuration))
			list[i]->evaluation = NULL;
	for (size_t i = 0; i < entry->candidate_count; i++)
		if (entry->candidates[i].evaluation)
			entry->candidates[kept++] = entry->candidates[i];
	entry->candidate_count = kept;
}

static void collect(struct report_entry *entry, const struct chain *chain)
{
	size_t total = 0;

	for (size_t i = 0; i < chain->count; i++)
		total += chain->problems[i]->evaluation_count;
	entry->candidates = memory_zeroed(total + 1, sizeof(*entry->candidates));
	for (size_t i = chain->count; i-- > 0;)
		for (size_t k = 0; k < chain->problems[i]->evaluation_count; k++)
			entry->candidates[entry->candidate_count++].evaluation =
				&chain->problems[i]->evaluations[k];
	if (chain->count > 1)
		drop_repeated(entry);
	for (size_t i = 0; i < entry->candidate_count; i++)
		entry->candidates[i].family =
			family_index(entry, entry->candidates[i].evaluation->family);
}

static void take_remeasurements(struct report_entry *entry, const struct journal_problem *problem)
{
	for (size_t f = 0; f < problem->remeasurement_count; f++) {
		const struct evaluation *again = &problem->remeasurements[f];

		for (size_t i = 0; i < entry->candidate_count; i++)
			if (is_of(entry->candidates[i].evaluation, again->family,
				    again->configuration))
				entry->candidates[i].remeasured = again;
	}
}

/* ---- a search that did not end: the best so far ---- */
static void take_best_so_far(struct report_entry *entry)
{
	const struct evaluation *best = entry->candidates[entry->best].evaluation;
	struct report_result *winner = &entry->winner;

	*winner = (struct report_result){.family = best->family,
		.configuration = string_copy(best->configuration),
		.time_us = best->time.median,
		.low_us = best->time.ci95_low,
		.high_us = best->time.ci95_high,
		.samples = (int64_t)best->time.count,
		.verified = best->verified,
		.score = best->score};
	entry->predicted = best->predicted;
	winner->tflops = entry->flop / winner->time_us * 1e-6;
	entry->has_winner = true;
}

static double flop_of(const struct report_entry *entry)
{
	for (size_t i = 0; i < entry->candidate_count; i++) {
		const struct score *score = &entry->candidates[i].evaluation->score;

		if (score->launch_count && isfinite(score->predicted_time_us) &&
			score->predicted_tflops > 0)
			return score->predicted_tflops * score->predicted_time_us * 1e6;
	}
	return 0;
}

static void take_space(struct report_entry *entry, const struct journal_run *run,
	const struct journal_problem *problem)
{
	entry->where = run->options.where;
	if (entry->legal > 0)
		return;
	for (size_t i = 0; i < problem->family_count; i++) {
		entry->product += problem->families[i].product;
		entry->legal += (double)problem->families[i].legal;
	}
}

void report_candidates_take(struct report_entry *entry, const struct journal_record *journal,
	const struct journal_run *run)
{
	struct chain chain = chain_of(entry, journal, run);

	if (entry->has_winner)
		family_index(entry, entry->winner.family);
	for (size_t i = 0; i < entry->family_count; i++)
		family_index(entry, entry->families[i].family);
	collect(entry, &chain);
	for (size_t i = 0; i < entry->candidate_count; i++) {
		entry->outcomes[entry->candidates[i].evaluation->outcome]++;
		entry->ok_count += isfinite(report_time_us(&entry->candidates[i])) ? 1 : 0;
	}
	if (chain.count) {
		take_space(entry, run, chain.problems[0]);
		take_remeasurements(entry, chain.problems[0]);
		rank_candidates(entry);
	}
	if (entry->flop <= 0)
		entry->flop = flop_of(entry);
	if (!entry->has_winner && entry->best != SIZE_MAX)
		take_best_so_far(entry);
	for (size_t i = 0; entry->has_winner && i < entry->candidate_count; i++)
		if (is_of(entry->candidates[i].evaluation, entry->winner.family,
			    entry->winner.configuration))
			entry->winner_index = i;
	free(chain.problems);
}
