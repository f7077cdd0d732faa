/* SPDX-License-Identifier: MIT
 *
 * Builds and binds spaces, and computes the values of single configurations.
 */
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "space/enumerate.h"

struct space *space_new(const struct name_table *names, size_t fixed_count)
{
	struct space *space = memory_zeroed(1, sizeof(*space));

	space->names = names;
	space->fixed_count = fixed_count;
	return space;
}

static void rules_free(struct space_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expression_free(rules[i].special);
	free(rules);
}

void space_free(struct space *space)
{
	if (!space)
		return;
	order_release(space);
	for (size_t p = 0; p < space->parameter_count; p++)
		free(space->parameters[p].values.items);
	rules_free(space->derived, space->derived_count);
	rules_free(space->constraints, space->constraint_count);
	free(space->known);
	free(space);
}

void space_add_parameter(struct space *space, const struct expression *list)
{
	if (space->parameter_count == SPACE_PARAMETERS_MAX)
		BUG("a space of more than %d parameters", SPACE_PARAMETERS_MAX);
	space->parameters[space->parameter_count++].list = list;
	space->bound = false;
}

void space_add_derived(struct space *space, const struct expression *expression)
{
	ARRAY_GROW(space->derived, space->derived_count, space->derived_capacity);
	space->derived[space->derived_count++] = (struct space_rule){.expression = expression};
	space->bound = false;
}

void space_add_constraint(struct space *space, const struct expression *expression, const char *why)
{
	ARRAY_GROW(space->constraints, space->constraint_count, space->constraint_capacity);
	space->constraints[space->constraint_count++] =
		(struct space_rule){.expression = expression, .why = why};
	space->bound = false;
}

struct ranked_parameter {
	struct value value;
	size_t index;
};

/* Orders numbers by value before strings, and equal values by index. */
static int compare_ranked(const void *left, const void *right)
{
	const struct ranked_parameter *a = left, *b = right;
	bool a_string = a->value.type == VALUE_STRING, b_string = b->value.type == VALUE_STRING;
	int order;
	if (a_string != b_string)
		return a_string - b_string;
	if (a_string) {
		order = strcmp(a->value.string, b->value.string);
	} else {
		enum value_order exact = value_compare(a->value, b->value);
		order = exact == VALUE_LESS ? -1 : exact == VALUE_GREATER;
	}
	return order ? order : a->index < b->index ? -1 : 1;
}

static void remove_repeated(struct value_list *values)
{
	struct ranked_parameter *ranked = memory_zeroed(values->count + 1, sizeof(*ranked));
	bool *repeated = memory_zeroed(values->count + 1, sizeof(*repeated));
	size_t kept = 0;
	for (size_t i = 0; i < values->count; i++)
		ranked[i] = (struct ranked_parameter){values->items[i], i};
	qsort(ranked, values->count, sizeof(*ranked), compare_ranked);
	for (size_t i = 1; i < values->count; i++)
		repeated[ranked[i].index] = value_equal(ranked[i - 1].value, ranked[i].value);
	for (size_t i = 0; i < values->count; i++)
		if (!repeated[i])
			values->items[kept++] = values->items[i];
	values->count = kept;
	free(ranked);
	free(repeated);
}

static struct value_range range_of(const struct value_list *values)
{
	struct value_range range = {INFINITY, -INFINITY};
	for (size_t i = 0; i < values->count; i++) {
		const struct value_range value = value_range_of(values->items[i]);
		range.low = fmin(range.low, value.low);
		range.high = fmax(range.high, value.high);
	}
	return range;
}

static enum status take_list(
	struct space *space, size_t parameter, struct value value, struct error *err)
{
	struct space_parameter *bound = &space->parameters[parameter];
	const char *where = expression_where(bound->list);
	const char *name = space_parameter_name(space, parameter);
	if (value.type != VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a list of values of %s, found %s", where, name,
			value_type_name(value.type));
	for (size_t i = 0; i < value.list->count; i++)
		if (value.list->items[i].type == VALUE_LIST)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: the values of %s must be numbers or strings, not lists", where,
				name);
	free(bound->values.items);
	bound->values.count = value.list->count;
	bound->values.items = memory_zeroed(value.list->count + 1, sizeof(struct value));
	if (value.list->count)
		memcpy(bound->values.items, value.list->items,
			value.list->count * sizeof(struct value));
	remove_repeated(&bound->values);
	bound->range = range_of(&bound->values);
	return STATUS_OK;
}

