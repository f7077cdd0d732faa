/* SPDX-License-Identifier: MIT */
#include "engine/seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

enum status scored_candidate_score(
	struct predictor *predictor, struct scored_candidate *scored_candidate, struct error *err)
{
	enum status status = predict_choices(
		predictor, scored_candidate->choices, &scored_candidate->predicted_us, err);
	const struct launch_score *longest = predictor_longest(predictor);

	if (status == STATUS_OK && longest) {
		scored_candidate->units = longest->tiles;
		scored_candidate->useful_ratio = longest->tile_efficiency_ratio;
		scored_candidate->regs_per_thread = longest->regs_per_thread;
	}
	return status;
}

/* ---- scanning ---- */
static bool is_new(const struct scored_candidate *known, size_t count,
	const struct scored_candidate *scored_candidate)
{
	for (size_t i = 0; i < count; i++)
		if (fabs(known[i].units - scored_candidate->units) < 0.5 &&
			fabs(known[i].useful_ratio - scored_candidate->useful_ratio) < 1e-6)
			return false;
	return true;
}

static enum status take_best(
	struct seeds *seeds, struct candidates *pool, size_t index, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;
	size_t *order = memory_zeroed(family->count + 1, sizeof(*order));
	struct scored_candidate *known = memory_zeroed(SEEDS_PER_FAMILY, sizeof(*known));
	struct predictor predictor;
	size_t taken = 0;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < family->count; i++)
		order[i] = family->first + i;
	order_smallest(order, family->count, pool->predicted_us, LOOKED_AT_PER_FAMILY);
	predictor_open(&predictor, bound, NULL);
	for (size_t i = 0; status == STATUS_OK && i < family->count && i < LOOKED_AT_PER_FAMILY &&
			   taken < SEEDS_PER_FAMILY;
		i++) {
		struct scored_candidate scored_candidate = {0};
		struct text text = {0};

		if (!isfinite(pool->predicted_us[order[i]]))
			break;
		memcpy(scored_candidate.choices, candidates_configuration(pool, order[i]),
			family->parameter_count * sizeof(choice));
		status = scored_candidate_score(&predictor, &scored_candidate, err);
		if (status != STATUS_OK || !is_new(known, taken, &scored_candidate))
			continue;
		known[taken++] = scored_candidate;
		configuration_format(bound, scored_candidate.choices, &text);
		seeds_add(seeds, bound->family, text_string(&text), false);
		text_release(&text);
	}
	predictor_close(&predictor);
	free(known);
	free(order);
	return status;
}

enum status seeds_scan(struct seeds *seeds, const struct context *bench,
	const struct problem *problem, const char *const *families, struct error *err)
{
	struct candidates_options options = {
		.families = families, .score = true, .device = bench->device};
	struct candidates pool;
	enum status status = candidates_open(
		&bench->catalogue, problem, device_spec(bench->device), &options, &pool, err);

	if (status != STATUS_OK)
		return status;
	for (size_t f = 0; f < pool.family_count && status == STATUS_OK; f++)
		status = take_best(seeds, &pool, f, err);
	candidates_release(&pool);
	return status;
}

/* ---- scored_candidates ---- */
static bool has_seed(const struct seeds *seeds, const struct family *family)
{
	for (size_t i = 0; i < seeds->count; i++)
		if (seeds->items[i].family == family)
			return true;
	return false;
}

/* The choices of a text; false where it is not legal here. */
static bool read_legal(const struct bound_family *bound, const char *text, choice *choices)
{
	const struct space *space = bound->space;
	struct value *slots = memory_zeroed(space_slot_count(space), sizeof(*slots));
	bool given[SPACE_PARAMETERS_MAX];
	int violated = -1;
	bool legal = !*text || configuration_parse(bound, text, slots, given, NULL) == STATUS_OK;

	for (size_t i = 0; legal && i < space_parameter_count(space); i++) {
		int found = space_choice_find(space, i, slots[space_parameter_slot(space, i)]);

		legal = found >= 0;
		choices[i] = (choice)(legal ? found : 0);
	}
	if (legal) {
		space_fixed(space, slots);
		legal = space_examine(space, slots, &violated, NULL) == STATUS_OK && violated < 0;
	}
	free(slots);
	return legal;
}

static enum status add_scored_candidates(const struct seeds *seeds, size_t index,
	struct scored_candidates *scored_candidates, struct error *err)
{
	const struct bound_family *bound = scored_candidates->bounds[index];
	struct predictor predictor;
	enum status status = STATUS_OK;

