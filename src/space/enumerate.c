/* SPDX-License-Identifier: MIT
 *
 * Orders constraints and derived constants, chooses results to cache, and walks the space.
 */
#include "space/enumerate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	VERDICTS_MAX = 1 << 20, /* bytes per constraint */
	RESULTS_MAX = 1 << 16,  /* values of 16 bytes per derived constant */
	REUSE_MIN = 4           /* tree nodes per cached result */
};

/* Returns the number of leading parameters that the rule needs. */
static size_t level_of(const struct space_rule *rule)
{
	return rule->parameters ? 64 - (size_t)__builtin_clzll(rule->parameters) : 0;
}

static size_t first_derived_index(const struct space *space)
{
	return space->fixed_count + space->parameter_count;
}

static void remember(const struct space *space, struct space_action *action,
	const struct space_rule *rule, size_t level)
{
	double size = 1, nodes = 1;
	size_t stride = 1;
	const size_t most = action->derives ? RESULTS_MAX : VERDICTS_MAX;
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
			action->own_stride = stride;
		} else {
			action->strides[action->stride_count].parameter = p;
			action->strides[action->stride_count++].stride = stride;
		}
		stride *= space->parameters[p].values.count;
	}
	if (action->derives)
		action->results = memory_zeroed(stride, sizeof(struct value));
	else
		action->verdicts = memory_zeroed(stride, 1);
}

static void add_action(
	struct space *space, const struct space_rule *rule, bool derives, size_t index)
{
	struct space_action *action = &space->actions[space->action_count++];
	*action = (struct space_action){
		.expression = rule->special, .derives = derives, .index = index};
	if (derives)
		action->name_index = (int)(first_derived_index(space) + index);
	remember(space, action, rule, level_of(rule));
}

/* Adds a derived constant after the constants of the same level that it reads. */
static void add_derived(struct space *space, size_t level, size_t index, bool *added)
{
	const struct space_rule *rule = &space->derived[index];
	size_t count;
	const int *indices = expression_indices(rule->special, &count);
	if (added[index] || level_of(rule) != level)
		return;
	/* the recursion ends, because a constant reads only earlier constants */
	added[index] = true;
	for (size_t i = 0; i < count; i++)
		if ((size_t)indices[i] >= first_derived_index(space))
			add_derived(space, level, (size_t)indices[i] - first_derived_index(space),
				added);
	add_action(space, rule, true, index);
}

/* Marks constants that no constraint needs and that are not cached; space_values() computes them.
 */
static void find_unread(struct space *space, bool *read)
{
	for (size_t s = space->action_count; s-- > 0;) {
		struct space_action *action = &space->actions[s];
		size_t count;
		const int *indices = expression_indices(action->expression, &count);
		action->unread = action->derives && !action->results && !read[action->index];
		for (size_t i = 0; i < count && !action->unread; i++)
			if ((size_t)indices[i] >= first_derived_index(space))
				read[(size_t)indices[i] - first_derived_index(space)] = true;
	}
}

void order_build(struct space *space)
{
	bool *added = memory_zeroed(space->derived_count + 1, sizeof(bool));
	size_t total = space->derived_count + space->constraint_count;
	space->actions = memory_zeroed(total + 1, sizeof(*space->actions));
	space->action_count = 0;
	space->tail[space->parameter_count] = 1;
	for (size_t p = space->parameter_count; p-- > 0;)
		space->tail[p] = space->tail[p + 1] * (double)space->parameters[p].values.count;
	for (size_t level = 0; level <= space->parameter_count; level++) {
		space->first_action[level] = space->action_count;
		for (size_t c = 0; c < space->constraint_count; c++) {
			const struct space_rule *rule = &space->constraints[c];
			size_t count;
			const int *indices = expression_indices(rule->special, &count);
			struct value value;
			if (level_of(rule) != level ||
				(expression_constant(rule->special, &value) && value_truth(value)))
				continue;
			for (size_t i = 0; i < count; i++)
				if ((size_t)indices[i] >= first_derived_index(space))
					add_derived(space, level,
						(size_t)indices[i] - first_derived_index(space),
						added);
			add_action(space, rule, false, c);
		}
		for (size_t d = 0; d < space->derived_count; d++)
			add_derived(space, level, d, added);
	}
	space->first_action[space->parameter_count + 1] = space->action_count;
	memset(added, 0, space->derived_count * sizeof(*added));
	find_unread(space, added);
	free(added);
}

void order_release(struct space *space)
{
	for (size_t i = 0; i < space->action_count; i++) {
		free(space->actions[i].verdicts);
		free(space->actions[i].results);
	}
	free(space->actions);
	space->actions = NULL;
	space->action_count = 0;
}

