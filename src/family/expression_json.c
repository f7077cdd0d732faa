/* SPDX-License-Identifier: MIT
 *
 * Expressions from JSON values.
 */
#include "family/expression_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static enum status literal_text(const struct json_at *at, struct text *text, struct error *err)
{
	const char *string;
	int64_t integer;
	double real;
	bool boolean;

	switch (json_type(at)) {
	case JSON_NUMBER:
		if (json_is_int(at)) {
			if (json_get_int(at, &integer, err) != STATUS_OK)
				return STATUS_BAD_INPUT;
			text_appendf(text, "%" PRId64, integer);
			return STATUS_OK;
		}
		if (json_get_double(at, &real, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		text_appendf(text, "%.17g", real);
		return STATUS_OK;
	case JSON_BOOL:
		if (json_get_bool(at, &boolean, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		text_append(text, boolean ? "True" : "False");
		return STATUS_OK;
	case JSON_STRING:
		if (json_get_string(at, &string, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (strpbrk(string, "'\\\n"))
			return json_error(at, err, "a plain string (no quote, no backslash)");
		text_appendf(text, "'%s'", string);
		return STATUS_OK;
	case JSON_NULL:
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return json_error(at, err, "a number, a boolean or a string");
}

enum status expression_json_text(const struct json_at *at, struct text *text, struct error *err)
{
	const char *string;

	if (json_type(at) == JSON_STRING) {
		if (json_get_string(at, &string, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		text_append(text, string);
		return STATUS_OK;
	}
	if (json_type(at) == JSON_NUMBER || json_type(at) == JSON_BOOL)
		return literal_text(at, text, err);
	if (json_type(at) != JSON_ARRAY)
		return json_error(at, err, "an expression (a string, a number or a list)");
	text_append_char(text, '[');
	for (size_t i = 0; i < json_count(at); i++) {
		struct json_at item = json_item(at, i);

		if (i)
			text_append(text, ", ");
		if (literal_text(&item, text, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	text_append_char(text, ']');
	return STATUS_OK;
}

void expression_json_where(const struct json_at *at, struct text *where)
{
	text_appendf(where, "%s: ", at->file ? at->file : "JSON");
	json_path(at, where);
}

typedef enum status compile_function(const char *text, const char *where,
	const struct name_table *names, struct expression **expression, struct error *err);

static enum status compile(const struct json_at *at, const struct name_table *names,
	compile_function *function, struct expression **expression, struct error *err)
{
	struct text text = {0}, where = {0};
	enum status status = expression_json_text(at, &text, err);

	*expression = NULL;
	if (status == STATUS_OK) {
		expression_json_where(at, &where);
		status = function(text_string(&text), where.data, names, expression, err);
	}
	text_release(&text);
	text_release(&where);
	return status;
}

enum status expression_json_compile(const struct json_at *at, const struct name_table *names,
	struct expression **expression, struct error *err)
{
	return compile(at, names, expression_compile, expression, err);
}

enum status expression_json_compile_optional(const struct json_at *at,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	return compile(at, names, expression_compile_optional, expression, err);
}

enum status expression_json_member(const struct json_at *object, const char *key,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	struct json_at at;

	if (json_member(object, key, &at, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_compile(&at, names, expression, err);
}

enum status expression_json_member_if(const struct json_at *object, const char *key,
	const struct name_table *names, struct expression **expression, struct error *err)
{
	struct json_at at;

	*expression = NULL;
	if (!json_find(object, key, &at))
		return STATUS_OK;
	return expression_json_compile(&at, names, expression, err);
}

enum status expression_json_list(const struct json_at *object, const char *key, size_t least,
	size_t most, const struct name_table *names, struct expression_list *list,
	struct error *err)
{
	struct json_at at;
	size_t count;

	if (json_member(object, key, &at, err) != STATUS_OK ||
		json_expect(&at, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	count = json_count(&at);
	if (least == most && count != least)
		return json_error(&at, err, "%zu expressions", least);
	if (count < least || count > most)
		return json_error(&at, err, "%zu to %zu expressions", least, most);
	list->items = memory_zeroed(count + 1, sizeof(*list->items));
	list->count = count;
	for (size_t i = 0; i < count; i++) {
		struct json_at item = json_item(&at, i);

		if (expression_json_compile(&item, names, &list->items[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void expression_list_release(struct expression_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		expression_free(list->items[i]);
	free(list->items);
	*list = (struct expression_list){0};
}
