/* SPDX-License-Identifier: MIT */
#include "engine/seeds.h"

#include <math.h>

#include "search/order.h"

enum {
	SEEDS_PER_FAMILY = 128,
	/* The best of a space are many of one tile that differ in what hardly matters. */
	LOOKED_AT_PER_FAMILY = 20000,
};

void seeds_release(struct seeds *seeds)
{
	for (size_t i = 0; i < seeds->count; i++)
		free(seeds->items[i].configuration);
	free(seeds->items);
	*seeds = (struct seeds){0};
}

void seeds_add(
	struct seeds *seeds, const struct family *family, const char *configuration, bool is_winner)
{
	for (size_t i = 0; i < seeds->count; i++)
		if (seeds->items[i].family == family &&
			strcmp(seeds->items[i].configuration, configuration) == 0) {
			seeds->items[i].is_winner |= is_winner;
			return;
		}
	ARRAY_GROW(seeds->items, seeds->count, seeds->capacity);
	seeds->items[seeds->count++] = (struct seed){.family = family,
		.configuration = string_copy(configuration),
		.is_winner = is_winner};
}

/* ---- scanning ---- */
static bool is_new(
	const struct prediction *known, size_t count, const struct prediction *prediction)
{
	for (size_t i = 0; i < count; i++)
		if (fabs(known[i].units - prediction->units) < 0.5 &&
			fabs(known[i].useful_ratio - prediction->useful_ratio) < 1e-6)
			return false;
	return true;
}

static void add_choices(
	struct seeds *seeds, const struct bound_family *bound, const choice *choices)
{
	CLEANUP(text_release) struct text text = {0};

	configuration_format(bound, choices, &text);
	seeds_add(seeds, bound->family, text_string(&text), false);
}

static enum status take_best(
	struct seeds *seeds, struct candidates *pool, size_t index, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;
	CLEANUP(memory_free) size_t *order = memory_zeroed(family->count + 1, sizeof(*order));
	CLEANUP(predictor_close) struct predictor predictor = {0};
	struct prediction known[SEEDS_PER_FAMILY], prediction;
	size_t count, taken = 0;

	for (size_t i = 0; i < family->count; i++)
		order[i] = family->first + i;
	count = order_smallest(order, family->count, pool->predicted_us, LOOKED_AT_PER_FAMILY);
	predictor_open(&predictor, bound);
	for (size_t i = 0; i < count && taken < SEEDS_PER_FAMILY; i++) {
		const choice *choices = candidates_configuration(pool, order[i]);

		if (!isfinite(pool->predicted_us[order[i]]))
			break;
		TRY(predict_choices(&predictor, choices, &prediction, err));
		if (!is_new(known, taken, &prediction))
			continue;
		known[taken++] = prediction;
		add_choices(seeds, bound, choices);
	}
	return STATUS_OK;
}

enum status seeds_scan(struct seeds *seeds, const struct context *context,
	const struct problem *problem, const char *const *families, struct error *err)
{
	const struct candidates_options options = {
		.families = families, .score = true, .device = context->device};
	CLEANUP(candidates_release) struct candidates pool = {0};

	TRY(candidates_open(
		&context->catalogue, problem, device_spec(context->device), &options, &pool, err));
	for (size_t f = 0; f < pool.family_count; f++)
		TRY(take_best(seeds, &pool, f, err));
	return STATUS_OK;
}

/* ---- candidates for a problem ---- */
static bool has_seed(const struct seeds *seeds, const struct family *family)
{
	for (size_t i = 0; i < seeds->count; i++)
		if (seeds->items[i].family == family)
			return true;
	return false;
}

static enum status add_candidates(const struct seeds *seeds, struct bound_family *bound,
	struct candidate_list *list, struct error *err)
{
	CLEANUP(predictor_close) struct predictor predictor = {0};

	predictor_open(&predictor, bound);
	for (size_t i = 0; i < seeds->count; i++) {
		const struct seed *seed = &seeds->items[i];
		struct candidate candidate = {.bound = bound, .is_winner = seed->is_winner};
		bool legal = false;

		if (seed->family != bound->family ||
			!configuration_read(bound, seed->configuration, candidate.choices) ||
			configuration_is_legal(bound, candidate.choices, &legal, NULL) !=
				STATUS_OK ||
			!legal)
			continue;
		TRY(predict_choices(&predictor, candidate.choices, &candidate.prediction, err));
		if (!isfinite(candidate.prediction.time_us))
			continue;
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count++] = candidate;
	}
	return STATUS_OK;
}