enum status action_run(
	const struct space_action *action, struct value *values, bool *legal, struct error *err)
{
	if (!action->derives)
		return expression_test(action->expression, values, legal, err);
	*legal = true;
	return expression_evaluate(
		action->expression, values, NULL, &values[action->name_index], err);
}

struct enumeration {
	const struct space *space;
	space_enter *enter; /* NULL accepts all */
	space_visit *visit;
	void *context;
	struct value *values;
	choice choices[SPACE_PARAMETERS_MAX];
	size_t *bases;       /* for each action, index of this branch's cached results */
	double *removed;     /* configurations removed by each action */
	size_t counted_from; /* no action applies from this level on */
	double legal;
	uint64_t chosen_count; /* values assigned so far */
	struct error *err;
	enum status status;
};

void space_describe(
	const struct space *space, const struct value *values, size_t count, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};
	CLEANUP(memory_free) char *hint = string_copy(err ? err->hint : "");
	if (!err || !count)
		return;
	for (size_t p = 0; p < count; p++) {
		text_appendf(&text, "%s%s=", p ? ", " : "", space_parameter_name(space, p));
		value_format(values[space->fixed_count + p], &text);
	}
	error_hint(err, "it fails at %s%s%s", text_string(&text), *hint ? "; " : "", hint);
}

/* Applies an action. own is the choice of the level's parameter. Returns false after an error. */
static bool apply_action(struct enumeration *enumeration, size_t index, size_t own, bool *legal)
{
	const struct space_action *action = &enumeration->space->actions[index];
	size_t at = enumeration->bases[index] + own * action->own_stride;
	if (action->verdicts && action->verdicts[at] != VERDICT_UNKNOWN) {
		*legal = action->verdicts[at] == VERDICT_LEGAL;
		return true;
	}
	if (action->results && action->results[at].type != VALUE_NONE) {
		enumeration->values[action->name_index] = action->results[at];
		return true;
	}
	enumeration->status = action_run(action, enumeration->values, legal, enumeration->err);
	if (enumeration->status)
		return false;
	if (action->verdicts)
		action->verdicts[at] = *legal ? VERDICT_LEGAL : VERDICT_REMOVED;
	if (action->results)
		action->results[at] = enumeration->values[action->name_index];
	return true;
}

/* Applies the actions of a level until one removes the branch. Returns false after an error. */
static bool apply_level(struct enumeration *enumeration, size_t level, size_t own, bool *legal)
{
	const size_t *first = enumeration->space->first_action;
	*legal = true;
	for (size_t s = first[level]; s < first[level + 1]; s++) {
		if (enumeration->space->actions[s].unread)
			continue;
		if (!apply_action(enumeration, s, own, legal)) {
			space_describe(
				enumeration->space, enumeration->values, level, enumeration->err);
			return false;
		}
		if (!*legal) {
			enumeration->removed[s] += enumeration->space->tail[level];
			return true;
		}
	}
	return true;
}

/* ---- bounds of what follows ---- */
/* Bounds do not pay off in shorter walks. */
static const uint64_t bounds_after_values = 1 << 20;

struct bounds {
	const struct enumeration *enumeration;
	size_t level;      /* number of assigned parameters */
	size_t names_left; /* remaining names, which limits recursion through derived constants */
};

static struct value_range find_bounds(int index, void *context)
{
	struct bounds *bounds = context;
	const struct space *space = bounds->enumeration->space;
	const size_t derived = (size_t)index - first_derived_index(space);
	const size_t parameter = (size_t)index - space->fixed_count;
	if (bounds->names_left == 0)
		return (struct value_range){-INFINITY, INFINITY};
	bounds->names_left--;
	if ((size_t)index >= first_derived_index(space)
			? level_of(&space->derived[derived]) <= bounds->level
			: (size_t)index < space->fixed_count || parameter < bounds->level)
		return value_range_of(bounds->enumeration->values[index]);
	return (size_t)index >= first_derived_index(space)
		       ? expression_range(space->derived[derived].special, find_bounds, bounds)
		       : space->parameters[parameter].range;
}

/* Returns false if a later constraint that reads the newest parameter cannot hold. */
static bool within_bounds(struct enumeration *enumeration, size_t level)
{
	enum {
		NAMES_MAX = 1000
	};
	const struct space *space = enumeration->space;
	for (size_t s = space->first_action[level + 1]; s < space->action_count; s++) {
		const struct space_action *action = &space->actions[s];
		struct bounds bounds = {enumeration, level, NAMES_MAX};
		if (action->derives ||
			!(space->constraints[action->index].parameters >> (level - 1) & 1) ||
			!value_range_is_false(
				expression_range(action->expression, find_bounds, &bounds)))
			continue;
		enumeration->removed[s] += space->tail[level];
		return false;
	}
	return true;
}

