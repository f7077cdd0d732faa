/* SPDX-License-Identifier: MIT
 *
 * Tables of names; see expression.h. They hold dozens of names and are searched only when
 * expressions are compiled.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/expression.h"
#include "expr/token.h"

int name_table_find(const struct name_table *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->names[i], name))
			return (int)i;
	return NAME_UNKNOWN;
}

int name_table_add(struct name_table *table, const char *name)
{
	if (name_table_find(table, name) != NAME_UNKNOWN)
		BUG("the name %s is in the table already", name);
	ARRAY_GROW(table->names, table->count, table->capacity);
	table->names[table->count] = name;
	return (int)table->count++;
}

void name_table_release(struct name_table *table)
{
	free(table->names);
	*table = (struct name_table){0};
}

bool name_is_valid(const char *name)
{
	struct lexer lexer = {.at = name, .where = "", .column = 1};
	struct token token;
	return lexer_next(&lexer, &token, NULL) == STATUS_OK && token.kind == TOKEN_NAME &&
	       token.length == strlen(name);
}
