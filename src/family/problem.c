/* SPDX-License-Identifier: MIT */
#include "family/problem.h"

#include <stdlib.h>

#include "base/memory.h"

/* A key without a default was left out: says which ones there must be. */
static enum status missing_key(
	const struct operation *operation, const struct key *key, struct error *err)
{
	struct text expected = {0}, known = {0};

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found no value", key->name,
		text_string(&expected));
	for (size_t i = 0; i < operation->key_count; i++)
		if (!operation->keys[i].default_value)
			text_appendf(
				&known, "%s%s", known.length ? ", " : "", operation->keys[i].name);
	error_hint(err, "%s needs %s", operation->name, text_string(&known));
	text_release(&expected);
	text_release(&known);
	return STATUS_BAD_INPUT;
}

static enum status fill_values(const struct operation *operation, const struct value *given_values,
	const bool *given, struct value *values, struct error *err)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		size_t index = operation->default_order[i];
		const struct key *key = &operation->keys[index];
		struct value value;
		enum status status;

		if (given[index]) {
			value = given_values[index];
		} else {
			if (!key->default_value)
				return missing_key(operation, key, err);
			status = expression_evaluate(key->default_value, values, NULL, &value, err);
			if (status != STATUS_OK)
				return status;
		}
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
		enum status status =
			expression_test(condition->expression, problem->values, &holds, err);

		if (status != STATUS_OK)
			return status;
		if (!holds)
			return error_set(err, STATUS_BAD_INPUT, "%s: expected %s (%s), found %s",
				operation->name, expression_text(condition->expression),
				condition->why, problem->text);
	}
	return STATUS_OK;
}

enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err)
{
	struct problem *made = memory_zeroed(1, sizeof(*made));
	struct text text = {0};
	enum status status;

	*problem = NULL;
	made->operation = operation;
	made->values = memory_zeroed(operation->key_count, sizeof(*made->values));
	status = fill_values(operation, values, given, made->values, err);
	if (status == STATUS_OK) {
		format_values(operation, made->values, &text);
		made->text = text_detach(&text);
		status = check_constraints(operation, made, err);
	}
	if (status != STATUS_OK) {
		problem_free(made);
		return status;
	}
	*problem = made;
	return STATUS_OK;
}

enum status problem_from_json(const struct operation *operation, const struct json_at *object,
	struct problem **problem, struct error *err)
{
	size_t count = operation->key_count;
	struct value *values = memory_zeroed(count, sizeof(*values));
	bool *given = memory_zeroed(count, sizeof(*given));
	const char **names = memory_zeroed(count + 1, sizeof(*names));
	enum status status;

	*problem = NULL;
	for (size_t i = 0; i < count; i++)
		names[i] = operation->keys[i].name;
	status = json_expect_keys(object, names, err);
	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		struct json_at at;
		const char *string;
		int64_t integer;

		if (!json_find(object, names[i], &at))
			continue;
		given[i] = true;
		if (json_type(&at) == JSON_STRING) {
			status = json_get_string(&at, &string, err);
			values[i] = value_string(string);
		} else {
			status = json_get_int(&at, &integer, err);
			values[i] = value_int(integer);
		}
		if (status == STATUS_OK && key_value_check(&operation->keys[i], values[i],
						   &values[i], NULL) != STATUS_OK) {
			struct text expected = {0};

			key_describe(&operation->keys[i], &expected);
			status = json_error(&at, err, "%s", text_string(&expected));
			text_release(&expected);
		}
	}
	if (status == STATUS_OK)
		status = problem_complete(operation, values, given, problem, err);
	free(names);
	free(given);
	free(values);
	return status;
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
	struct value *values = memory_zeroed(count, sizeof(*values));
	bool *is_given = memory_zeroed(count, sizeof(*is_given));
	enum status status = STATUS_OK;

	*problem = NULL;
	for (size_t i = 0; i < given->count && status == STATUS_OK; i++) {
		const struct named_value *item = &given->items[i];
		const int key = name_table_find(&operation->key_names, item->name);

		if (key == NAME_UNKNOWN)
			status = error_set(err, STATUS_BAD_INPUT,
				"expected a key of %s, found \"%s\"", operation->name, item->name);
		else
			status = key_value_check(
				&operation->keys[key], item->value, &values[key], err);
		if (status == STATUS_OK)
			is_given[key] = true;
	}
	if (status == STATUS_OK)
		status = problem_complete(operation, values, is_given, problem, err);
	free(is_given);
	free(values);
	return status;
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
