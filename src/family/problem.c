/* SPDX-License-Identifier: MIT */
#include "family/problem.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_schema.h"
#include "expr/sizes.h"

/* ---- aliases ---- */
static enum status alias_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct reading *reading = context;
	struct key_alias *alias = field;
	char *part, *rest;
	bool is_known = false;

	alias->part_text = rest = string_copy(alias->text);
	while ((part = strsep(&rest, ",")) != NULL) {
		TRY(record_rule_check(&name_rule, part, at, err));
		if (name_table_find(&alias->parts, part) != NAME_UNKNOWN)
			return json_error(at, err, "every name once in an alias");
		if (name_table_find(&reading->operation->key_names, part) == NAME_UNKNOWN)
			is_known = true;
		name_table_add(&alias->parts, part);
	}
	if (!is_known)
		return json_error(at, err, "a name among them that is no key, to be known by");
	return expression_json_compile(at, &alias->parts, &alias->expression, err);
}

static void alias_release(void *field)
{
	struct key_alias *alias = field;

	name_table_release(&alias->parts);
	free(alias->part_text);
	expression_member_release(&alias->expression);
}

static const struct record_custom alias_custom = {
	alias_read, NULL, expression_schema, alias_release};

static const struct record_member alias_members[] = {
	RECORD_VALUE(struct key_alias, text, "names", "with commas between them"),
	RECORD_DERIVED(struct key_alias, &alias_custom, "", "the key's value, over these names"),
};
static RECORD_DEFINE(struct key_alias, alias_record, alias_members, .name = "alias");

/* ---- keys ---- */
/* They are written into problem texts and -D names. */
static bool is_word(const char *text)
{
	return *text && text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_")] == '\0';
}

static const struct record_rule word_rule = {
	"a value of letters, digits and _", "^[A-Za-z0-9_]+$", is_word};
static const char *const type_names[] = {"int", "real", NULL};

static const struct record_member sizes_members[] = {
	EXPRESSION(struct key_sizes, count, "count", "how many"),
	EXPRESSION(struct key_sizes, sum, "sum", "of all of them"),
	EXPRESSION(struct key_sizes, most, "most", "none is larger"),
};
static RECORD_DEFINE(struct key_sizes, sizes_record, sizes_members, .name = "sizes");

/* A choice or a real number: a -D, which whoever matches problems compares as text. */
static enum status constant_check(struct key *key, const struct json_at *at, struct error *err)
{
	static const char *const of_integers[] = {"min", "max", "aliases"};
	struct json_at member;

	for (size_t i = 0; i < ARRAY_COUNT(of_integers); i++)
		if (json_find(at, of_integers[i], &member))
			return json_error(&member, err, "no \"%s\" beside %s", of_integers[i],
				key->values ? "\"enum\"" : "\"type\": \"real\"");
	if (json_find(at, "as", &member) && key->way.as == AS_ARGUMENT)
		return json_error(&member, err,
			"\"constant\" or \"macro NAME\" (a %s is no kernel argument)",
			key->values ? "name" : "real key");
	key->is_constant = true;
	return STATUS_OK;
}

static enum status enum_check(struct key *key, const struct json_at *at, struct error *err)
{
	struct json_at member;

	if (json_find(at, "type", &member))
		return json_error(&member, err, "no \"type\" beside \"enum\"");
	TRY(constant_check(key, at, err));
	json_find(at, "enum", &member);
	for (size_t i = 0; key->values[i]; i++) {
		struct json_at item = json_item(&member, i);

		if (name_find(key->values[i], key->values) != (int)i)
			return json_error(&item, err, "every value once");
	}
	return STATUS_OK;
}

static enum status key_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct reading *reading = context;
	struct key *key = value;

	key->is_constant = key->way.as == AS_CONSTANT || key->way.as == AS_MACRO;
	/* device names and extras are visible beside keys */
	if (scope_find(reading->scope, key->name) >= 0)
		return json_error(at, err, "a name that is not the device's or the model's");
	if (key->sizes && !key->values)
		return json_error(at, err, "an \"enum\" beside \"sizes\"");
	if (key->values)
		return enum_check(key, at, err);
	if (key->is_real)
		return constant_check(key, at, err);
	return key->min <= key->max ? STATUS_OK
				    : json_error(at, err, "a min that is not above max");
}

/* Not both a type and an enum; a choice is no argument. */
static void key_refine(struct json *schema)
{
	record_schema_require(schema,
		"[{\"not\":{\"required\":[\"type\",\"enum\"]}},"
		"{\"if\":{\"required\":[\"enum\"]},"
		"\"then\":{\"properties\":{\"as\":{\"not\":{\"const\":\"argument\"}}}}}]");
}

