/* SPDX-License-Identifier: MIT */
#include "tune/favourites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	FAVOURITES_PER_FAMILY = 128,
	/* The best of a space are many of one tile that differ in what hardly matters. */
	LOOKED_AT_PER_FAMILY = 20000,
};

void favourites_release(struct favourites *favourites)
{
	for (size_t i = 0; i < favourites->count; i++)
		free(favourites->items[i].configuration);
	free(favourites->items);
	*favourites = (struct favourites){0};
}

void favourites_add(struct favourites *favourites, const struct family *family,
	const char *configuration, bool is_winner)
{
	for (size_t i = 0; i < favourites->count; i++)
		if (favourites->items[i].family == family &&
			strcmp(favourites->items[i].configuration, configuration) == 0) {
			favourites->items[i].is_winner |= is_winner;
			return;
		}
	ARRAY_GROW(favourites->items, favourites->count, favourites->capacity);
	favourites->items[favourites->count++] = (struct favourite){.family = family,
		.configuration = string_copy(configuration),
		.is_winner = is_winner};
}

enum status prospect_score(
	const struct bound_family *bound, struct prospect *prospect, struct error *err)
{
	struct value *slots = memory_zeroed(space_slot_count(bound->space), sizeof(*slots));
	struct work work = {0};
	struct score score = {0};
	enum status status = space_values(bound->space, prospect->choices, slots, err);

	if (status == STATUS_OK)
		status = candidate_work(bound, slots, &work, err);
	if (status == STATUS_OK) {
		score_compute(bound->device, &work, NULL, &score);
		prospect->predicted_us = score.predicted_time_us;
		if (score.launch_count) {
			prospect->units = score.launches[score.longest].tiles;
			prospect->useful_ratio =
				score.launches[score.longest].tile_efficiency_ratio;
			prospect->regs_per_thread = score.launches[score.longest].regs_per_thread;
		}
		score_release(&score);
	}
	work_release(&work);
	free(slots);
	return status;
}

/* ---- scanning ---- */
static int compare_candidates(const void *a, const void *b, void *context)
{
	const struct candidates *pool = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	double difference = pool->predicted_us[x] - pool->predicted_us[y];

	if (difference < 0 || difference > 0)
		return difference < 0 ? -1 : 1;
	return x < y ? -1 : x > y;
}

static bool is_new(const struct prospect *known, size_t count, const struct prospect *prospect)
{
	for (size_t i = 0; i < count; i++)
		if (fabs(known[i].units - prospect->units) < 0.5 &&
			fabs(known[i].useful_ratio - prospect->useful_ratio) < 1e-6)
			return false;
	return true;
}

static enum status take_best(
	struct favourites *favourites, struct candidates *pool, size_t index, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;
	size_t *order = memory_zeroed(family->count + 1, sizeof(*order));
	struct prospect *known = memory_zeroed(FAVOURITES_PER_FAMILY, sizeof(*known));
	size_t taken = 0;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < family->count; i++)
		order[i] = family->first + i;
	qsort_r(order, family->count, sizeof(*order), compare_candidates, pool);
	for (size_t i = 0; status == STATUS_OK && i < family->count && i < LOOKED_AT_PER_FAMILY &&
			   taken < FAVOURITES_PER_FAMILY;
		i++) {
		struct prospect prospect = {0};
		struct text text = {0};

		if (!isfinite(pool->predicted_us[order[i]]))
			break;
		memcpy(prospect.choices, candidates_configuration(pool, order[i]),
			family->parameter_count * sizeof(choice));
		status = prospect_score(bound, &prospect, err);
		if (status != STATUS_OK || !is_new(known, taken, &prospect))
			continue;
		known[taken++] = prospect;
		configuration_format(bound, prospect.choices, &text);
		favourites_add(favourites, bound->family, text_string(&text), false);
		text_release(&text);
	}
	free(known);
	free(order);
	return status;
}

enum status favourites_scan(struct favourites *favourites, const struct workbench *bench,
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
		status = take_best(favourites, &pool, f, err);
	candidates_release(&pool);
	return status;
}

