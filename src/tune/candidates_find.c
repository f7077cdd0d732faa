/* SPDX-License-Identifier: MIT
 *
 * From a configuration's text back to the candidate's number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/candidates.h"

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
		choices = memory_zeroed(candidates->parameter_count + 1, sizeof(*choices));
		if (read_choices(candidates->bound->space, configuration, choices))
			found = search_view_find(&pool->view, f, choices);
		free(choices);
		return found;
	}
	return -1;
}
