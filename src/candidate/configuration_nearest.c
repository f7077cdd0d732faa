/* SPDX-License-Identifier: MIT
 *
 * Defaults, and the legal configuration that is nearest to a wish.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/family.h"
#include "space/enumerate.h"

enum status configuration_defaults(
	const struct bound_family *bound, struct value *values, struct error *err)
{
	const struct family *family = bound->family;
	struct value *slots = memory_zeroed(family->scope.count, sizeof(*slots));
	enum status status = STATUS_OK;

	space_fixed(bound->space, slots);
	for (size_t i = 0; i < family->parameter_count && status == STATUS_OK; i++) {
		size_t slot = family->scope.parameter_at + i;

		status = expression_evaluate(
			family->parameters[i].default_value, slots, NULL, &values[i], err);
		slots[slot] = values[i];
	}
	free(slots);
	return status;
}

/* How far apart two values of a parameter are: factors of two, 1 for names. */
static double value_distance(struct value a, struct value b)
{
	double x, y;

	if (value_equal(a, b))
		return 0;
	if (!value_as_real(a, &x) || !value_as_real(b, &y))
		return 1;
	if (x > 0 && y > 0)
		return fabs(log2(x / y));
	return 1 + fabs(x - y);
}

struct nearest {
	const struct bound_family *bound;
	const bool *fixed;
	double **distances; /* by parameter and choice */
	choice *best;
	double best_distance;
};

static bool visit_configuration(
	const choice *configuration, const struct value *slots, void *context)
{
	struct nearest *nearest = context;
	size_t count = nearest->bound->family->parameter_count;
	double distance = 0;

	(void)slots;
	for (size_t i = 0; i < count; i++) {
		double one = nearest->distances[i][configuration[i]];

		if (one > 0 && nearest->fixed && nearest->fixed[i])
			return true;
		distance += one;
		if (distance >= nearest->best_distance)
			return true;
	}
	nearest->best_distance = distance;
	memcpy(nearest->best, configuration, count * sizeof(*configuration));
	return distance > 0;
}

/* Whether values are in the lists and legal; configuration is set then. */
static enum status is_legal(const struct bound_family *bound, const struct value *values,
	choice *configuration, bool *legal, struct error *err)
{
	const struct scope *scope = &bound->family->scope;
	struct value *slots;
	int violated;
	enum status status;

	*legal = false;
	for (size_t i = 0; i < bound->family->parameter_count; i++) {
		int found = space_choice_find(bound->space, i, values[i]);

		if (found < 0)
			return STATUS_OK;
		configuration[i] = (choice)found;
	}
	slots = memory_zeroed(scope->count, sizeof(*slots));
	space_fixed(bound->space, slots);
	for (size_t i = 0; i < bound->family->parameter_count; i++)
		slots[scope->parameter_at + i] = values[i];
	status = space_examine(bound->space, slots, &violated, err);
	*legal = status == STATUS_OK && violated < 0;
	free(slots);
	return status;
}

enum status configuration_nearest(const struct bound_family *bound, const struct value *values,
	const bool *fixed, choice *configuration, bool *found, struct error *err)
{
	size_t count = bound->family->parameter_count;
	struct nearest nearest = {
		.bound = bound, .fixed = fixed, .best = configuration, .best_distance = INFINITY};
	enum status status = is_legal(bound, values, configuration, found, err);

	if (status != STATUS_OK || *found)
		return status;
	nearest.distances = memory_zeroed(count + 1, sizeof(*nearest.distances));
	for (size_t i = 0; i < count; i++) {
		const struct value_list *list = space_parameter_values(bound->space, i);

		nearest.distances[i] = memory_zeroed(list->count + 1, sizeof(double));
		for (size_t k = 0; k < list->count; k++)
			nearest.distances[i][k] = value_distance(values[i], list->items[k]);
	}
	status = space_enumerate(bound->space, visit_configuration, &nearest, NULL, err);
	*found = status == STATUS_OK && nearest.best_distance < (double)INFINITY;
	for (size_t i = 0; i < count; i++)
		free(nearest.distances[i]);
	free(nearest.distances);
	return status;
}

enum status configuration_default(
	const struct bound_family *bound, choice *configuration, bool *found, struct error *err)
{
	struct value *values = memory_zeroed(bound->family->parameter_count + 1, sizeof(*values));
	enum status status = configuration_defaults(bound, values, err);

	*found = false;
	if (status == STATUS_OK)
		status = configuration_nearest(bound, values, NULL, configuration, found, err);
	free(values);
	return status;
}
