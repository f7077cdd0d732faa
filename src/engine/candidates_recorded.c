/* SPDX-License-Identifier: MIT
 *
 * From a configuration's text back to choices: a candidate by the text of a journal, and the space
 * that a recording holds.
 */
#include "engine/candidates_recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The choice of the value that `text` begins with, up to a comma or the end; -1 if none is. */
static ptrdiff_t find_value(const struct value_list *values, const char *text, size_t length)
{
	struct text printed = {0};
	ptrdiff_t found = -1;

	for (size_t i = 0; i < values->count && found < 0; i++) {
		text_clear(&printed);
		value_format(values->items[i], &printed);
		if (printed.length == length && memcmp(text_string(&printed), text, length) == 0)
			found = (ptrdiff_t)i;
	}
	text_release(&printed);
	return found;
}

/* "BM=128,BN=256" in the family's order; false if it is not a configuration of this space. */
static bool read_choices(const struct space *space, const char *text, choice *choices)
{
	for (size_t i = 0; i < space_parameter_count(space); i++) {
		const char *name = space_parameter_name(space, i);
		size_t length = strlen(name);
		ptrdiff_t value;

		if (i && *text++ != ',')
			return false;
		if (strncmp(text, name, length) != 0 || text[length] != '=')
			return false;
		text += length + 1;
		length = strcspn(text, ",");
		value = find_value(space_parameter_values(space, i), text, length);
		if (value < 0)
			return false;
		choices[i] = (choice)value;
		text += length;
	}
	return *text == '\0';
}

ptrdiff_t candidates_find(
	const struct candidates *pool, const char *family, const char *configuration)
{
	for (size_t f = 0; f < pool->family_count; f++) {
		const struct family_candidates *candidates = &pool->families[f];
		choice *choices;
		ptrdiff_t found = -1;

		if (strcmp(family_name(candidates->bound->family), family) != 0)
			continue;
		choices = memory_zeroed(candidates->parameter_count, sizeof(*choices));
		if (read_choices(candidates->bound->space, configuration, choices))
			found = search_view_find(&pool->view, f, choices);
		free(choices);
		return found;
	}
	return -1;
}

struct recorder {
	struct family_candidates *family;
	size_t capacity; /* in configurations */
	struct value *slots;
	enum status status;
	struct error *err;
};

static bool is_legal(struct recorder *recorder, const choice *choices)
{
	const struct space *space = recorder->family->bound->space;
	int violated = -1;

	recorder->status = space_values(space, choices, recorder->slots, recorder->err);
	if (recorder->status == STATUS_OK)
		recorder->status = space_check(space, recorder->slots, &violated, recorder->err);
	return recorder->status == STATUS_OK && violated < 0;
}

static void add_recorded(void *context, const char *name, const char *configuration)
{
	struct recorder *recorder = context;
	struct family_candidates *family = recorder->family;
	choice *choices;

	if (recorder->status != STATUS_OK || strcmp(name, family_name(family->bound->family)) != 0)
		return;
	if (family->count == recorder->capacity) {
		recorder->capacity = recorder->capacity ? 2 * recorder->capacity : 256;
		family->configurations = memory_resize(family->configurations, recorder->capacity,
			family->parameter_count * sizeof(choice));
	}
	choices = family->configurations + family->count * family->parameter_count;
	if (read_choices(family->bound->space, configuration, choices) &&
		is_legal(recorder, choices))
		family->count++;
}

static int compare_choices(const void *a, const void *b, void *context)
{
	const choice *x = a, *y = b;
	const size_t *count = context;

	for (size_t i = 0; i < *count; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

enum status candidates_recorded(const struct problem *problem, const struct device *device,
	struct family_candidates *family, struct error *err)
{
	struct recorder recorder = {.family = family, .err = err};

	recorder.slots =
		memory_zeroed(space_slot_count(family->bound->space), sizeof(*recorder.slots));
	family->recorded = device_recorded(
		device, operation_name(problem->operation), problem->text, add_recorded, &recorder);
	free(recorder.slots);
	if (family->count)
		qsort_r(family->configurations, family->count,
			family->parameter_count * sizeof(choice), compare_choices,
			&family->parameter_count);
	return recorder.status;
}