/* What the family's author trusts: the model's seeds are alike, and may all spill. */
static void add_default(struct seeds *seeds, const struct bound_family *bound)
{
	choice choices[SPACE_PARAMETERS_MAX];
	bool found = false;

	if (configuration_default(bound, choices, &found, NULL) == STATUS_OK && found)
		add_choices(seeds, bound, choices);
}

static enum status add_family(struct seeds *seeds, const struct context *context,
	const struct family *family, struct candidate_list *list, struct text *left_out,
	struct error *err)
{
	const char *only[] = {family->name, NULL};
	struct bound_family *bound;

	TRY(family_bind_if_applies(
		family, list->problem, device_spec(context->device), NULL, &bound, left_out, err));
	if (!bound)
		return STATUS_OK;
	/* a space that is empty here is no reason to give up the others */
	if (!has_seed(seeds, family) &&
		seeds_scan(seeds, context, list->problem, only, NULL) != STATUS_OK) {
		bound_family_free(bound);
		return STATUS_OK;
	}
	list->bounds =
		memory_resize(list->bounds, list->bound_count + 1, sizeof(struct bound_family *));
	list->bounds[list->bound_count++] = bound;
	add_default(seeds, bound);
	return add_candidates(seeds, bound, list, err);
}

/* Of equals those of the family that was bound first. */
static int compare_candidates(const void *a, const void *b, void *context)
{
	const struct candidate *x = a, *y = b;
	const struct candidate_list *list = context;

	if (x->prediction.time_us < y->prediction.time_us ||
		x->prediction.time_us > y->prediction.time_us)
		return x->prediction.time_us < y->prediction.time_us ? -1 : 1;
	for (size_t i = 0; x->bound != y->bound && i < list->bound_count; i++)
		if (list->bounds[i] == x->bound || list->bounds[i] == y->bound)
			return list->bounds[i] == x->bound ? -1 : 1;
	return 0;
}

static enum status collect(struct seeds *seeds, const struct context *context,
	const char *const *families, struct candidate_list *list, struct error *err)
{
	CLEANUP(text_release) struct text left_out = {0};

	for (size_t i = 0; i < context->catalogue.family_count; i++) {
		const struct family *family = context->catalogue.families[i];

		if (family->operation == list->problem->operation && !family->step_count &&
			candidates_family_wanted(family, families))
			TRY(add_family(seeds, context, family, list, &left_out, err));
	}
	list->left_out = left_out.length ? text_detach(&left_out) : NULL;
	if (list->count)
		qsort_r(list->items, list->count, sizeof(*list->items), compare_candidates, list);
	return STATUS_OK;
}

enum status seeds_candidates(struct seeds *seeds, const struct context *context,
	const struct problem *problem, const char *const *families, struct candidate_list *list,
	struct error *err)
{
	enum status status;

	*list = (struct candidate_list){.problem = problem};
	status = collect(seeds, context, families, list, err);
	if (status != STATUS_OK)
		candidate_list_release(list);
	return status;
}

void candidate_list_release(struct candidate_list *list)
{
	for (size_t i = 0; i < list->bound_count; i++)
		bound_family_free(list->bounds[i]);
	free(list->bounds);
	free(list->items);
	free(list->left_out);
	*list = (struct candidate_list){0};
}

/* ---- the best for a problem ---- */
enum {
	TRIES_MAX = 12,     /* compilations for one problem, where times are predicted */
	TRIES_WITHOUT = 40, /* as long as none of them has worked */
	MEASURED_MODEL = 4, /* of the model's choice, where they are measured */
};
/* Candidates are ranked with estimated registers: one this much behind may still be better. */
static const double prediction_slack_ratio = 0.01;

/* Estimates of registers are capped by what a thread may have: where two candidates of a family
 * with the same estimate spilled, the next one will. */
struct refusal {
	const struct bound_family *bound;
	int regs_per_thread;
	unsigned count;
};
static const unsigned refusals_enough = 2;

static struct refusal *find_refusal(
	const struct best_of *best_of, const struct candidate *candidate)
{
	for (size_t i = 0; i < best_of->refusal_count; i++)
		if (best_of->refusals[i].bound == candidate->bound &&
			best_of->refusals[i].regs_per_thread ==
				candidate->prediction.regs_per_thread)
			return &best_of->refusals[i];
	return NULL;
}

