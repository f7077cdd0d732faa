/* SPDX-License-Identifier: MIT
 *
 * The shapes of an operation's "facts" and "rules". Their expressions are compiled for each family
 * (fact.c, rule.c), because they may read its parameters.
 */
#include <string.h>

#include "family/operation.h"
#include "family/scope.h"

static const char *const fact_keys[] = {
	"name", "unit", "expression", "source", "when", "as", "help", NULL};
static const char *const rule_keys[] = {
	"name", "help", "over", "as", "set", "where", "pick", "expression", NULL};

static enum status check_strings(
	const struct json_at *at, const char *const *members, struct error *err)
{
	const char *string;

	for (; *members; members++)
		if (json_member_string(at, *members, &string, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	return STATUS_OK;
}

static enum status check_fact(const struct json_at *at, struct error *err)
{
	static const char *const strings[] = {"name", "unit", "source", NULL};
	struct json_at member, when;
	const char *text;

	if (json_expect_keys(at, fact_keys, err) != STATUS_OK ||
		check_strings(at, strings, err) != STATUS_OK ||
		json_member(at, "expression", &member, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!json_find(at, "as", &member))
		return STATUS_OK;
	if (json_find(at, "when", &when))
		return json_error(
			&when, err, "no condition on a fact that others read by its name");
	if (json_get_string(&member, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return name_json_check(&member, text, err);
}

static enum status check_rule(const struct json_at *at, struct error *err)
{
	static const char *const strings[] = {"name", "pick", NULL};
	struct json_at member;
	const char *text;

	if (json_expect_keys(at, rule_keys, err) != STATUS_OK ||
		check_strings(at, strings, err) != STATUS_OK ||
		json_member(at, "over", &member, err) != STATUS_OK ||
		json_member(at, "set", &member, err) != STATUS_OK ||
		json_expect(&member, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(&member) == 0)
		return json_error(&member, err, "at least one parameter to set");
	if (json_member(at, "pick", &member, err) != STATUS_OK ||
		json_get_string(&member, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(text, "first") != 0 && strcmp(text, "argmax") != 0)
		return json_error(&member, err, "\"first\" or \"argmax\"");
	if (strcmp(text, "argmax") == 0 && json_member(at, "expression", &member, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!json_find(at, "as", &member))
		return STATUS_OK;
	if (json_get_string(&member, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return name_json_check(&member, text, err);
}

typedef enum status check_function(const struct json_at *at, struct error *err);

static enum status check_list(
	const struct json_at *root, const char *key, check_function *check, struct error *err)
{
	struct json_at list;

	if (!json_find(root, key, &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at at = json_item(&list, i);

		if (check(&at, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

enum status operation_notes_check(const struct json_at *root, struct error *err)
{
	if (check_list(root, "facts", check_fact, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return check_list(root, "rules", check_rule, err);
}
