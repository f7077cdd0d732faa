/* SPDX-License-Identifier: MIT */
#include "engine/seeds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "learn/prediction.h"
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

static enum status take_best(
	struct seeds *seeds, struct candidates *pool, size_t index, struct error *err)
{
	const struct family_candidates *family = &pool->families[index];
	const struct bound_family *bound = family->bound;
	size_t *order = memory_zeroed(family->count + 1, sizeof(*order));
	struct prediction known[SEEDS_PER_FAMILY];
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
		const choice *choices = candidates_configuration(pool, order[i]);
		struct prediction prediction;
		struct text text = {0};

		if (!isfinite(pool->predicted_us[order[i]]))
			break;
		status = predict_choices(&predictor, choices, &prediction, err);
		if (status != STATUS_OK || !is_new(known, taken, &prediction))
			continue;
		known[taken++] = prediction;
		configuration_format(bound, choices, &text);
		seeds_add(seeds, bound->family, text_string(&text), false);
		text_release(&text);
	}
	predictor_close(&predictor);
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
	struct predictor predictor;
	enum status status = STATUS_OK;

	predictor_open(&predictor, bound, NULL);
	for (size_t i = 0; i < seeds->count && status == STATUS_OK; i++) {
		const struct seed *seed = &seeds->items[i];
		struct candidate candidate = {.bound = bound, .is_winner = seed->is_winner};
		bool legal = false;

		if (seed->family != bound->family ||
			!configuration_read(bound, seed->configuration, candidate.choices) ||
			configuration_is_legal(bound, candidate.choices, &legal, NULL) !=
				STATUS_OK ||
			!legal)
			continue;
		status = predict_choices(&predictor, candidate.choices, &candidate.prediction, err);
		if (status != STATUS_OK || !isfinite(candidate.prediction.time_us))
			continue;
		ARRAY_GROW(list->items, list->count, list->capacity);
		list->items[list->count++] = candidate;
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
	const struct family *family, struct candidate_list *list, struct text *left_out,
	struct error *err)
{
	const struct device_spec *device = device_spec(bench->device);
	const char *only[] = {family_name(family), NULL};
	struct bound_family *bound;
	struct text why = {0};
	bool applies;
	enum status status = family_applies(family, list->problem, device, &applies, &why, err);

	if (status == STATUS_OK && !applies)
		text_appendf(left_out, "%s does not apply: needs %s\n", family_name(family),
			text_string(&why));
	text_release(&why);
	if (status != STATUS_OK || !applies)
		return status;
	/* a space that is empty here is no reason to give up the others */
	if (!has_seed(seeds, family) &&
		seeds_scan(seeds, bench, list->problem, only, NULL) != STATUS_OK)
		return STATUS_OK;
	status = family_bind(family, list->problem, device, NULL, &bound, err);
	if (status != STATUS_OK)
		return status;
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

enum status seeds_candidates(struct seeds *seeds, const struct context *bench,
	const struct problem *problem, const char *const *families, struct candidate_list *list,
	struct error *err)
{
	struct text left_out = {0};
	enum status status = STATUS_OK;

	*list = (struct candidate_list){.problem = problem};
	for (size_t i = 0; i < bench->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = bench->catalogue.families[i];

		if (family_operation(family) == problem->operation &&
			!family_is_composite(family) && candidates_family_wanted(family, families))
			status = add_family(seeds, bench, family, list, &left_out, err);
	}
	list->left_out = left_out.length ? text_detach(&left_out) : NULL;
	if (list->count)
		qsort_r(list->items, list->count, sizeof(*list->items), compare_candidates, list);
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
