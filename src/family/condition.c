/* SPDX-License-Identifier: MIT
 *
 * Conditions with their reasons, and the rule for names (family/expression_json.h).
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/expression_json.h"
#include "family/plan.h"

enum status name_json_check(const struct json_at *at, const char *name, struct error *err)
{
	static const char *const words[] = {"and", "or", "not", "in", "if", "else", "for", "True",
		"False", "None", "min", "max", "abs", "ceil_div", "round_up", "is_pow2", "len",
		"range", "dtype_bytes"};
	size_t length = strlen(name);
	bool plain = length > 0 && !isdigit((unsigned char)name[0]);

	for (const char *c = name; *c; c++)
		plain = plain && (isalnum((unsigned char)*c) || *c == '_') &&
			(unsigned char)*c < 128;
	if (!plain)
		return json_error(at, err, "a name of letters, digits and _ as the key");
	if (length >= PLAN_NAME_SIZE)
		return json_error(at, err, "a name shorter than %d characters", PLAN_NAME_SIZE);
	for (size_t i = 0; i < ARRAY_COUNT(words); i++)
		if (strcmp(words[i], name) == 0)
			return json_error(
				at, err, "a name other than the word \"%s\" of expressions", name);
	return STATUS_OK;
}

static const char *const keys[] = {"expr", "why", NULL};

enum status condition_json_list(const struct json_at *object, const char *key,
	const struct name_table *names, struct condition_list *list, struct error *err)
{
	struct json_at at;

	if (!json_find(object, key, &at))
		return STATUS_OK;
	if (json_expect(&at, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	list->count = json_count(&at);
	list->items = memory_zeroed(list->count + 1, sizeof(*list->items));
	for (size_t i = 0; i < list->count; i++) {
		struct json_at item = json_item(&at, i);
		struct condition *condition = &list->items[i];

		if (json_expect_keys(&item, keys, err) != STATUS_OK ||
			json_member_string(&item, "why", &condition->why, err) != STATUS_OK ||
			expression_json_member(&item, "expr", names, &condition->expression, err) !=
				STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void condition_list_release(struct condition_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(list->items[i].expression);
	free(list->items);
	*list = (struct condition_list){0};
}
