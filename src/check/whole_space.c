/* SPDX-License-Identifier: MIT */
#include "check/whole_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/format_text.h"
#include "base/memory.h"
#include "candidate/candidate.h"
#include "space/enumerate.h"

enum {
	EVERY_MAX = 16,     /* kernels, of which all are compiled */
	PLANS_MAX = 100000, /* configurations whose launches are worked out */
};
static const double product_max = 1e7; /* more would take long to walk */

struct configurations {
	choice (*items)[SPACE_PARAMETERS_MAX];
	size_t count, capacity;
};

struct walk {
	struct bound_family *bound;
	struct configurations every;  /* one of each kernel, up to one more than EVERY_MAX */
	struct configurations sample; /* one with each value that is compiled in */
	bool *seen[SPACE_PARAMETERS_MAX];
	size_t legal, unlaunchable;
	struct text first; /* configuration that cannot be launched, and why */
};

static void walk_release(struct walk *walk)
{
	for (size_t i = 0; i < SPACE_PARAMETERS_MAX; i++)
		free(walk->seen[i]);
	free(walk->every.items);
	free(walk->sample.items);
	text_release(&walk->first);
}

static void add(struct configurations *list, const choice *configuration, size_t parameter_count)
{
	ARRAY_GROW(list->items, list->count, list->capacity);
	memcpy(list->items[list->count++], configuration, parameter_count * sizeof(choice));
}

/* Whether both are one kernel: they differ in arguments alone. */
static bool is_same_kernel(const struct family *family, const choice *a, const choice *b)
{
	for (size_t i = 0; i < family->parameter_count; i++)
		if (!family->parameters[i].is_argument && a[i] != b[i])
			return false;
	return true;
}

static void choose(struct walk *walk, const choice *configuration)
{
	const struct family *family = walk->bound->family;
	bool is_new = !walk->sample.count, is_known = false;

	for (size_t i = 0; i < family->parameter_count; i++) {
		bool *seen = &walk->seen[i][configuration[i]];

		is_new |= !family->parameters[i].is_argument && !*seen;
		*seen = true;
	}
	if (is_new)
		add(&walk->sample, configuration, family->parameter_count);
	for (size_t i = 0; i < walk->every.count && !is_known; i++)
		is_known = is_same_kernel(family, walk->every.items[i], configuration);
	if (!is_known && walk->every.count <= EVERY_MAX)
		add(&walk->every, configuration, family->parameter_count);
}

static bool visit(const choice *configuration, void *context)
{
	struct walk *walk = context;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(walk->bound->space->names->count + 1, sizeof(*values));
	struct plan plan = {0};
	struct error why = {0};

	if (walk->legal++ >= PLANS_MAX)
		return true;
	choose(walk, configuration);
	if ((space_values(walk->bound->space, configuration, values, &why) != STATUS_OK ||
		    candidate_plan(walk->bound, values, &plan, &why) != STATUS_OK) &&
		!walk->unlaunchable++) {
		configuration_format(walk->bound, configuration, &walk->first);
		text_appendf(&walk->first, ": %s", why.message);
	}
	plan_release(&plan);
	return true;
}

static enum status none_launched(const struct bound_family *bound, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT,
		"%s: %s: expected a configuration that can be launched on %s, found none",
		bound->family->file, bound->problem->title, bound->device->title);
}

static enum status compile(const struct walk *walk, const struct configurations *chosen,
	struct context *context, struct text *notices, struct error *err)
{
	CLEANUP(evaluator_release) struct evaluator evaluator = {.context = context};
	const struct evaluation *first = NULL, *first_beyond = NULL;
	enum status status = STATUS_OK;
	size_t failed = 0, beyond = 0;

	for (size_t i = 0; i < chosen->count; i++) {
		struct candidate candidate = {.bound = walk->bound};
		struct trial *trial;

		memcpy(candidate.choices, chosen->items[i], sizeof(candidate.choices));
		TRY(evaluator_add(&evaluator, &candidate, TRIAL_COMPILED, &trial, err));
	}
	TRY(evaluator_run(&evaluator, err));
	for (size_t i = 0; i < evaluator.count; i++) {
		const struct evaluation *evaluation = &evaluator.trials[i]->evaluation;
		const enum outcome outcome = evaluation->outcome;

		if (outcome == OUTCOME_PRUNED_BY_MODEL &&
			string_starts_with(evaluation->detail, GPU_LIMIT) && !beyond++)
			first_beyond = evaluation;
		if (outcome != OUTCOME_OK && outcome != OUTCOME_PRUNED_BY_MODEL && !failed++)
			first = evaluation;
	}
	if (beyond)
		format_put(notices, format_shown,
			"%s: %zu of the %zu kernels that were compiled would not be tried on %s; "
			"%s: %s\n",
			walk->bound->family->file, beyond, chosen->count,
			walk->bound->device->title, first_beyond->configuration,
			first_beyond->detail);
	if (beyond && beyond == chosen->count)
		status = none_launched(walk->bound, err);
	if (failed)
		format_put(notices, format_shown,
			"%s: %zu of the %zu kernels that were compiled do not compile; %s: %.*s\n",
			walk->bound->family->file, failed, chosen->count, first->configuration,
			(int)strcspn(first->detail, "\n"), first->detail);
	return status;
}

enum status whole_space_check(struct bound_family *bound, struct context *context,
	struct text *notices, struct error *err)
{
	const struct space *space = bound->space;
	CLEANUP(memory_free)
	double *by_constraint = memory_zeroed(space->constraint_count + 1, sizeof(double));
	struct space_removed removed = {.by_constraint = by_constraint};
	CLEANUP(walk_release) struct walk walk = {.bound = bound};

	if (space->tail[0] > product_max) {
		format_put(notices, format_shown,
			"%s: its space has %.3g configurations: all but the default are left "
			"to `tune --dry-run`\n",
			bound->family->file, space->tail[0]);
		return STATUS_OK;
	}
	for (size_t i = 0; i < space->parameter_count; i++)
		walk.seen[i] = memory_zeroed(space->parameters[i].values.count + 1, sizeof(bool));
	TRY(space_enumerate(bound->space, visit, &walk, &removed, err));
	for (size_t i = 0; i < space->constraint_count; i++)
		if (by_constraint[i] > 0 &&
			string_starts_with(space->constraints[i].why, GPU_LIMIT))
			format_put(notices, format_shown,
				"%s: %s: %.0f of %.0f configurations are beyond the %s, and are "
				"not tried\n",
				bound->family->file, bound->problem->title, by_constraint[i],
				space->tail[0], space->constraints[i].why);
	if (!walk.legal)
		return none_launched(bound, err);
	if (walk.unlaunchable) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: %s: expected launches of all %zu legal configurations, found %zu "
			"without; %s",
			bound->family->file, bound->problem->title, walk.legal, walk.unlaunchable,
			text_string(&walk.first));
		return error_hint(err, "a constraint keeps them from being tried");
	}
	return compile(&walk, walk.every.count <= EVERY_MAX ? &walk.every : &walk.sample, context,
		notices, err);
}
