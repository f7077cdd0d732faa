/* SPDX-License-Identifier: MIT */
#include "family/problem.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Accepts values of enums, which appear in problem texts and -D names. */
static bool is_word(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_")] == '\0';
}

static const struct record_rule word_rule = {"a value of letters, digits and _", is_word};
static const char *const type_names[] = {"int", "real", NULL};

/* Checks how the key is passed: an enum or a real number must be a -D. */
static enum status constant_check(struct key *key, const struct json_at *at, struct error *err)
{
	static const char *const of_integers[] = {"min", "max"};
	struct json_at member;

	for (size_t i = 0; i < ARRAY_COUNT(of_integers); i++)
		if (json_find(at, of_integers[i], &member))
			return json_invalid(&member, err, "\"%s\" is not allowed together with %s",
				of_integers[i], key->values ? "\"enum\"" : "\"type\": \"real\"");
	if (json_find(at, "as", &member) && key->binding.as == AS_ARGUMENT)
		return json_error(&member, err,
			"\"constant\" or \"macro NAME\" (a %s cannot be a kernel argument)",
			key->values ? "name" : "real key");
	key->is_constant = true;
	return STATUS_OK;
}

static enum status enum_check(struct key *key, const struct json_at *at, struct error *err)
{
	struct json_at member;

	if (json_find(at, "type", &member))
		return json_invalid(&member, err, "\"type\" is not allowed together with \"enum\"");
	TRY(constant_check(key, at, err));
	json_find(at, "enum", &member);
	for (size_t i = 0; key->values[i]; i++) {
		struct json_at item = json_item(&member, i);

		if (name_find(key->values[i], key->values) != (int)i)
			return json_invalid(&item, err, "this value is given twice");
	}
	return STATUS_OK;
}

static enum status key_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct expression_reading *reading = context;
	struct key *key = value;

	if (key->binding.as == AS_OPTION)
		return json_invalid(at, err, "only a parameter can be an option of the compiler");
	key->is_constant = key->binding.as == AS_CONSTANT || key->binding.as == AS_MACRO;
	/* Expressions also read device names and extras, so a key must not have such a name. */
	if (name_table_find(&reading->scope->all, key->name) >= 0)
		return json_invalid(
			at, err, "this name is already used by a device or model value");
	if (key->values)
		return enum_check(key, at, err);
	if (key->is_real)
		return constant_check(key, at, err);
	return key->min <= key->max ? STATUS_OK
				    : json_invalid(at, err, "\"min\" is larger than \"max\"");
}

static const struct record_member key_members[] = {
	RECORD_VALUE(struct key, name, "name", .rule = &name_rule),
	RECORD_ENUM(struct key, is_real, type_names, "type", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct key, min, "min", .flags = RECORD_OPTIONAL, .absent = 1),
	RECORD_VALUE(struct key, max, "max", .flags = RECORD_OPTIONAL, .absent = INT32_MAX),
	RECORD_STRINGS(struct key, values, "enum", .flags = RECORD_OPTIONAL, .count_min = 1,
		.rule = &word_rule),
	EXPRESSION_OPTIONAL(struct key, default_value, "default"),
	RECORD_CUSTOM(struct key, binding, &define_binding_member, "as", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct key, help, "help", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct key, key_record, key_members, .name = "key", .check = key_check);

void key_describe(const struct key *key, struct text *text)
{
	if (key->is_real) {
		text_append(text, "a number");
		return;
	}
	if (!key->values) {
		text_appendf(text, "an integer from %" PRId64 " to %" PRId64, key->min, key->max);
		return;
	}
	text_append(text, "one of ");
	text_append_names(text, (const char *const *)key->values);
}

static enum status hint_at_digits(const struct key *key, const char *found, struct error *err)
{
	static const char suffixes[] = "kMG";
	char *end;
	double number = strtod(found, &end);
	const char *suffix = *end ? strchr(suffixes, *end == 'K' ? 'k' : *end) : NULL;

	if (strstr(found, ".."))
		return error_hint(
			err, "a range is FIRST:LAST:STEP, for example %s=512:1024:256", key->name);
	if (key->is_real || end == found || !isfinite(number) || (*end && (!suffix || end[1])))
		return STATUS_BAD_INPUT;
	for (const char *at = suffixes; suffix && at <= suffix; at++)
		number *= 1000;
	if (number < (double)key->min || number > (double)key->max || fmod(number, 1) > 0)
		return STATUS_BAD_INPUT;
	return error_hint(err, "write it in digits: %s=%.0f", key->name, number);
}

static enum status problem_refuse(const struct key *key, const char *found, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0};

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found \"%s\"", key->name,
		text_string(&expected), found);
	return key->values ? name_hint(found, key->values, err) : hint_at_digits(key, found, err);
}

