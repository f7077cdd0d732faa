/* SPDX-License-Identifier: MIT
 *
 * Rules compiled for a family.
 */
#include "family/rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static int find_parameter(const struct family *family, const char *name)
{
	for (size_t i = 0; i < family->parameter_count; i++)
		if (strcmp(family->parameters[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* rule->applies becomes false where a parameter is not the family's. */
static enum status read_assignments(const struct json_at *at, const struct family *family,
	const struct name_table *names, struct rule *rule, struct error *err)
{
	struct json_at set;

	if (json_member(at, "set", &set, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	rule->assignments = memory_zeroed(json_count(&set) + 1, sizeof(*rule->assignments));
	for (size_t i = 0; i < json_count(&set); i++) {
		struct json_at item = json_item(&set, i);
		int parameter = find_parameter(family, item.key);
		struct rule_assignment *assignment;

		if (parameter < 0) {
			rule->applies = false;
			continue;
		}
		assignment = &rule->assignments[rule->assignment_count++];
		assignment->parameter = (size_t)parameter;
		if (expression_json_compile_optional(&item, names, &assignment->value, err) !=
			STATUS_OK)
			return STATUS_BAD_INPUT;
		if (!assignment->value)
			rule->applies = false;
	}
	return STATUS_OK;
}

static enum status read_optional(const struct json_at *at, const char *key,
	const struct name_table *names, struct rule *rule, struct expression **expression,
	struct error *err)
{
	struct json_at member;

	if (!json_find(at, key, &member))
		return STATUS_OK;
	if (expression_json_compile_optional(&member, names, expression, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!*expression)
		rule->applies = false;
	return STATUS_OK;
}

static enum status read_rule(
	const struct json_at *at, const struct family *family, struct rule *rule, struct error *err)
{
	struct name_table fixed, names;
	const char *pick, *loop = "t";
	struct json_at member;
	enum status status;

	rule->applies = true;
	if (json_find(at, "as", &member) && json_get_string(&member, &loop, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (scope_find(&family->scope, loop) >= 0) {
		json_find(at, json_find(at, "as", &member) ? "as" : "name", &member);
		return json_error(&member, err,
			"a loop variable (\"as\", else t) that %s has no other use for",
			family->name);
	}
	if (json_member_string(at, "name", &rule->name, err) != STATUS_OK ||
		json_member_string(at, "pick", &pick, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	rule->is_argmax = strcmp(pick, "argmax") == 0;
	fixed = scope_table(&family->scope, SCOPE_PLAIN, family->scope.parameter_at, NULL);
	names = scope_table(&family->scope, SCOPE_RULE, SIZE_MAX, loop);
	status = read_optional(at, "over", &fixed, rule, &rule->over, err);
	if (status == STATUS_OK)
		status = read_assignments(at, family, &names, rule, err);
	if (status == STATUS_OK)
		status = read_optional(at, "where", &names, rule, &rule->where, err);
	if (status == STATUS_OK && rule->is_argmax)
		status = read_optional(at, "expression", &names, rule, &rule->expression, err);
	name_table_release(&fixed);
	name_table_release(&names);
	return status;
}

enum status family_rules_read(struct family *family, struct error *err)
{
	const struct operation *operation = family->operation;
	struct json_at root = json_root(operation->tree, operation->file), list;

	if (!json_find(&root, "rules", &list))
		return STATUS_OK;
	family->rules = memory_zeroed(json_count(&list) + 1, sizeof(*family->rules));
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at at = json_item(&list, i);

		family->rule_count++;
		if (read_rule(&at, family, &family->rules[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void rule_release(struct rule *rule)
{
	for (size_t i = 0; i < rule->assignment_count; i++)
		expression_free(rule->assignments[i].value);
	free(rule->assignments);
	expression_free(rule->over);
	expression_free(rule->where);
	expression_free(rule->expression);
	*rule = (struct rule){0};
}

size_t family_rule_count(const struct family *family)
{
	return family->rule_count;
}

const struct rule *family_rule(const struct family *family, size_t rule)
{
	if (rule >= family->rule_count)
		BUG("rule %zu of %zu", rule, family->rule_count);
	return &family->rules[rule];
}

static bool find_rules(
	const struct operation *operation, struct json_at *root, struct json_at *list)
{
	*root = json_root(operation->tree, operation->file);
	return json_find(root, "rules", list);
}

size_t operation_rule_count(const struct operation *operation)
{
	struct json_at root, list;

	return find_rules(operation, &root, &list) ? json_count(&list) : 0;
}

const char *operation_rule_name(const struct operation *operation, size_t rule)
{
	struct json_at root, list, at;
	const char *name;

	if (!find_rules(operation, &root, &list) || rule >= json_count(&list))
		BUG("rule %zu of %s", rule, operation->name);
	at = json_item(&list, rule);
	if (json_member_string(&at, "name", &name, NULL) != STATUS_OK)
		BUG("a rule of %s has no name", operation->name);
	return name;
}
