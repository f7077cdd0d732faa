/* SPDX-License-Identifier: MIT */
#include "search/similarity.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

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

static const choice *configuration_of(const struct search_view *view, size_t candidate)
{
	const struct search_family *family = &view->families[view->family[candidate]];

	return family->configurations + (candidate - family->first) * family->parameter_count;
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
	x = configuration_of(view, a);
	y = configuration_of(view, b);
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
		const choice *x = configuration_of(view, rows[i]);
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
	const choice *x = configuration_of(view, candidate);
	float sum = tables->everywhere + tables->slope * similarity->slope[candidate] +
		    tables->family[f];

	for (size_t p = 0; p < view->families[f].parameter_count; p++)
		sum += tables->value[f][p][x[p]];
	return (double)sum;
}