/* Converts an expression's value to a key's value. An integral float becomes an integer, even for
 * real keys, so that each number has one spelling. */
static enum status key_value_check(
	const struct key *key, struct value found, struct value *value, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};
	int64_t integer = found.type == VALUE_INT    ? found.integer
			  : found.type == VALUE_BOOL ? found.boolean
			  : found.type == VALUE_REAL && found.real >= -0x1p53 &&
					  found.real <= 0x1p53 &&
					  found.real == (double)(int64_t)found.real
				  ? (int64_t)found.real
				  : INT64_MIN;

	for (size_t i = 0; key->values && found.type == VALUE_STRING && key->values[i]; i++) {
		if (strcmp(key->values[i], found.string) == 0) {
			*value = value_string(key->values[i]);
			return STATUS_OK;
		}
	}
	if (!key->values && found.type != VALUE_STRING && integer != INT64_MIN &&
		(key->is_real || (integer >= key->min && integer <= key->max))) {
		*value = value_int(integer);
		return STATUS_OK;
	}
	if (key->is_real && found.type == VALUE_REAL && isfinite(found.real)) {
		*value = found;
		return STATUS_OK;
	}
	value_format(found, &text);
	return problem_refuse(key, text_string(&text), err);
}

enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err)
{
	char *end;
	long long integer;

	if (key->values)
		return key_value_check(key, value_string(text), value, err);
	if (text[strspn(text, key->is_real ? "+-.0123456789eE" : "-0123456789")])
		return problem_refuse(key, text, err);
	errno = 0;
	if (key->is_real) {
		const double real = strtod(text, &end);

		return *end || end == text ? problem_refuse(key, text, err)
					   : key_value_check(key, value_real(real), value, err);
	}
	integer = strtoll(text, &end, 10);
	if (*end || end == text || errno == ERANGE || integer < key->min || integer > key->max)
		return problem_refuse(key, text, err);
	*value = value_int(integer);
	return STATUS_OK;
}

static enum status missing_key(
	const struct operation *operation, const struct key *key, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0}, known = {0};

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "the key %s is missing; it takes %s", key->name,
		text_string(&expected));
	for (size_t i = 0; i < operation->key_count; i++) {
		key = &operation->keys[i];
		if (key->default_value)
			continue;
		text_appendf(&known, "%s%s=", known.length ? "," : "", key->name);
		for (size_t k = 0; key->values && key->values[k]; k++)
			text_appendf(&known, "%s%s", k ? "|" : "", key->values[k]);
		text_append(&known, key->values ? "" : "...");
	}
	return error_hint(err, "%s needs at least: -p %s", operation->name, text_string(&known));
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

/* Returns whether the value equals the key's default in this problem. */
static bool has_default(const struct key *key, struct value value, const struct value *values)
{
	struct value found;

	return key->default_value && strcmp(key->name, "dtype") != 0 &&
	       expression_evaluate(key->default_value, values, NULL, &found, NULL) == STATUS_OK &&
	       value_equal(found, value);
}

