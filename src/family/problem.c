/* SPDX-License-Identifier: MIT */
#include "family/problem.h"

#include <stdlib.h>

#include "base/memory.h"

/* A key without a default was left out: says which ones there must be. */
static enum status missing_key(
	const struct operation *operation, const struct key *key, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0}, known = {0};

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found no value", key->name,
		text_string(&expected));
	for (size_t i = 0; i < operation->key_count; i++)
		if (!operation->keys[i].default_value)
			text_append_listed(&known, operation->keys[i].name);
	error_hint(err, "%s needs %s", operation->name, text_string(&known));
	return STATUS_BAD_INPUT;
}

static enum status fill_values(const struct operation *operation, const struct value *given_values,
	const bool *given, struct value *values, struct error *err)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		size_t index = operation->default_order[i];
		const struct key *key = &operation->keys[index];
		struct value value = given_values[index];

		if (!given[index] && !key->default_value)
			return missing_key(operation, key, err);
		if (!given[index])
			TRY(expression_evaluate(key->default_value, values, NULL, &value, err));
		if (key_value_check(key, value, &values[index], err) != STATUS_OK)
			return given[index] ? STATUS_BAD_INPUT
					    : error_context(err, "the default of %s", key->name);
	}
	return STATUS_OK;
}

static void format_values(
	const struct operation *operation, const struct value *values, struct text *text)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		text_appendf(text, "%s%s=", i ? "," : "", operation->keys[i].name);
		value_format(values[i], text);
	}
}

static enum status check_constraints(
	const struct operation *operation, const struct problem *problem, struct error *err)
{
	for (size_t i = 0; i < operation->constraints.count; i++) {
		const struct condition *condition = &operation->constraints.items[i];
		bool holds;

		TRY(expression_test(condition->expression, problem->values, &holds, err));
		if (!holds)
			return error_set(err, STATUS_BAD_INPUT, "%s: expected %s (%s), found %s",
				operation->name, expression_text(condition->expression),
				condition->why, problem->text);
	}
	return STATUS_OK;
}

static void problem_cleanup(struct problem **problem)
{
	problem_free(*problem);
}

enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err)
{
	CLEANUP(problem_cleanup) struct problem *made = memory_zeroed(1, sizeof(*made));
	struct text text = {0};

	*problem = NULL;
	made->operation = operation;
	made->values = memory_zeroed(operation->key_count, sizeof(*made->values));
	TRY(fill_values(operation, values, given, made->values, err));
	format_values(operation, made->values, &text);
	made->text = text_detach(&text);
	TRY(check_constraints(operation, made, err));
	*problem = made;
	made = NULL;
	return STATUS_OK;
}

/* An integer or a name from JSON. */
static enum status read_value(
	const struct key *key, const struct json_at *at, struct value *value, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0};

	if (json_type(at) == JSON_STRING) {
		value->type = VALUE_STRING;
		TRY(json_get_string(at, &value->string, err));
	} else {
		value->type = VALUE_INT;
		TRY(json_get_int(at, &value->integer, err));
	}
	if (key_value_check(key, *value, value, NULL) == STATUS_OK)
		return STATUS_OK;
	key_describe(key, &expected);
	return json_error(at, err, "%s", text_string(&expected));
}

enum status problem_from_json(const struct operation *operation, const struct json_at *object,
	struct problem **problem, struct error *err)
{
	const size_t count = operation->key_count;
	CLEANUP(memory_free) struct value *values = memory_zeroed(count, sizeof(*values));
	CLEANUP(memory_free) bool *given = memory_zeroed(count, sizeof(*given));
	CLEANUP(memory_free) const char **names = memory_zeroed(count + 1, sizeof(*names));
	struct json_at at;

	*problem = NULL;
	for (size_t i = 0; i < count; i++)
		names[i] = operation->keys[i].name;
	TRY(json_expect_keys(object, names, err));
	for (size_t i = 0; i < count; i++) {
		given[i] = json_find(object, names[i], &at);
		if (given[i])
			TRY(read_value(&operation->keys[i], &at, &values[i], err));
	}
	return problem_complete(operation, values, given, problem, err);
}

struct named_values problem_named_values(const struct problem *problem)
{
	const struct operation *operation = problem->operation;
	struct named_values values = named_values_new(operation->key_count);

	for (size_t i = 0; i < operation->key_count; i++)
		named_values_put(&values, i, operation->keys[i].name, problem->values[i]);
	return values;
}

enum status problem_from_named_values(const struct operation *operation,
	const struct named_values *given, struct problem **problem, struct error *err)
{
	const size_t count = operation->key_count;
	CLEANUP(memory_free) struct value *values = memory_zeroed(count, sizeof(*values));
	CLEANUP(memory_free) bool *is_given = memory_zeroed(count, sizeof(*is_given));

	*problem = NULL;
	for (size_t i = 0; i < given->count; i++) {
		const struct named_value *item = &given->items[i];
		const int key = name_table_find(&operation->key_names, item->name);

		if (key == NAME_UNKNOWN)
			return error_set(err, STATUS_BAD_INPUT,
				"expected a key of %s, found \"%s\"", operation->name, item->name);
		TRY(key_value_check(&operation->keys[key], item->value, &values[key], err));
		is_given[key] = true;
	}
	return problem_complete(operation, values, is_given, problem, err);
}

struct json *problem_to_json(const struct problem *problem)
{
	struct json *object = json_new_object();

	for (size_t i = 0; i < problem->operation->key_count; i++)
		json_put(object, problem->operation->keys[i].name,
			value_to_json(problem->values[i]));
	return object;
}

void problem_free(struct problem *problem)
{
	if (!problem)
		return;
	free(problem->values);
	free(problem->text);
	free(problem);
}

void problem_list_release(struct problem_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		problem_free(list->items[i]);
	free(list->items);
	*list = (struct problem_list){0};
}

enum status problem_flop(const struct problem *problem, double *flop, struct error *err)
{
	return expression_real(problem->operation->flop, problem->values, flop, err);
}

enum status problem_min_bytes(const struct problem *problem, double *bytes, struct error *err)
{
	return expression_real(problem->operation->min_bytes, problem->values, bytes, err);
}
