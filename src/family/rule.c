/* SPDX-License-Identifier: MIT */
#include "family/rule.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

/* An error at a member of the operation's facts or rules. */
static enum status name_error(const struct family *family, const char *list, size_t index,
	const char *member, const char *expectation, struct error *err)
{
	const struct operation *operation = family->operation;
	const struct json_at root = json_root(operation->tree, operation->file);
	struct json_at items, item, at;

	json_find(&root, list, &items);
	item = json_item(&items, index);
	json_find(&item, member, &at);
	return json_error(&at, err, "%s", expectation);
}

/* ---- facts ---- */
static enum status compile_fact(
	struct family *family, size_t index, struct name_table *names, struct error *err)
{
	const struct fact_text *fact = &family->operation->facts[index];
	struct family_fact *compiled = &family->facts[index];

	compiled->name = fact->name;
	compiled->unit = fact->unit;
	compiled->source = fact->source;
	TRY(formula_compile(&fact->when, names, &compiled->when, err));
	if (compiled->when || !fact->when.text)
		TRY(formula_compile(&fact->expression, names, &compiled->expression, err));
	if (!compiled->expression || !fact->as)
		return STATUS_OK;
	if (scope_find(&family->scope, fact->as) >= 0 ||
		name_table_find(names, fact->as) != NAME_UNKNOWN)
		return name_error(family, "facts", index, "as", "a name that is not in use", err);
	/* its value gets a slot behind those of the scope */
	compiled->slot = family->scope.count + family->named_fact_count++;
	name_table_add(names, fact->as);
	return STATUS_OK;
}

enum status family_facts_compile(struct family *family, struct error *err)
{
	CLEANUP(name_table_release)
	struct name_table names = scope_table(&family->scope, SCOPE_FACT, SIZE_MAX, NULL);

	family->fact_count = family->operation->fact_count;
	family->facts = memory_zeroed(family->fact_count + 1, sizeof(*family->facts));
	for (size_t i = 0; i < family->fact_count; i++)
		TRY(compile_fact(family, i, &names, err));
	return STATUS_OK;
}

void family_facts_free(struct family *family)
{
	for (size_t i = 0; i < family->fact_count; i++) {
		expression_free(family->facts[i].expression);
		expression_free(family->facts[i].when);
	}
	free(family->facts);
}

/* ---- rules ---- */
static int parameter_find(const struct family *family, const char *name)
{
	for (size_t i = 0; i < family->parameter_count; i++)
		if (strcmp(family->parameters[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* The rule does not apply where a formula reads a name that the family lacks. */
static enum status compile_formula(const struct formula *formula, const struct name_table *names,
	struct rule *rule, struct expression **expression, struct error *err)
{
	const enum status status = formula_compile(formula, names, expression, err);

	if (formula->text && !*expression)
		rule->applies = false;
	return status;
}

static enum status compile_settings(const struct rule_text *text, const struct family *family,
	const struct name_table *names, struct rule *rule, struct error *err)
{
	rule->assignments = memory_zeroed(text->setting_count + 1, sizeof(*rule->assignments));
	for (size_t i = 0; i < text->setting_count; i++) {
		const int parameter = parameter_find(family, text->settings[i].parameter);
		struct rule_assignment *assignment = &rule->assignments[rule->assignment_count];

		if (parameter < 0) {
			rule->applies = false;
			continue;
		}
		assignment->parameter = (size_t)parameter;
		rule->assignment_count++;
		TRY(compile_formula(
			&text->settings[i].value, names, rule, &assignment->value, err));
	}
	return STATUS_OK;
}

static enum status compile_rule(
	struct family *family, size_t index, const struct name_table *fixed, struct error *err)
{
	const struct rule_text *text = &family->operation->rules[index];
	const char *loop = text->as ? text->as : "t";
	struct rule *rule = &family->rules[index];
	CLEANUP(name_table_release) struct name_table names = {0};

	*rule = (struct rule){.name = text->name, .applies = true, .is_argmax = text->is_argmax};
	if (scope_find(&family->scope, loop) >= 0)
		return name_error(family, "rules", index, text->as ? "as" : "name",
			"a loop variable (\"as\", else t) that the family has no other use for",
			err);
	names = scope_table(&family->scope, SCOPE_RULE, SIZE_MAX, loop);
	TRY(compile_formula(&text->over, fixed, rule, &rule->over, err));
	TRY(compile_settings(text, family, &names, rule, err));
	TRY(compile_formula(&text->where, &names, rule, &rule->where, err));
	return rule->is_argmax
		       ? compile_formula(&text->expression, &names, rule, &rule->expression, err)
		       : STATUS_OK;
}

enum status family_rules_compile(struct family *family, struct error *err)
{
	const size_t count = family->operation->rule_count;
	CLEANUP(name_table_release)
	struct name_table fixed =
		scope_table(&family->scope, SCOPE_PLAIN, family->scope.parameter_at, NULL);

	family->rules = memory_zeroed(count + 1, sizeof(*family->rules));
	while (family->rule_count < count)
		TRY(compile_rule(family, family->rule_count++, &fixed, err));
	return STATUS_OK;
}

void family_rules_free(struct family *family)
{
	for (size_t i = 0; i < family->rule_count; i++) {
		struct rule *rule = &family->rules[i];

		for (size_t k = 0; k < rule->assignment_count; k++)
			expression_free(rule->assignments[k].value);
		free(rule->assignments);
		expression_free(rule->over);
		expression_free(rule->where);
		expression_free(rule->expression);
	}
	free(family->rules);
}