/* ---- prospects ---- */
static bool has_favourite(const struct favourites *favourites, const struct family *family)
{
	for (size_t i = 0; i < favourites->count; i++)
		if (favourites->items[i].family == family)
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

static enum status add_prospects(const struct favourites *favourites, size_t index,
	struct prospects *prospects, struct error *err)
{
	const struct bound_family *bound = prospects->bounds[index];

	for (size_t i = 0; i < favourites->count; i++) {
		struct prospect prospect = {
			.bound = index, .is_winner = favourites->items[i].is_winner};

		if (favourites->items[i].family != bound->family ||
			!read_legal(bound, favourites->items[i].configuration, prospect.choices))
			continue;
		if (prospect_score(bound, &prospect, err) != STATUS_OK)
			return STATUS_FAILED;
		if (!isfinite(prospect.predicted_us))
			continue;
		ARRAY_GROW(prospects->items, prospects->count, prospects->capacity);
		prospects->items[prospects->count++] = prospect;
	}
	return STATUS_OK;
}

/* What the family's author trusts: the model's favourites are alike, and may all spill. */
static void add_default(struct favourites *favourites, const struct bound_family *bound)
{
	choice choices[SPACE_PARAMETERS_MAX];
	struct text text = {0};
	bool found = false;

	if (configuration_default(bound, choices, &found, NULL) != STATUS_OK || !found)
		return;
	configuration_format(bound, choices, &text);
	favourites_add(favourites, bound->family, text_string(&text), false);
	text_release(&text);
}

static enum status add_family(struct favourites *favourites, const struct workbench *bench,
	const struct family *family, struct prospects *prospects, struct text *left_out,
	struct error *err)
{
	const struct device_spec *device = device_spec(bench->device);
	const char *only[] = {family_name(family), NULL};
	struct bound_family *bound;
	struct text why = {0};
	bool applies;
	enum status status =
		family_applies(family, prospects->problem, device, &applies, &why, err);

	if (status == STATUS_OK && !applies)
		text_appendf(left_out, "%s does not apply: needs %s\n", family_name(family),
			text_string(&why));
	text_release(&why);
	if (status != STATUS_OK || !applies)
		return status;
	/* a space that is empty here is no reason to give up the others */
	if (!has_favourite(favourites, family) &&
		favourites_scan(favourites, bench, prospects->problem, only, NULL) != STATUS_OK)
		return STATUS_OK;
	status = family_bind(family, prospects->problem, device, NULL, &bound, err);
	if (status != STATUS_OK)
		return status;
	prospects->bounds = memory_resize(
		prospects->bounds, prospects->bound_count + 1, sizeof(struct bound_family *));
	prospects->bounds[prospects->bound_count++] = bound;
	add_default(favourites, bound);
	return add_prospects(favourites, prospects->bound_count - 1, prospects, err);
}

static int compare_prospects(const void *a, const void *b)
{
	const struct prospect *x = a, *y = b;

	if (x->predicted_us < y->predicted_us || x->predicted_us > y->predicted_us)
		return x->predicted_us < y->predicted_us ? -1 : 1;
	return x->bound < y->bound ? -1 : x->bound > y->bound;
}

enum status prospects_find(struct favourites *favourites, const struct workbench *bench,
	const struct problem *problem, const char *const *families, struct prospects *prospects,
	struct error *err)
{
	struct text left_out = {0};
	enum status status = STATUS_OK;

	*prospects = (struct prospects){.problem = problem};
	for (size_t i = 0; i < bench->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = bench->catalogue.families[i];

		if (family_operation(family) == problem->operation &&
			!family_is_composite(family) && candidates_family_wanted(family, families))
			status = add_family(favourites, bench, family, prospects, &left_out, err);
	}
	prospects->left_out = left_out.length ? text_detach(&left_out) : NULL;
	if (prospects->count)
		qsort(prospects->items, prospects->count, sizeof(*prospects->items),
			compare_prospects);
	if (status != STATUS_OK)
		prospects_release(prospects);
	return status;
}

void prospects_release(struct prospects *prospects)
{
	for (size_t i = 0; i < prospects->bound_count; i++)
		bound_family_free(prospects->bounds[i]);
	free(prospects->bounds);
	free(prospects->items);
	free(prospects->left_out);
	*prospects = (struct prospects){0};
}