static const struct record_member key_members[] = {
	RECORD_VALUE(struct key, name, "name", "", .rule = &name_rule),
	RECORD_ENUM(struct key, is_real, type_names, "type", "a size if left out",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct key, min, "min", "", .flags = RECORD_OPTIONAL, .absent = 1),
	RECORD_VALUE(struct key, max, "max", "", .flags = RECORD_OPTIONAL, .absent = INT32_MAX),
	RECORD_STRINGS(struct key, values, "enum", "the values of a choice",
		.flags = RECORD_OPTIONAL, .count_min = 1, .rule = &word_rule),
	RECORD_POINTER(struct key, sizes, sizes_record, "sizes",
		"a choice: a file of sizes will do, too, each line a draw; what they must be",
		.flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct key, default_value, "default", "over the other keys"),
	RECORD_CUSTOM(struct key, way, &define_way_member, "as",
		"a kernel argument (a size unless it says otherwise) or a -D (of a name that the "
		"kernel says: macro NAME)",
		.flags = RECORD_OPTIONAL),
	RECORD_MAP(struct key, aliases, alias_count, alias_record, "aliases",
		"names that may stand for the key: \"batch,seq\": \"batch*seq\"",
		.flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct key, help, "help", "", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct key, key_record, key_members, .name = "key", .check = key_check,
	.refine = key_refine);

/* ---- values ---- */
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
	for (size_t i = 0; key->values[i]; i++)
		text_appendf(text, "%s%s", i ? ", " : "", key->values[i]);
	if (key->sizes)
		text_append(text, " or a file of sizes");
}

static enum status refuse(const struct key *key, const char *found, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0};

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found \"%s\"", key->name,
		text_string(&expected), found);
	return key->values ? name_hint(found, key->values, err) : STATUS_BAD_INPUT;
}

enum status key_value_check(
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
	if (key->sizes && found.type == VALUE_STRING && sizes_are(found.string)) {
		*value = found;
		return STATUS_OK;
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
	return refuse(key, text_string(&text), err);
}

enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err)
{
	char *end;
	long long integer;

	if (key->values)
		return key_value_check(key, value_string(text), value, err);
	if (text[strspn(text, key->is_real ? "+-.0123456789eE" : "-0123456789")])
		return refuse(key, text, err);
	errno = 0;
	if (key->is_real) {
		const double real = strtod(text, &end);

		return *end || end == text ? refuse(key, text, err)
					   : key_value_check(key, value_real(real), value, err);
	}
	integer = strtoll(text, &end, 10);
	if (*end || end == text || errno == ERANGE || integer < key->min || integer > key->max)
		return refuse(key, text, err);
	*value = value_int(integer);
	return STATUS_OK;
}

/* ---- problems ---- */
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

/* They are the problem's own from now on. */
static enum status take_sizes(
	const struct operation *operation, struct problem *problem, struct error *err)
{
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];
		struct value *value = &problem->values[i];
		int64_t count, sum, most;

		if (!key->sizes || !sizes_are(value->string))
			continue;
		TRY(expression_int_within(
			key->sizes->count, problem->values, 1, INT32_MAX, &count, err));
		TRY(expression_int_within(
			key->sizes->sum, problem->values, 0, INT32_MAX, &sum, err));
		TRY(expression_int_within(
			key->sizes->most, problem->values, 0, INT32_MAX, &most, err));
		if (sizes_check(value->string, count, sum, most, err) != STATUS_OK)
			return error_context(err, "%s", key->name);
		*value = value_string(value_arena_copy_string(
			&problem->strings, value->string, strlen(value->string)));
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
	TRY(take_sizes(operation, made, err));
	*problem = made;
	made = NULL;
	return STATUS_OK;
}

/* A number or a name from JSON. */
static enum status read_value(
	const struct key *key, const struct json_at *at, struct value *value, struct error *err)
{
	CLEANUP(text_release) struct text expected = {0};

	if (json_type(at) == JSON_STRING) {
		value->type = VALUE_STRING;
		TRY(json_get_string(at, &value->string, err));
	} else if (key->is_real && !json_is_int(at)) {
		value->type = VALUE_REAL;
		TRY(json_get_double(at, &value->real, err));
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
	value_arena_release(&problem->strings);
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

/* What fails, fails of this problem, as of one whose product needs more than 64 bits. */
static enum status amount(const struct problem *problem, const struct expression *expression,
	double *found, struct error *err)
{
	if (!expression || expression_real(expression, problem->values, found, err) == STATUS_OK)
		return STATUS_OK;
	return error_context(err, "%s", problem->text);
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
