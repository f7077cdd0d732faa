/* SPDX-License-Identifier: MIT */
#include "engine/complete.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "learn/prediction.h"

/* Choices that are fixed while the rest is searched; -1: free. */
struct restriction {
	struct bound_family *bound;
	struct predictor predictor;
	int fixed[SPACE_PARAMETERS_MAX];
	size_t parameters;
	struct completion *completion;
	struct error *err;
	enum status status;
};

static double total_units(const struct work *work)
{
	double units = 0;

	for (size_t i = 0; i < work->launch_count; i++)
		units += work->launches[i].units;
	return units;
}

/* Whether another value of this parameter, all else at its default, changes the number of units. */
static bool changes_units(struct restriction *restriction, const choice *defaults, size_t parameter)
{
	const struct space *space = restriction->bound->space;
	const struct value_list *values = space_parameter_values(space, parameter);
	choice configuration[SPACE_PARAMETERS_MAX];
	struct prediction prediction;
	double first = -1;
	bool changes = false;

	memcpy(configuration, defaults, restriction->parameters * sizeof(*defaults));
	for (size_t i = 0; i < values->count && !changes; i++) {
		double units;

		configuration[parameter] = (choice)i;
		if (predict_choices(&restriction->predictor, configuration, &prediction, NULL) !=
			STATUS_OK)
			continue;
		units = total_units(restriction->predictor.work);
		changes = first >= 0 && fabs(units - first) > 0.5;
		first = units;
	}
	return changes;
}

static bool consider(const choice *configuration, const struct value *slots, void *context)
{
	struct restriction *restriction = context;
	struct candidate *best = &restriction->completion->candidate;
	struct prediction prediction;

	for (size_t i = 0; i < restriction->parameters; i++)
		if (restriction->fixed[i] >= 0 && configuration[i] != restriction->fixed[i])
			return true;
	restriction->status =
		predict(&restriction->predictor, slots, NULL, &prediction, restriction->err);
	if (restriction->status != STATUS_OK)
		return false;
	if (!restriction->completion->legal || prediction.time_us < best->prediction.time_us) {
		best->prediction = prediction;
		memcpy(best->choices, configuration,
			restriction->parameters * sizeof(*configuration));
	}
	restriction->completion->legal++;
	return true;
}

static enum status read_given(const struct bound_family *bound, const char *text, int *fixed,
	struct completion *completion, struct error *err)
{
	const struct space *space = bound->space;
	size_t count = space_parameter_count(space);
	struct value *slots = memory_zeroed(space_slot_count(space), sizeof(*slots));
	bool given[SPACE_PARAMETERS_MAX] = {false};
	enum status status = STATUS_OK;

	if (*text)
		status = configuration_parse(bound, text, slots, given, err);
	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		struct text value = {0};

		completion->filled_in[i] = !given[i];
		fixed[i] = -1;
		if (!given[i])
			continue;
		fixed[i] = space_choice_find(space, i, slots[space_parameter_slot(space, i)]);
		if (fixed[i] >= 0)
			continue;
		value_format(slots[space_parameter_slot(space, i)], &value);
		status = configuration_refuse(bound, i, text_string(&value), err);
		text_release(&value);
		error_context(err, "%s", family_name(bound->family));
	}
	free(slots);
	return status;
}

static enum status search(struct restriction *restriction)
{
	const enum status status = space_enumerate(
		restriction->bound->space, consider, restriction, NULL, restriction->err);

	return status == STATUS_OK ? restriction->status : status;
}

enum status completion_find(struct bound_family *bound, const char *text, bool *found,
	struct completion *completion, struct text *why, struct error *err)
{
	const size_t count = space_parameter_count(bound->space);
	struct restriction restriction = {
		.bound = bound, .parameters = count, .completion = completion, .err = err};
	int given[SPACE_PARAMETERS_MAX];
	choice defaults[SPACE_PARAMETERS_MAX];
	bool has_defaults = false;
	enum status status;

	*completion = (struct completion){.candidate.bound = bound};
	*found = false;
	predictor_open(&restriction.predictor, bound, NULL);
	status = read_given(bound, text, given, completion, err);
	if (status == STATUS_OK)
		status = configuration_default(bound, defaults, &has_defaults, err);
	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		restriction.fixed[i] = given[i] >= 0 ? given[i]
				       : has_defaults && changes_units(&restriction, defaults, i)
					       ? defaults[i]
					       : -1;
	if (status == STATUS_OK)
		status = search(&restriction);
	if (status == STATUS_OK && !completion->legal) {
		memcpy(restriction.fixed, given, count * sizeof(*given));
		status = search(&restriction);
	}
	*found = completion->legal > 0;
	if (status == STATUS_OK && !*found && why)
		text_appendf(why, "%s: no legal configuration has %s", family_name(bound->family),
			*text ? text : "any value");
	predictor_close(&restriction.predictor);
	return status;
}
