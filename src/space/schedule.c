/* SPDX-License-Identifier: MIT
 *
 * The order in which derived constants are computed and constraints applied, and which of their
 * results are worth remembering; see schedule.h and space.h.
 */
#include "space/schedule.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
	VERDICTS_MAX = 1 << 20, /* bytes per constraint */
	RESULTS_MAX = 1 << 16,  /* values of 16 bytes per derived constant */
	REUSE_MIN = 4           /* nodes of the tree per remembered result */
};

/* The number of parameters that must have got their values. */
static size_t level_of(const struct space_rule *rule)
{
	return rule->parameters ? 64 - (size_t)__builtin_clzll(rule->parameters) : 0;
}

static size_t first_derived_slot(const struct space *space)
{
	return space->fixed_count + space->parameter_count;
}

/* Sets up what is remembered of a step of this level. */
static void remember(
	const struct space *space, struct step *step, const struct space_rule *rule, size_t level)
{
	double size = 1, nodes = 1;
	size_t stride = 1;
	const size_t most = step->derives ? RESULTS_MAX : VERDICTS_MAX;
	for (size_t p = 0; p < level; p++) {
		nodes *= (double)space->parameters[p].values.count;
		if (rule->parameters >> p & 1)
			size *= (double)space->parameters[p].values.count;
	}
	if (level == 0 || size == 0 || size > (double)most || size * REUSE_MIN > nodes)
		return;
	for (size_t p = level; p-- > 0;) {
		if (!(rule->parameters >> p & 1))
			continue;
		if (p + 1 == level) {
			step->own_stride = stride;
		} else {
			step->strides[step->stride_count].parameter = p;
			step->strides[step->stride_count++].stride = stride;
		}
		stride *= space->parameters[p].values.count;
	}
	if (step->derives)
		step->results = memory_zeroed(stride, sizeof(struct value));
	else
		step->verdicts = memory_zeroed(stride, 1);
}

static void add_step(struct space *space, const struct space_rule *rule, bool derives, size_t index)
{
	struct step *step = &space->steps[space->step_count++];
	*step = (struct step){.expression = rule->special, .derives = derives, .index = index};
	if (derives)
		step->slot = (int)(first_derived_slot(space) + index);
	remember(space, step, rule, level_of(rule));
}

/* Adds the derived constant and, before it, those of its level that it reads. */
static void add_derived(struct space *space, size_t level, size_t index, bool *added)
{
	const struct space_rule *rule = &space->derived[index];
	size_t count;
	const int *slots = expression_slots(rule->special, &count);
	if (added[index] || level_of(rule) != level)
		return;
	added[index] = true; /* it reads only derived constants before itself */
	for (size_t i = 0; i < count; i++)
		if ((size_t)slots[i] >= first_derived_slot(space))
			add_derived(
				space, level, (size_t)slots[i] - first_derived_slot(space), added);
	add_step(space, rule, true, index);
}

void schedule_build(struct space *space)
{
	bool *added = memory_zeroed(space->derived_count + 1, sizeof(bool));
	size_t total = space->derived_count + space->constraint_count;
	space->steps = memory_zeroed(total + 1, sizeof(*space->steps));
	space->step_count = 0;
	space->tail[space->parameter_count] = 1;
	for (size_t p = space->parameter_count; p-- > 0;)
		space->tail[p] = space->tail[p + 1] * (double)space->parameters[p].values.count;
	for (size_t level = 0; level <= space->parameter_count; level++) {
		space->first_step[level] = space->step_count;
		for (size_t c = 0; c < space->constraint_count; c++) {
			const struct space_rule *rule = &space->constraints[c];
			size_t count;
			const int *slots = expression_slots(rule->special, &count);
			struct value value;
			if (level_of(rule) != level ||
				(expression_constant(rule->special, &value) && value_truth(value)))
				continue;
			for (size_t i = 0; i < count; i++)
				if ((size_t)slots[i] >= first_derived_slot(space))
					add_derived(space, level,
						(size_t)slots[i] - first_derived_slot(space),
						added);
			add_step(space, rule, false, c);
		}
		for (size_t d = 0; d < space->derived_count; d++)
			add_derived(space, level, d, added);
	}
	space->first_step[space->parameter_count + 1] = space->step_count;
	free(added);
}

void schedule_release(struct space *space)
{
	for (size_t i = 0; i < space->step_count; i++) {
		free(space->steps[i].verdicts);
		free(space->steps[i].results);
	}
	free(space->steps);
	space->steps = NULL;
	space->step_count = 0;
}

enum status step_run(const struct step *step, struct value *slots, bool *legal, struct error *err)
{
	if (!step->derives)
		return expression_test(step->expression, slots, legal, err);
	*legal = true;
	return expression_evaluate(step->expression, slots, NULL, &slots[step->slot], err);
}
