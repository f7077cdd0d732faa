/* SPDX-License-Identifier: MIT
 *
 * Walks the tree of a space: level by level a parameter gets its values in turn, and what becomes
 * known is applied at once.
 */
#include "space/enumerate.h"

#include <stdlib.h>

#include "base/memory.h"
#include "space/schedule.h"

struct enumeration {
	const struct space *space;
	space_visit *visit;
	void *context;
	struct value *slots;
	choice choices[SPACE_PARAMETERS_MAX];
	size_t *bases;       /* of each step: where the results of this branch begin */
	uint64_t *removed;   /* by each step, in nodes of its level */
	size_t counted_from; /* without visit: below this level nothing is applied any more */
	double legal;
	struct error *err;
	enum status status;
};

/* Names the configuration in the hint, unless there is one: "at BM=128, WM=48". */
static void describe(struct enumeration *enumeration, size_t level)
{
	const struct space *space = enumeration->space;
	struct text text = {0};
	if (!enumeration->err || enumeration->err->hint[0])
		return;
	for (size_t p = 0; p < level; p++) {
		text_appendf(&text, "%s%s=", p ? ", " : "", space_parameter_name(space, p));
		value_format(enumeration->slots[space_parameter_slot(space, p)], &text);
	}
	if (level)
		error_hint(enumeration->err, "this happens at %s", text_string(&text));
	text_release(&text);
}

/* Applies one step; own is the choice of the level's parameter. False after an error. */
static bool apply_step(struct enumeration *enumeration, size_t index, size_t own, bool *legal)
{
	const struct step *step = &enumeration->space->steps[index];
	size_t at = enumeration->bases[index] + own * step->own_stride;
	if (step->verdicts && step->verdicts[at] != VERDICT_UNKNOWN) {
		*legal = step->verdicts[at] == VERDICT_LEGAL;
		return true;
	}
	if (step->results && step->results[at].type != VALUE_NONE) {
		enumeration->slots[step->slot] = step->results[at];
		return true;
	}
	enumeration->status = step_run(step, enumeration->slots, legal, enumeration->err);
	if (enumeration->status)
		return false;
	if (step->verdicts)
		step->verdicts[at] = *legal ? VERDICT_LEGAL : VERDICT_REMOVED;
	if (step->results)
		step->results[at] = enumeration->slots[step->slot];
	return true;
}

/* Applies the steps of a level until one removes the branch. False after an error. */
static bool apply_level(struct enumeration *enumeration, size_t level, size_t own, bool *legal)
{
	const size_t *first = enumeration->space->first_step;
	*legal = true;
	for (size_t s = first[level]; s < first[level + 1]; s++) {
		if (!apply_step(enumeration, s, own, legal)) {
			describe(enumeration, level);
			return false;
		}
		if (!*legal) {
			enumeration->removed[s]++;
			return true;
		}
	}
	return true;
}

/* All that begins with the first `level` choices. False to end the enumeration. */
static bool descend(struct enumeration *enumeration, size_t level)
{
	const struct space *space = enumeration->space;
	if (!enumeration->visit && level >= enumeration->counted_from) {
		enumeration->legal += space->tail[level];
		return true;
	}
	if (level == space->parameter_count) {
		enumeration->legal += 1;
		return enumeration->visit(
			enumeration->choices, enumeration->slots, enumeration->context);
	}
	const struct value_list *values = &space->parameters[level].values;
	struct value *slot = &enumeration->slots[space->fixed_count + level];
	for (size_t s = space->first_step[level + 1]; s < space->first_step[level + 2]; s++) {
		const struct step *step = &space->steps[s];
		size_t base = 0;
		for (size_t i = 0; i < step->stride_count; i++)
			base += enumeration->choices[step->strides[i].parameter] *
				step->strides[i].stride;
		enumeration->bases[s] = base;
	}
	for (size_t i = 0; i < values->count; i++) {
		bool legal;
		enumeration->choices[level] = (choice)i;
		*slot = values->items[i];
		if (!apply_level(enumeration, level + 1, i, &legal))
			return false;
		if (legal && !descend(enumeration, level + 1))
			return false;
	}
	return true;
}

/* What each step removed, in configurations. */
static void report(const struct enumeration *enumeration, struct space_removed *removed)
{
	const struct space *space = enumeration->space;
	removed->legal += enumeration->legal;
	for (size_t level = 0; level <= space->parameter_count; level++)
		for (size_t s = space->first_step[level]; s < space->first_step[level + 1]; s++)
			if (!space->steps[s].derives)
				removed->by_constraint[space->steps[s].index] +=
					(double)enumeration->removed[s] * space->tail[level];
}

enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err)
{
	if (!space->bound)
		BUG("enumeration of a space that is not bound");
	struct enumeration enumeration = {
		.space = space, .visit = visit, .context = context, .err = err};
	bool legal;
	if (space->tail[0] == 0)
		return STATUS_OK;
	for (size_t level = 0; level <= space->parameter_count; level++)
		if (space->first_step[level] != space->first_step[level + 1])
			enumeration.counted_from = level;
	enumeration.slots = memory_zeroed(space->names.count + 1, sizeof(struct value));
	enumeration.bases = memory_zeroed(space->step_count + 1, sizeof(size_t));
	enumeration.removed = memory_zeroed(space->step_count + 1, sizeof(uint64_t));
	for (size_t i = 0; i < space->names.count; i++)
		enumeration.slots[i] = space->known[i];
	if (apply_level(&enumeration, 0, 0, &legal) && legal)
		descend(&enumeration, 0);
	if (removed)
		report(&enumeration, removed);
	free(enumeration.slots);
	free(enumeration.bases);
	free(enumeration.removed);
	return enumeration.status;
}