bool problem_differs_in(const struct problem *a, const struct problem *b, const char *key)
{
	const struct operation *operation = a->operation;

	if (b->operation != operation)
		return false;
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *other = &operation->keys[i];
		const bool defaults[] = {has_default(other, a->values[i], a->values),
			has_default(other, b->values[i], b->values)};

		if (strcmp(other->name, key) == 0
				? defaults[0] || defaults[1]
				: defaults[0] != defaults[1] ||
					  !(defaults[0] || value_equal(a->values[i], b->values[i])))
			return false;
	}
	return name_table_find(&operation->key_names, key) != NAME_UNKNOWN;
}

static char *format_values(
	const struct operation *operation, const struct value *values, bool with_defaults)
{
	struct text text = {0};

	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];

		if (!with_defaults && has_default(key, values[i], values))
			continue;
		text_appendf(&text, "%s%s=", text.length ? "," : "", key->name);
		value_format(values[i], &text);
	}
	return text_detach(&text);
}

static enum status check_constraints(
	const struct operation *operation, const struct problem *problem, struct error *err)
{
	for (size_t i = 0; i < operation->constraints.count; i++) {
		const struct condition *condition = &operation->constraints.items[i];
		bool holds;

		TRY(expression_test(condition->expression, problem->values, &holds, err));
		if (!holds)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: %s violates the constraint %s (%s)", operation->name,
				problem->title, expression_text(condition->expression),
				condition->why);
	}
	return STATUS_OK;
}

enum status problem_complete(const struct operation *operation, const struct value *values,
	const bool *given, struct problem **problem, struct error *err)
{
	CLEANUP(problem_cleanup) struct problem *made = memory_zeroed(1, sizeof(*made));

	*problem = NULL;
	made->operation = operation;
	made->values = memory_zeroed(operation->key_count, sizeof(*made->values));
	TRY(fill_values(operation, values, given, made->values, err));
	made->text = format_values(operation, made->values, true);
	made->title = format_values(operation, made->values, operation->shows_defaults);
	if (!*made->title) {
		free(made->title);
		made->title = string_copy(made->text);
	}
	TRY(check_constraints(operation, made, err));
	*problem = made;
	made = NULL;
	return STATUS_OK;
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
			return error_set(err, STATUS_BAD_INPUT, "%s has no key \"%s\"",
				operation->name, item->name);
		TRY(key_value_check(&operation->keys[key], item->value, &values[key], err));
		is_given[key] = true;
	}
	return problem_complete(operation, values, is_given, problem, err);
}

void problem_cleanup(struct problem **problem)
{
	problem_free(*problem);
}

void problem_free(struct problem *problem)
{
	if (!problem)
		return;
	free(problem->values);
	free(problem->text);
	free(problem->title);
	free(problem);
}

void problem_list_release(struct problem_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		problem_free(list->items[i]);
	free(list->items);
	*list = (struct problem_list){0};
}

/* Evaluates the FLOP or bytes of a problem. The error names the problem whose product exceeds 64
 * bits. */
static enum status amount(const struct problem *problem, const struct expression *expression,
	double *found, struct error *err)
{
	if (!expression || expression_real(expression, problem->values, found, err) == STATUS_OK)
		return STATUS_OK;
	return error_context(err, "%s", problem->title);
}

enum status problem_flop(const struct problem *problem, double *flop, struct error *err)
{
	*flop = 0;
	return amount(problem, problem->operation->flop, flop, err);
}

enum status problem_min_bytes(const struct problem *problem, double *bytes, struct error *err)
{
	const struct operation *operation = problem->operation;
	CLEANUP(memory_free) struct plan_buffer *tensors = NULL;

	*bytes = 0;
	if (operation->min_bytes)
		return amount(problem, operation->min_bytes, bytes, err);
	tensors = memory_zeroed(operation->tensor_count, sizeof(*tensors));
	TRY(operation_tensors_evaluate(operation, problem->values, tensors, err));
	for (size_t i = 0; i < operation->tensor_count; i++)
		*bytes += (double)tensors[i].rows * (double)tensors[i].columns *
			  (double)dtype_size(tensors[i].dtype);
	return STATUS_OK;
}
