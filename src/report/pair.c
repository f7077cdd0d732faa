/* SPDX-License-Identifier: MIT */
#include "report/pair.h"

#include <stdlib.h>
#include <string.h>

bool pair_next(const char **list, struct pair *pair)
{
	const char *at = *list;

	if (!*at)
		return false;
	pair->name = at;
	pair->name_length = (int)strcspn(at, "=,");
	at += pair->name_length;
	at += *at == '=';
	pair->value = at;
	pair->value_length = (int)strcspn(at, ",");
	at += pair->value_length;
	*list = at + (*at == ',');
	return true;
}

static bool pair_is(const struct pair *pair, const char *name)
{
	return (int)strlen(name) == pair->name_length &&
	       strncmp(pair->name, name, (size_t)pair->name_length) == 0;
}

bool pair_find(const char *list, const char *name, struct pair *pair)
{
	while (pair_next(&list, pair))
		if (pair_is(pair, name))
			return true;
	return false;
}

bool pair_integer(const struct pair *pair, int64_t *value)
{
	char *end;

	*value = strtoll(pair->value, &end, 10);
	return pair->value_length && end == pair->value + pair->value_length;
}