static void note_refusal(struct best_of *best_of, const struct candidate *candidate)
{
	struct refusal *known = find_refusal(best_of, candidate);

	if (!known) {
		ARRAY_GROW(best_of->refusals, best_of->refusal_count, best_of->refusal_capacity);
		known = &best_of->refusals[best_of->refusal_count++];
		*known = (struct refusal){.bound = candidate->bound,
			.regs_per_thread = candidate->prediction.regs_per_thread};
	}
	known->count++;
}

static void skip_refused(struct best_of *best_of)
{
	for (; best_of->next < best_of->candidates.count; best_of->next++) {
		const struct refusal *refusal =
			find_refusal(best_of, &best_of->candidates.items[best_of->next]);

		if (!refusal || refusal->count < refusals_enough)
			break;
	}
}

static enum status try_candidate(
	struct evaluator *evaluator, const struct candidate *candidate, struct error *err)
{
	struct trial *trial;

	return evaluator_add(evaluator, candidate, TRIAL_VERIFIED, &trial, err);
}

static void find_bests(const struct evaluator *evaluator, struct best_of **bests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct best_of *best_of = bests[i];

		best_of->best = NULL;
		best_of->time_us = INFINITY;
		for (size_t k = 0; k < evaluator->count; k++) {
			const struct trial *trial = evaluator->trials[k];

			if (trial->problem == best_of->problem &&
				trial_time_us(trial) < best_of->time_us) {
				best_of->best = trial;
				best_of->time_us = trial_time_us(trial);
			}
		}
	}
}

static bool is_settled(const struct best_of *best_of)
{
	const struct candidate_list *list = &best_of->candidates;

	return best_of->next >= list->count ||
	       best_of->tried >= (best_of->best ? TRIES_MAX : TRIES_WITHOUT) ||
	       list->items[best_of->next].prediction.time_us >=
		       best_of->time_us * (1 - prediction_slack_ratio);
}

/* Of the candidates that were tried last, one for each best_of at most. */
static void take_refusals(
	const struct evaluator *evaluator, size_t first, struct best_of **bests, size_t count)
{
	for (size_t k = first; k < evaluator->count; k++)
		for (size_t i = 0; i < count; i++)
			if (evaluator->trials[k]->problem == bests[i]->problem &&
				evaluator->trials[k]->evaluation.outcome != OUTCOME_OK)
				note_refusal(
					bests[i], &bests[i]->candidates.items[bests[i]->next - 1]);
}

static enum status settle_predicted(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	const struct sampling sampling = {.rounds_min = 1, .rounds_max = 1};
	bool any = true;

	while (any) {
		const size_t first = evaluator->count;

		any = false;
		for (size_t i = 0; i < count; i++) {
			skip_refused(bests[i]);
			if (is_settled(bests[i]))
				continue;
			bests[i]->tried++;
			TRY(try_candidate(
				evaluator, &bests[i]->candidates.items[bests[i]->next++], err));
			any = true;
		}
		if (any)
			TRY(evaluator_compare(evaluator, &sampling, err));
		find_bests(evaluator, bests, count);
		take_refusals(evaluator, first, bests, count);
	}
	return STATUS_OK;
}

static enum status settle_measured(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	const double seconds_each = 0.2;
	struct sampling sampling = {.rounds_min = 8, .rounds_max = 60, .target_ratio = 0.003};

	for (size_t i = 0; i < count; i++) {
		const struct candidate_list *list = &bests[i]->candidates;

		for (size_t k = 0; k < list->count; k++)
			if (k < MEASURED_MODEL || list->items[k].is_winner)
				TRY(try_candidate(evaluator, &list->items[k], err));
	}
	sampling.seconds_max = seconds_each * (double)evaluator->count;
	TRY(evaluator_compare(evaluator, &sampling, err));
	find_bests(evaluator, bests, count);
	return STATUS_OK;
}

enum status bests_settle(
	struct evaluator *evaluator, struct best_of **bests, size_t count, struct error *err)
{
	enum status status;

	for (size_t i = 0; i < count; i++) {
		bests[i]->best = NULL;
		bests[i]->time_us = INFINITY;
		bests[i]->next = bests[i]->tried = 0;
	}
	status = device_measures(evaluator->context->device)
			 ? settle_measured(evaluator, bests, count, err)
			 : settle_predicted(evaluator, bests, count, err);
	for (size_t i = 0; i < count; i++) {
		free(bests[i]->refusals);
		bests[i]->refusals = NULL;
		bests[i]->refusal_count = bests[i]->refusal_capacity = 0;
	}
	return status;
}
