/* SPDX-License-Identifier: MIT
 *
 * Binding a space to a problem: evaluates the value lists, puts the fixed values into the rules,
 * so that what follows from them is computed once, and finds what each rule depends on.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "space/schedule.h"

/* ---- value lists ---- */
struct ranked {
	struct value value;
	size_t index;
};

/* Numbers by value, then strings; equal values by index. */
static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;
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

/* Keeps the first of equal values, in the order of the list. */
static void remove_repeated(struct value_list *values)
{
	struct ranked *ranked = memory_zeroed(values->count + 1, sizeof(*ranked));
	bool *repeated = memory_zeroed(values->count + 1, sizeof(*repeated));
	size_t kept = 0;
	for (size_t i = 0; i < values->count; i++)
		ranked[i] = (struct ranked){values->items[i], i};
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
				"%s: expected numbers and strings as values of %s, found a list",
				where, name);
	free(bound->values.items);
	bound->values.count = value.list->count;
	bound->values.items = memory_zeroed(value.list->count + 1, sizeof(struct value));
	if (value.list->count)
		memcpy(bound->values.items, value.list->items,
			value.list->count * sizeof(struct value));
	remove_repeated(&bound->values);
	return STATUS_OK;
}

static enum status bind_list(struct space *space, size_t parameter, struct error *err)
{
	struct value_arena lists = {0};
	struct value value;
	enum status status = expression_evaluate(
		space->parameters[parameter].list, space->known, &lists, &value, err);
	if (!status)
		status = take_list(space, parameter, value, err);
	value_arena_release(&lists);
	return status;
}

/* ---- rules ---- */
static void bind_rule(struct space *space, struct space_rule *rule)
{
	size_t count, first_derived = space->fixed_count + space->parameter_count;
	expression_free(rule->special);
	rule->special = expression_specialise(rule->expression, space->known);
	rule->parameters = 0;
	const int *slots = expression_slots(rule->special, &count);
	for (size_t i = 0; i < count; i++) {
		size_t slot = (size_t)slots[i];
		if (slot >= first_derived)
			rule->parameters |= space->derived[slot - first_derived].parameters;
		else if (slot >= space->fixed_count)
			rule->parameters |= (uint64_t)1 << (slot - space->fixed_count);
	}
}

enum status space_bind(struct space *space, const struct value *fixed, struct error *err)
{
	space->bound = false;
	schedule_release(space);
	free(space->known);
	space->known = memory_zeroed(space->names.count + 1, sizeof(struct value));
	for (size_t i = 0; i < space->fixed_count; i++) {
		space->known[i] = fixed[i];
		if (fixed[i].type == VALUE_LIST)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a number or a string, found a list",
				space->names.names[i]);
	}
	for (size_t p = 0; p < space->parameter_count; p++) {
		enum status status = bind_list(space, p, err);
		if (status)
			return status;
	}
	for (size_t d = 0; d < space->derived_count; d++) {
		struct value value;
		bind_rule(space, &space->derived[d]);
		if (expression_constant(space->derived[d].special, &value) &&
			value.type != VALUE_LIST)
			space->known[space->fixed_count + space->parameter_count + d] = value;
	}
	for (size_t c = 0; c < space->constraint_count; c++)
		bind_rule(space, &space->constraints[c]);
	schedule_build(space);
	space->bound = true;
	return STATUS_OK;
}
