/* SPDX-License-Identifier: MIT */
#include "search/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/order.h"

void neighbourhood_init(struct neighbourhood *neighbourhood, const struct search_view *view)
{
	neighbourhood->view = view;
	neighbourhood->levels =
		memory_zeroed(view->family_count + 1, sizeof(*neighbourhood->levels));
	for (size_t f = 0; f < view->family_count; f++) {
		const struct search_family *family = &view->families[f];
		choice *levels = memory_zeroed(family->parameter_count + 1, sizeof(*levels));

		for (size_t i = 0; i < family->count; i++)
			for (size_t p = 0; p < family->parameter_count; p++) {
				const choice value =
					family->configurations[i * family->parameter_count + p];

				if (value >= levels[p])
					levels[p] = (choice)(value + 1);
			}
		neighbourhood->levels[f] = levels;
	}
}

void neighbourhood_release(struct neighbourhood *neighbourhood)
{
	for (size_t f = 0; neighbourhood->levels && f < neighbourhood->view->family_count; f++)
		free(neighbourhood->levels[f]);
	free(neighbourhood->levels);
	*neighbourhood = (struct neighbourhood){0};
}

struct search {
	const struct neighbourhood *neighbourhood;
	size_t family, parameters;
	choice configuration[SPACE_PARAMETERS_MAX];
	size_t *found; /* grows */
	size_t count, capacity;
};

static bool search_visit(struct search *search)
{
	const struct search_view *view = search->neighbourhood->view;
	const ptrdiff_t index = search_view_find(view, search->family, search->configuration);

	if (index < 0)
		return false;
	if (isfinite(view->predicted_us[index])) {
		ARRAY_GROW(search->found, search->count, search->capacity);
		search->found[search->count++] = (size_t)index;
	}
	return true;
}

/* Single moves. For numbers: the nearest legal value on either side. */
static void search_single(struct search *search, size_t p)
{
	const struct neighbourhood *neighbourhood = search->neighbourhood;
	const bool ordered = neighbourhood->view->families[search->family].ordered[p];
	const int levels = neighbourhood->levels[search->family][p];
	const choice own = search->configuration[p];

	for (int direction = -1; direction <= 1; direction += 2)
		for (int value = own + direction; value >= 0 && value < levels;
			value += direction) {
			search->configuration[p] = (choice)value;
			if (search_visit(search) && ordered)
				break;
		}
	search->configuration[p] = own;
}

/* Pairs of moves by one level each. */
static void search_pair(struct search *search, size_t p, size_t q)
{
	const choice *levels = search->neighbourhood->levels[search->family];
	const choice own_p = search->configuration[p], own_q = search->configuration[q];

	for (int move = 0; move < 4; move++) {
		const int to_p = own_p + (move & 1 ? 1 : -1), to_q = own_q + (move & 2 ? 1 : -1);

		if (to_p < 0 || to_p >= levels[p] || to_q < 0 || to_q >= levels[q])
			continue;
		search->configuration[p] = (choice)to_p;
		search->configuration[q] = (choice)to_q;
		search_visit(search);
	}
	search->configuration[p] = own_p;
	search->configuration[q] = own_q;
}

static size_t list(const struct neighbourhood *neighbourhood, size_t candidate, bool pairs,
	size_t *found, size_t limit)
{
	const struct search_view *view = neighbourhood->view;
	const struct search_family *family = &view->families[view->family[candidate]];
	struct search search = {
		.neighbourhood = neighbourhood,
		.family = view->family[candidate],
		.parameters = family->parameter_count,
	};

	memcpy(search.configuration, search_view_configuration(view, candidate),
		family->parameter_count * sizeof(choice));
	for (size_t p = 0; p < search.parameters; p++)
		search_single(&search, p);
	for (size_t p = 0; pairs && p < search.parameters; p++)
		for (size_t q = p + 1; q < search.parameters; q++)
			search_pair(&search, p, q);
	order_sort(search.found, search.count, view->predicted_us);
	if (search.count > limit)
		search.count = limit;
	if (search.count > 0)
		memcpy(found, search.found, search.count * sizeof(*found));
	free(search.found);
	return search.count;
}

size_t neighbourhood_list(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit)
{
	return list(neighbourhood, candidate, true, found, limit);
}

size_t neighbourhood_nearest(
	const struct neighbourhood *neighbourhood, size_t candidate, size_t *found, size_t limit)
{
	return list(neighbourhood, candidate, false, found, limit);
}

/* ---- similarity ---- */
/* Standard deviations of the parts, of log(measured / predicted). */
static const double GLOBAL = 1.0;
static const double FAMILY = 0.3;
static const double SLOPE = 0.3;
static const double VALUES = 0.35; /* of all parameters together */
static const double PLACE = 0.12;
/* A parameter's two ends are this many lengths of correlation apart. */
static const double VALUE_LENGTHS = 2.0;
static const double PLACE_LENGTHS = 1.5;

/* Slopes beyond this (a factor of 7 in time) count the same: nobody will go there. */
static const double SLOPE_MAX = 2.0;

static float ***tables_new(const struct neighbourhood *neighbourhood)
{
	const struct search_view *view = neighbourhood->view;
	float ***tables = memory_zeroed(view->family_count + 1, sizeof(*tables));

	for (size_t f = 0; f < view->family_count; f++) {
		const size_t parameters = view->families[f].parameter_count;

		tables[f] = memory_zeroed(parameters + 1, sizeof(**tables));
		for (size_t p = 0; p < parameters; p++)
			tables[f][p] = memory_zeroed(
				(size_t)neighbourhood->levels[f][p] + 1, sizeof(***tables));
	}
	return tables;
}