static enum status bind_list(struct space *space, size_t parameter, struct error *err)
{
	CLEANUP(value_arena_release) struct value_arena lists = {0};
	struct value value;

	TRY(expression_evaluate(
		space->parameters[parameter].list, space->known, &lists, &value, err));
	return take_list(space, parameter, value, err);
}

static void bind_rule(struct space *space, struct space_rule *rule)
{
	size_t count, first_derived = space->fixed_count + space->parameter_count;
	expression_free(rule->special);
	rule->special = expression_specialise(rule->expression, space->known);
	rule->parameters = 0;
	const int *indices = expression_indices(rule->special, &count);
	for (size_t i = 0; i < count; i++) {
		size_t index = (size_t)indices[i];
		if (index >= first_derived)
			rule->parameters |= space->derived[index - first_derived].parameters;
		else if (index >= space->fixed_count)
			rule->parameters |= (uint64_t)1 << (index - space->fixed_count);
	}
}

enum status space_bind(struct space *space, const struct value *fixed, struct error *err)
{
	space->bound = false;
	order_release(space);
	free(space->known);
	space->known = memory_zeroed(space->names->count + 1, sizeof(struct value));
	for (size_t i = 0; i < space->fixed_count; i++) {
		space->known[i] = fixed[i];
		if (fixed[i].type == VALUE_LIST)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a number or a string, found a list",
				space->names->names[i]);
	}
	for (size_t p = 0; p < space->parameter_count; p++)
		TRY(bind_list(space, p, err));
	for (size_t d = 0; d < space->derived_count; d++) {
		struct value value;
		bind_rule(space, &space->derived[d]);
		if (expression_constant(space->derived[d].special, &value) &&
			value.type != VALUE_LIST)
			space->known[space->fixed_count + space->parameter_count + d] = value;
	}
	for (size_t c = 0; c < space->constraint_count; c++)
		bind_rule(space, &space->constraints[c]);
	order_build(space);
	space->bound = true;
	return STATUS_OK;
}

/* ---- members of a space ---- */
const char *space_parameter_name(const struct space *space, size_t parameter)
{
	return space->names->names[space->fixed_count + parameter];
}

const char *space_constraint_text(const struct space *space, size_t constraint)
{
	return expression_text(space->constraints[constraint].expression);
}

void space_fixed(const struct space *space, struct value *values)
{
	if (!space->bound)
		BUG("a space that is not bound has no values");
	for (size_t i = 0; i < space->fixed_count; i++)
		values[i] = space->known[i];
}

enum status space_values_after(const struct space *space, const choice *before,
	const choice *configuration, struct value *values, struct error *err)
{
	uint64_t changed = 0;
	enum status status = STATUS_OK;
	bool legal;
	if (!before)
		space_fixed(space, values);
	for (size_t p = 0; p < space->parameter_count; p++) {
		if (before && before[p] == configuration[p])
			continue;
		changed |= (uint64_t)1 << p;
		values[space->fixed_count + p] =
			space->parameters[p].values.items[configuration[p]];
	}
	for (size_t s = 0; s < space->action_count && !status; s++) {
		const struct space_action *action = &space->actions[s];
		if (action->derives &&
			(!before || space->derived[action->index].parameters & changed))
			status = action_run(action, values, &legal, err);
	}
	if (status)
		space_describe(space, values, space->parameter_count, err);
	return status;
}

enum status space_values(const struct space *space, const choice *configuration,
	struct value *values, struct error *err)
{
	return space_values_after(space, NULL, configuration, values, err);
}

enum status space_examine(const struct space *space, const choice *configuration,
	struct value *values, int *violated, struct error *err)
{
	*violated = -1;
	space_fixed(space, values);
	for (size_t p = 0; p < space->parameter_count; p++)
		values[space->fixed_count + p] =
			space->parameters[p].values.items[configuration[p]];
	for (size_t d = 0; d < space->derived_count; d++)
		values[space->fixed_count + space->parameter_count + d].type = VALUE_NONE;
	for (size_t s = 0; s < space->action_count && *violated < 0; s++) {
		bool legal;

		TRY(action_run(&space->actions[s], values, &legal, err));
		if (!legal)
			*violated = (int)space->actions[s].index;
	}
	return STATUS_OK;
}

int space_choice_find(const struct space *space, size_t parameter, struct value value)
{
	const struct value_list *values = &space->parameters[parameter].values;
	for (size_t i = 0; i < values->count; i++)
		if (value_equal(values->items[i], value))
			return (int)i;
	return -1;
}