	predictor_open(&predictor, bound, NULL);
	for (size_t i = 0; i < seeds->count && status == STATUS_OK; i++) {
		struct scored_candidate scored_candidate = {
			.bound = index, .is_winner = seeds->items[i].is_winner};

		if (seeds->items[i].family != bound->family ||
			!read_legal(bound, seeds->items[i].configuration, scored_candidate.choices))
			continue;
		status = scored_candidate_score(&predictor, &scored_candidate, err);
		if (status != STATUS_OK || !isfinite(scored_candidate.predicted_us))
			continue;
		ARRAY_GROW(scored_candidates->items, scored_candidates->count,
			scored_candidates->capacity);
		scored_candidates->items[scored_candidates->count++] = scored_candidate;
	}
	predictor_close(&predictor);
	return status;
}

/* What the family's author trusts: the model's seeds are alike, and may all spill. */
static void add_default(struct seeds *seeds, const struct bound_family *bound)
{
	choice choices[SPACE_PARAMETERS_MAX];
	struct text text = {0};
	bool found = false;

	if (configuration_default(bound, choices, &found, NULL) != STATUS_OK || !found)
		return;
	configuration_format(bound, choices, &text);
	seeds_add(seeds, bound->family, text_string(&text), false);
	text_release(&text);
}

static enum status add_family(struct seeds *seeds, const struct context *bench,
	const struct family *family, struct scored_candidates *scored_candidates,
	struct text *left_out, struct error *err)
{
	const struct device_spec *device = device_spec(bench->device);
	const char *only[] = {family_name(family), NULL};
	struct bound_family *bound;
	struct text why = {0};
	bool applies;
	enum status status =
		family_applies(family, scored_candidates->problem, device, &applies, &why, err);

	if (status == STATUS_OK && !applies)
		text_appendf(left_out, "%s does not apply: needs %s\n", family_name(family),
			text_string(&why));
	text_release(&why);
	if (status != STATUS_OK || !applies)
		return status;
	/* a space that is empty here is no reason to give up the others */
	if (!has_seed(seeds, family) &&
		seeds_scan(seeds, bench, scored_candidates->problem, only, NULL) != STATUS_OK)
		return STATUS_OK;
	status = family_bind(family, scored_candidates->problem, device, NULL, &bound, err);
	if (status != STATUS_OK)
		return status;
	scored_candidates->bounds = memory_resize(scored_candidates->bounds,
		scored_candidates->bound_count + 1, sizeof(struct bound_family *));
	scored_candidates->bounds[scored_candidates->bound_count++] = bound;
	add_default(seeds, bound);
	return add_scored_candidates(
		seeds, scored_candidates->bound_count - 1, scored_candidates, err);
}

static int compare_scored_candidates(const void *a, const void *b)
{
	const struct scored_candidate *x = a, *y = b;

	if (x->predicted_us < y->predicted_us || x->predicted_us > y->predicted_us)
		return x->predicted_us < y->predicted_us ? -1 : 1;
	return x->bound < y->bound ? -1 : x->bound > y->bound;
}

enum status scored_candidates_find(struct seeds *seeds, const struct context *bench,
	const struct problem *problem, const char *const *families,
	struct scored_candidates *scored_candidates, struct error *err)
{
	struct text left_out = {0};
	enum status status = STATUS_OK;

	*scored_candidates = (struct scored_candidates){.problem = problem};
	for (size_t i = 0; i < bench->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = bench->catalogue.families[i];

		if (family_operation(family) == problem->operation &&
			!family_is_composite(family) && candidates_family_wanted(family, families))
			status =
				add_family(seeds, bench, family, scored_candidates, &left_out, err);
	}
	scored_candidates->left_out = left_out.length ? text_detach(&left_out) : NULL;
	if (scored_candidates->count)
		qsort(scored_candidates->items, scored_candidates->count,
			sizeof(*scored_candidates->items), compare_scored_candidates);
	if (status != STATUS_OK)
		scored_candidates_release(scored_candidates);
	return status;
}

void scored_candidates_release(struct scored_candidates *scored_candidates)
{
	for (size_t i = 0; i < scored_candidates->bound_count; i++)
		bound_family_free(scored_candidates->bounds[i]);
	free(scored_candidates->bounds);
	free(scored_candidates->items);
	free(scored_candidates->left_out);
	*scored_candidates = (struct scored_candidates){0};
}
