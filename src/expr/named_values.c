/* SPDX-License-Identifier: MIT */
#include "expr/named_values.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expr/expression.h"

static struct json *write_value(const void *field)
{
	return value_to_json(*(const struct value *)field);
}

enum status value_from_json(const struct json_at *at, struct value *value, struct error *err)
{
	switch (json_type(at)) {
	case JSON_STRING:
		value->type = VALUE_STRING;
		return json_get_string(at, &value->string, err);
	case JSON_BOOL:
		value->type = VALUE_BOOL;
		return json_get_bool(at, &value->boolean, err);
	case JSON_NUMBER:
		value->type = json_is_int(at) ? VALUE_INT : VALUE_REAL;
		return value->type == VALUE_INT ? json_get_int(at, &value->integer, err)
						: json_get_double(at, &value->real, err);
	default:
		return json_error(at, err, "a number, a boolean or a string");
	}
}

static enum status read_value(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct value *value = field;

	(void)context;
	TRY(value_from_json(at, value, err));
	if (value->type == VALUE_STRING)
		value->string = string_copy(value->string);
	return STATUS_OK;
}

static void value_release(void *field)
{
	struct value *value = field;

	if (value->type == VALUE_STRING)
		free((char *)(uintptr_t)value->string);
	*value = (struct value){0};
}

const struct record_custom named_value_custom = {
	.read = read_value,
	.write = write_value,
	.release = value_release,
};
const struct record_rule word_name_rule = {"a name of letters, digits and _", name_is_valid};
/* Recognises group sizes in files of version 0.1, such as "sizes:8 0 3/5 5 1". */
static bool is_sizes(const char *string)
{
	return string_starts_with(string, "sizes:") &&
	       !string[6 + strspn(string + 6, "0123456789 /")];
}

/* Accepts only characters that are safe in problem texts, -D lists and files of other programs. */
static enum status named_value_check(
	void *item, const struct json_at *at, void *context, struct error *err)
{
	const struct value *value = &((const struct named_value *)item)->value;

	(void)context;
	return value->type != VALUE_STRING ||
			       !value->string[strspn(value->string,
				       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				       "0123456789_.+-")] ||
			       is_sizes(value->string)
		       ? STATUS_OK
		       : json_error(at, err, "a value of letters, digits and _ . + -");
}

static const struct record_member named_value_members[] = {
	RECORD_VALUE(struct named_value, name, "name", .rule = &word_name_rule),
	RECORD_CUSTOM(struct named_value, value, &named_value_custom, ""),
};
RECORD_DEFINE(struct named_value, named_value_record, named_value_members, .name = "named_value",
	.check = named_value_check);

struct named_values named_values_new(size_t count)
{
	return (struct named_values){
		.items = memory_zeroed(count + 1, sizeof(struct named_value)), .count = count};
}

void named_values_release(struct named_values *values)
{
	for (size_t i = 0; i < values->count; i++)
		record_release(&named_value_record, &values->items[i]);
	free(values->items);
	*values = (struct named_values){0};
}

void named_values_put(
	struct named_values *values, size_t index, const char *name, struct value value)
{
	struct named_value *item = &values->items[index];

	record_release(&named_value_record, item);
	item->name = string_copy(name);
	item->value = value.type == VALUE_STRING ? value_string(string_copy(value.string)) : value;
}

void named_values_add(struct named_values *values, const char *name, struct value value)
{
	values->items = memory_resize(values->items, values->count + 1, sizeof(*values->items));
	values->items[values->count] = (struct named_value){0};
	named_values_put(values, values->count++, name, value);
}

static const struct value *named_values_find(const struct named_values *values, const char *name)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->items[i].name, name) == 0)
			return &values->items[i].value;
	return NULL;
}

/* Returns whether the list has this name with a value of the same type. */
static bool has_value(const struct named_values *values, const struct named_value *item)
{
	const struct value *own = named_values_find(values, item->name);

	return own && own->type == item->value.type && value_equal(*own, item->value);
}

bool named_values_equal(const struct named_values *a, const struct named_values *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (!has_value(b, &a->items[i]))
			return false;
	return true;
}

struct named_values named_values_difference(
	const struct named_values *all, const struct named_values *values)
{
	struct named_values difference = named_values_new(0);

	for (size_t i = 0; i < all->count; i++)
		if (!has_value(values, &all->items[i]))
			named_values_add(&difference, all->items[i].name, all->items[i].value);
	return difference;
}

struct named_values named_values_changed(
	const struct named_values *all, const struct named_values *changed)
{
	struct named_values values = named_values_new(all->count);

	for (size_t i = 0; i < all->count; i++) {
		const struct value *other = named_values_find(changed, all->items[i].name);

		named_values_put(
			&values, i, all->items[i].name, other ? *other : all->items[i].value);
	}
	return values;
}

void named_values_format(
	const struct named_values *values, const char *separator, struct text *text)
{
	for (size_t i = 0; i < values->count; i++) {
		text_appendf(text, "%s%s=", i ? separator : "", values->items[i].name);
		value_format(values->items[i].value, text);
	}
}

char *named_values_text(const struct named_values *values)
{
	struct text text = {0};

	named_values_format(values, ",", &text);
	return text_detach(&text);
}

struct json *named_values_to_json(const struct named_values *values)
{
	struct json *object = json_new_object();

	for (size_t i = 0; i < values->count; i++)
		json_put(object, values->items[i].name, value_to_json(values->items[i].value));
	return object;
}