/* Ends a walk that would take hours. A count, unlike a time, is deterministic. */
static const uint64_t values_max = 100000000;

static bool go_on(struct enumeration *enumeration)
{
	const struct space *space = enumeration->space;

	if (++enumeration->chosen_count > values_max) {
		enumeration->status = error_set(enumeration->err, STATUS_BAD_INPUT,
			"search space too large: %.3g configurations, gave up after %llu partial "
			"assignments",
			space->tail[0], (unsigned long long)values_max);
		error_hint(enumeration->err, "restrict the space with --where EXPR, or add a "
					     "constraint on the first parameters");
	} else if (enumeration->chosen_count % 4096 == 0 && space->interrupted &&
		   *space->interrupted) {
		enumeration->status = STATUS_INTERRUPTED;
	}
	return enumeration->status == STATUS_OK;
}

/* Returns false to end the enumeration. */
static bool descend(struct enumeration *enumeration, size_t level)
{
	const struct space *space = enumeration->space;
	if (!enumeration->visit && level >= enumeration->counted_from) {
		enumeration->legal += space->tail[level];
		return true;
	}
	if (level == space->parameter_count) {
		enumeration->legal += 1;
		return enumeration->visit(enumeration->choices, enumeration->context);
	}
	const struct value_list *list = &space->parameters[level].values;
	struct value *value = &enumeration->values[space->fixed_count + level];
	for (size_t s = space->first_action[level + 1]; s < space->first_action[level + 2]; s++) {
		const struct space_action *action = &space->actions[s];
		size_t base = 0;
		for (size_t i = 0; i < action->stride_count; i++)
			base += enumeration->choices[action->strides[i].parameter] *
				action->strides[i].stride;
		enumeration->bases[s] = base;
	}
	for (size_t i = 0; i < list->count; i++) {
		bool legal;
		if (!go_on(enumeration))
			return false;
		enumeration->choices[level] = (choice)i;
		if (enumeration->enter &&
			!enumeration->enter(enumeration->choices, level + 1, enumeration->context))
			continue;
		*value = list->items[i];
		if (!apply_level(enumeration, level + 1, i, &legal))
			return false;
		if (legal && enumeration->chosen_count > bounds_after_values)
			legal = within_bounds(enumeration, level + 1);
		if (legal && !descend(enumeration, level + 1))
			return false;
	}
	return true;
}

static void report(const struct enumeration *enumeration, struct space_removed *removed)
{
	const struct space *space = enumeration->space;
	removed->legal += enumeration->legal;
	for (size_t s = 0; s < space->action_count; s++)
		if (!space->actions[s].derives)
			removed->by_constraint[space->actions[s].index] += enumeration->removed[s];
}

static enum status enumerate(struct space *space, space_enter *enter, space_visit *visit,
	void *context, struct space_removed *removed, struct error *err)
{
	if (!space->bound)
		BUG("a space must be bound to a problem before it is enumerated");
	struct enumeration enumeration = {
		.space = space, .enter = enter, .visit = visit, .context = context, .err = err};
	bool legal;
	if (space->tail[0] == 0)
		return STATUS_OK;
	for (size_t level = 0; level <= space->parameter_count; level++)
		for (size_t s = space->first_action[level]; s < space->first_action[level + 1]; s++)
			if (!space->actions[s].unread)
				enumeration.counted_from = level;
	enumeration.values = memory_zeroed(space->names->count + 1, sizeof(struct value));
	enumeration.bases = memory_zeroed(space->action_count + 1, sizeof(size_t));
	enumeration.removed = memory_zeroed(space->action_count + 1, sizeof(double));
	for (size_t i = 0; i < space->names->count; i++)
		enumeration.values[i] = space->known[i];
	if (apply_level(&enumeration, 0, 0, &legal) && legal)
		descend(&enumeration, 0);
	if (removed)
		report(&enumeration, removed);
	free(enumeration.values);
	free(enumeration.bases);
	free(enumeration.removed);
	return enumeration.status;
}

enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err)
{
	return enumerate(space, NULL, visit, context, removed, err);
}

enum status space_enumerate_some(struct space *space, space_enter *enter, space_visit *visit,
	void *context, struct error *err)
{
	return enumerate(space, enter, visit, context, NULL, err);
}