static void tables_free(float ***tables, const struct search_view *view)
{
	for (size_t f = 0; tables && f < view->family_count; f++) {
		for (size_t p = 0; p < view->families[f].parameter_count; p++)
			free(tables[f][p]);
		free(tables[f]);
	}
	free(tables);
}

/* Parameters that a family really has more than one value of. */
static size_t free_parameters(const struct neighbourhood *neighbourhood, size_t family)
{
	size_t count = 0;

	for (size_t p = 0; p < neighbourhood->view->families[family].parameter_count; p++)
		count += neighbourhood->levels[family][p] > 1;
	return count ? count : 1;
}

static void similarity_family(
	struct similarity *similarity, const struct neighbourhood *neighbourhood, size_t f)
{
	const struct search_family *family = &similarity->view->families[f];
	const double share = VALUES * VALUES / (double)free_parameters(neighbourhood, f);

	for (size_t p = 0; p < family->parameter_count; p++) {
		const int levels = neighbourhood->levels[f][p];

		for (int distance = 0; distance < levels; distance++) {
			/* values without an order are as far apart as two ends */
			const double far = distance == 0        ? 0
					   : family->ordered[p] ? (double)distance / (levels - 1)
								: 1;

			similarity->value_part[f][p][distance] =
				(float)(share * exp(-VALUE_LENGTHS * far));
			similarity->place_factor[f][p][distance] = (float)exp(-PLACE_LENGTHS * far);
		}
	}
}

void similarity_init(struct similarity *similarity, const struct neighbourhood *neighbourhood)
{
	const struct search_view *view = neighbourhood->view;
	double best = INFINITY;

	similarity->view = view;
	similarity->value_part = tables_new(neighbourhood);
	similarity->place_factor = tables_new(neighbourhood);
	for (size_t f = 0; f < view->family_count; f++)
		similarity_family(similarity, neighbourhood, f);
	similarity->slope = memory_zeroed(view->count + 1, sizeof(*similarity->slope));
	for (size_t i = 0; i < view->count; i++)
		best = fmin(best, view->predicted_us[i]);
	for (size_t i = 0; i < view->count; i++)
		similarity->slope[i] = (float)fmin(SLOPE_MAX, log(view->predicted_us[i] / best));
}

void similarity_release(struct similarity *similarity, const struct neighbourhood *neighbourhood)
{
	tables_free(similarity->value_part, neighbourhood->view);
	tables_free(similarity->place_factor, neighbourhood->view);
	free(similarity->slope);
	*similarity = (struct similarity){0};
}

double similarity_covariance(const void *context, size_t a, size_t b)
{
	const struct similarity *similarity = context;
	const struct search_view *view = similarity->view;
	const size_t f = view->family[a];
	const double slopes = (double)similarity->slope[a] * (double)similarity->slope[b];
	float values = 0, place = (float)(PLACE * PLACE);
	const choice *x, *y;

	if (f != view->family[b])
		return GLOBAL * GLOBAL + SLOPE * SLOPE * slopes;
	x = search_view_configuration(view, a);
	y = search_view_configuration(view, b);
	for (size_t p = 0; p < view->families[f].parameter_count; p++) {
		const int distance = abs((int)x[p] - (int)y[p]);

		values += similarity->value_part[f][p][distance];
		place *= similarity->place_factor[f][p][distance];
	}
	return GLOBAL * GLOBAL + SLOPE * SLOPE * slopes + FAMILY * FAMILY + (double)values +
	       (double)place;
}

void similarity_tables_init(struct similarity_tables *tables, const struct similarity *similarity,
	const struct neighbourhood *neighbourhood, const size_t *rows, const double *weights,
	size_t row_count)
{
	const struct search_view *view = similarity->view;

	*tables = (struct similarity_tables){
		.family = memory_zeroed(view->family_count + 1, sizeof(float)),
		.value = tables_new(neighbourhood),
	};
	for (size_t i = 0; i < row_count; i++) {
		const size_t f = view->family[rows[i]];
		const choice *x = search_view_configuration(view, rows[i]);
		const float weight = (float)weights[i];

		tables->everywhere += (float)(GLOBAL * GLOBAL) * weight;
		tables->slope += (float)(SLOPE * SLOPE) * weight * similarity->slope[rows[i]];
		tables->family[f] += (float)(FAMILY * FAMILY) * weight;
		for (size_t p = 0; p < view->families[f].parameter_count; p++)
			for (int value = 0; value < neighbourhood->levels[f][p]; value++)
				tables->value[f][p][value] +=
					weight *
					similarity->value_part[f][p][abs(value - (int)x[p])];
	}
}

void similarity_tables_release(struct similarity_tables *tables, const struct search_view *view)
{
	free(tables->family);
	tables_free(tables->value, view);
	*tables = (struct similarity_tables){0};
}

double similarity_sum(const struct similarity_tables *tables, const struct similarity *similarity,
	size_t candidate)
{
	const struct search_view *view = similarity->view;
	const size_t f = view->family[candidate];
	const choice *x = search_view_configuration(view, candidate);
	float sum = tables->everywhere + tables->slope * similarity->slope[candidate] +
		    tables->family[f];

	for (size_t p = 0; p < view->families[f].parameter_count; p++)
		sum += tables->value[f][p][x[p]];
	return (double)sum;
}
