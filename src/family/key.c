/* SPDX-License-Identifier: MIT
 *
 * Reading one problem key, and checking values against it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/key.h"

static const char *const integer_keys[] = {
	"type", "min", "max", "default", "as", "aliases", "help", NULL};
static const char *const enum_keys[] = {"enum", "default", "as", "help", NULL};

static enum status read_as(
	const struct json_at *at, bool *is_constant, bool may_be_argument, struct error *err)
{
	struct json_at as;
	const char *name;

	*is_constant = !may_be_argument;
	if (!json_find(at, "as", &as))
		return STATUS_OK;
	if (json_get_string(&as, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	*is_constant = strcmp(name, "constant") == 0;
	if (!*is_constant && (strcmp(name, "argument") != 0 || !may_be_argument))
		return json_error(&as, err,
			may_be_argument ? "\"argument\" or \"constant\""
					: "\"constant\" (a name is no kernel argument)");
	return STATUS_OK;
}

static enum status read_enum(
	const struct json_at *at, const struct json_at *list, struct key *key, struct error *err)
{
	if (json_expect_keys(at, enum_keys, err) != STATUS_OK ||
		json_expect(list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(list) == 0)
		return json_error(list, err, "at least one value");
	key->values = memory_zeroed(json_count(list) + 1, sizeof(*key->values));
	for (size_t i = 0; i < json_count(list); i++) {
		struct json_at item = json_item(list, i);

		if (json_get_string(&item, &key->values[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		/* they are written into problem texts and -D names */
		if (!*key->values[i] ||
			strspn(key->values[i],
				"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"0123456789_") != strlen(key->values[i]))
			return json_error(&item, err, "a value of letters, digits and _");
		for (size_t k = 0; k < i; k++)
			if (strcmp(key->values[k], key->values[i]) == 0)
				return json_error(&item, err, "every value once");
	}
	return read_as(at, &key->is_constant, false, err);
}

static enum status read_integer(const struct json_at *at, struct key *key, struct error *err)
{
	struct json_at bound;
	const char *type;

	if (json_expect_keys(at, integer_keys, err) != STATUS_OK ||
		json_member_string(at, "type", &type, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(type, "int") != 0) {
		json_find(at, "type", &bound);
		return json_error(&bound, err, "\"int\" (or an \"enum\" instead)");
	}
	key->min = 1;
	key->max = INT32_MAX;
	if (json_find(at, "min", &bound) && json_get_int(&bound, &key->min, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "max", &bound) && json_get_int(&bound, &key->max, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (key->min > key->max)
		return json_error(at, err, "a min that is not above max");
	return read_as(at, &key->is_constant, true, err);
}

static enum status read_alias(const struct json_at *at, struct key_alias *alias, struct error *err)
{
	char *part, *rest;

	alias->text = string_copy(at->key);
	for (rest = alias->text; (part = strsep(&rest, ",")) != NULL;) {
		if (name_json_check(at, part, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (name_table_find(&alias->parts, part) != NAME_UNKNOWN)
			return json_error(at, err, "every name once in an alias");
		name_table_add(&alias->parts, part);
	}
	return expression_json_compile(at, &alias->parts, &alias->expression, err);
}

enum status key_read(const struct json_at *at, struct key *key, struct error *err)
{
	struct json_at member;

	key->name = at->key;
	key->help = "";
	if (name_json_check(at, at->key, err) != STATUS_OK ||
		json_expect(at, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "help", &member) &&
		json_get_string(&member, &key->help, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "enum", &member))
		return read_enum(at, &member, key, err);
	if (read_integer(at, key, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (!json_find(at, "aliases", &member))
		return STATUS_OK;
	if (json_expect(&member, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	key->alias_count = json_count(&member);
	key->aliases = memory_zeroed(key->alias_count + 1, sizeof(*key->aliases));
	for (size_t i = 0; i < key->alias_count; i++) {
		struct json_at item = json_item(&member, i);

		if (read_alias(&item, &key->aliases[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

void key_release(struct key *key)
{
	for (size_t i = 0; i < key->alias_count; i++) {
		name_table_release(&key->aliases[i].parts);
		free(key->aliases[i].text);
		expression_free(key->aliases[i].expression);
	}
	free(key->aliases);
	free(key->values);
	expression_free(key->default_value);
	*key = (struct key){0};
}

void key_describe(const struct key *key, struct text *text)
{
	if (!key->values) {
		text_appendf(text, "an integer from %" PRId64 " to %" PRId64, key->min, key->max);
		return;
	}
	text_append(text, "one of ");
	for (size_t i = 0; key->values[i]; i++)
		text_appendf(text, "%s%s", i ? ", " : "", key->values[i]);
}

static enum status refuse(const struct key *key, const char *found, struct error *err)
{
	struct text expected = {0};
	const char *nearest = key->values ? name_nearest(found, key->values) : NULL;

	key_describe(key, &expected);
	error_set(err, STATUS_BAD_INPUT, "%s: expected %s, found \"%s\"", key->name,
		text_string(&expected), found);
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	text_release(&expected);
	return STATUS_BAD_INPUT;
}

enum status key_value_check(
	const struct key *key, struct value found, struct value *value, struct error *err)
{
	struct text text = {0};
	int64_t integer = found.type == VALUE_INT    ? found.integer
			  : found.type == VALUE_BOOL ? found.boolean
			  : found.type == VALUE_REAL && found.real >= -0x1p53 &&
					  found.real <= 0x1p53 &&
					  found.real == (double)(int64_t)found.real
				  ? (int64_t)found.real
				  : INT64_MIN;
	enum status status;

	for (size_t i = 0; key->values && found.type == VALUE_STRING && key->values[i]; i++) {
		if (strcmp(key->values[i], found.string) == 0) {
			*value = value_string(key->values[i]);
			return STATUS_OK;
		}
	}
	if (!key->values && found.type != VALUE_STRING && integer >= key->min &&
		integer <= key->max && integer != INT64_MIN) {
		*value = value_int(integer);
		return STATUS_OK;
	}
	value_format(found, &text);
	status = refuse(key, text_string(&text), err);
	text_release(&text);
	return status;
}

enum status key_value_parse(
	const struct key *key, const char *text, struct value *value, struct error *err)
{
	char *end;
	long long integer;

	if (key->values)
		return key_value_check(key, value_string(text), value, err);
	if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
		return refuse(key, text, err);
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (*end || end == text || errno == ERANGE || integer < key->min || integer > key->max)
		return refuse(key, text, err);
	*value = value_int(integer);
	return STATUS_OK;
}
