/* SPDX-License-Identifier: MIT */
#include "candidate/example_check.h"

#include <stdlib.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/catalogue.h"

/* The example's configuration, defaults where it says nothing. */
static enum status read_values(const struct bound_family *bound, const struct json_at *config,
	struct value *values, struct error *err)
{
	const struct family *family = bound->family;
	const char **names = memory_zeroed(family->parameter_count + 1, sizeof(*names));
	enum status status;

	for (size_t i = 0; i < family->parameter_count; i++)
		names[i] = family->parameters[i].name;
	status = json_expect_keys(config, names, err);
	if (status == STATUS_OK)
		status = configuration_defaults(bound, values, err);
	for (size_t i = 0; i < family->parameter_count && status == STATUS_OK; i++) {
		struct json_at at;

		if (json_find(config, names[i], &at))
			status = configuration_value_json(&at, &values[i], err);
	}
	free(names);
	return status;
}

/* *violated: what forbids it (borrowed from the family), or NULL. */
static enum status examine(const struct bound_family *bound, const struct json_at *config,
	const char **violated, struct error *err)
{
	const struct scope *scope = &bound->family->scope;
	size_t count = bound->family->parameter_count;
	struct value *values = memory_zeroed(count + 1, sizeof(*values));
	struct value *slots = memory_zeroed(scope->count, sizeof(*slots));
	int constraint = -1;
	enum status status = read_values(bound, config, values, err);

	*violated = NULL;
	space_fixed(bound->space, slots);
	for (size_t i = 0; i < count; i++)
		slots[scope->parameter_at + i] = values[i];
	for (size_t i = 0; i < count && status == STATUS_OK && !*violated; i++)
		if (space_choice_find(bound->space, i, values[i]) < 0)
			*violated = "a value that is not in its parameter's list";
	if (status == STATUS_OK && !*violated)
		status = space_examine(bound->space, slots, &constraint, err);
	if (constraint >= 0)
		*violated = bound->family->constraints.items[constraint].why;
	free(values);
	free(slots);
	return status;
}

static enum status check_example(const struct family *family, const struct device_spec *device,
	const struct example *example, bool is_legal, const struct json_at *at, struct error *err)
{
	struct json_at problem_at, config;
	struct problem_list problems = {0};
	struct bound_family *bound = NULL;
	const char *violated = NULL;
	bool applies = false;
	enum status status;

	json_find(at, "problem", &problem_at);
	json_find(at, "config", &config);
	status = problem_parse(family->operation, example->problem, &problems, err);
	if (status != STATUS_OK)
		error_context(err, "%s: %s", family->file, family->name);
	if (status == STATUS_OK && problems.count != 1)
		status = json_error(&problem_at, err, "one problem");
	if (status == STATUS_OK)
		status = family_applies(family, problems.items[0], device, &applies, NULL, err);
	if (status == STATUS_OK && applies)
		status = family_bind(family, problems.items[0], device, NULL, &bound, err);
	if (status == STATUS_OK && applies)
		status = examine(bound, &config, &violated, err);
	if (status == STATUS_OK && applies && is_legal && violated)
		status = json_error(at, err, "a legal configuration (violated: %s)", violated);
	if (status == STATUS_OK && applies && !is_legal && !violated)
		status = json_error(at, err, "an illegal configuration, which this is not");
	bound_family_free(bound);
	problem_list_release(&problems);
	return status;
}

static enum status check_examples(const struct family *family, const struct device_spec *device,
	bool is_legal, struct error *err)
{
	const struct example_list *examples = &family->examples;
	const struct example *list = is_legal ? examples->legal : examples->illegal;
	const size_t count = is_legal ? examples->legal_count : examples->illegal_count;
	const struct json_at root = json_root(family->tree, family->file);
	struct json_at all, some, at;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		json_find(&root, "examples", &all);
		json_find(&all, is_legal ? "legal" : "illegal", &some);
		at = json_item(&some, i);
		status = check_example(family, device, &list[i], is_legal, &at, err);
	}
	return status;
}

enum status family_examples_check(
	const struct family *family, const struct device_spec *device, struct error *err)
{
	const enum status status = check_examples(family, device, true, err);

	return status == STATUS_OK ? check_examples(family, device, false, err) : status;
}
