/* SPDX-License-Identifier: MIT
 *
 * Reading and evaluating arguments.
 */
#include "family/argument.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int find(const char *const *names, const char *name)
{
	for (int i = 0; names && names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

static bool find_special(const char *name, enum argument_kind *kind)
{
	static const struct {
		const char *name;
		enum argument_kind kind;
	} specials[] = {{"units", ARGUMENT_UNITS}, {"unit_count", ARGUMENT_UNIT_COUNT},
		{"expected", ARGUMENT_EXPECTED}};

	for (size_t i = 0; i < ARRAY_COUNT(specials); i++) {
		if (strcmp(specials[i].name, name) == 0) {
			*kind = specials[i].kind;
			return true;
		}
	}
	return false;
}

/* {"value": expression, "type": "i32|i64|f32"} */
static enum status read_typed(const struct json_at *at, const struct name_table *names,
	struct argument *argument, struct error *err)
{
	static const char *const keys[] = {"value", "type", NULL};
	static const char *const types[] = {"i32", "i64", "f32", NULL};
	static const enum argument_kind kinds[] = {
		ARGUMENT_INT32, ARGUMENT_INT64, ARGUMENT_FLOAT32};
	struct json_at type_at;
	const char *type;
	int found;

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "type", &type_at, err) != STATUS_OK ||
		json_get_string(&type_at, &type, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	found = find(types, type);
	if (found < 0)
		return json_error(&type_at, err, "\"i32\", \"i64\" or \"f32\"");
	argument->kind = kinds[found];
	return expression_json_member(at, "value", names, &argument->expression, err);
}

static enum status read_argument(const struct json_at *at, const struct argument_names *known,
	const struct name_table *names, struct argument *argument, struct error *err)
{
	const char *text;
	int found;

	if (json_type(at) == JSON_OBJECT)
		return read_typed(at, names, argument, err);
	argument->kind = ARGUMENT_INT32;
	if (json_type(at) == JSON_STRING) {
		if (json_get_string(at, &text, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		found = find(known->buffers, text);
		if (found >= 0) {
			argument->kind = ARGUMENT_BUFFER;
			argument->index = (uint32_t)found;
			return STATUS_OK;
		}
		found = find(known->tensor_maps, text);
		if (found >= 0) {
			argument->kind = ARGUMENT_TENSOR_MAP;
			argument->index = (uint32_t)found;
			return STATUS_OK;
		}
		if (known->specials && find_special(text, &argument->kind))
			return STATUS_OK;
	}
	return expression_json_compile(at, names, &argument->expression, err);
}

enum status argument_json_list(const struct json_at *object, const struct argument_names *known,
	const struct name_table *names, struct argument_list *list, struct error *err)
{
	struct json_at at;

	if (json_member(object, "args", &at, err) != STATUS_OK ||
		json_expect(&at, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	list->count = json_count(&at);
	list->items = memory_zeroed(list->count + 1, sizeof(*list->items));
	for (size_t i = 0; i < list->count; i++) {
		struct json_at item = json_item(&at, i);

		if (read_argument(&item, known, names, &list->items[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void argument_list_release(struct argument_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(list->items[i].expression);
	free(list->items);
	*list = (struct argument_list){0};
}

enum status argument_evaluate(const struct argument *argument, const struct value *values,
	struct plan_argument *evaluated, struct error *err)
{
	const struct expression *expression = argument->expression;
	enum status status = STATUS_OK;

	*evaluated = (struct plan_argument){.kind = argument->kind, .index = argument->index};
	if (!expression)
		return STATUS_OK;
	if (argument->kind == ARGUMENT_FLOAT32)
		return expression_real(expression, values, &evaluated->real, err);
	status = expression_int(expression, values, &evaluated->integer, err);
	if (status != STATUS_OK)
		return status;
	if (argument->kind == ARGUMENT_INT32 &&
		(evaluated->integer < INT32_MIN || evaluated->integer > INT32_MAX))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an int32, found %" PRId64 " (declare it as i64)",
			expression_where(expression), evaluated->integer);
	return STATUS_OK;
}
