/* SPDX-License-Identifier: MIT */
#include "family/key.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_schema.h"
#include "family/operation.h"

/* ---- aliases ---- */
static enum status alias_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct reading *reading = context;
	struct key_alias *alias = field;
	char *part, *rest;

	alias->part_text = rest = string_copy(alias->text);
	while ((part = strsep(&rest, ",")) != NULL) {
		TRY(record_rule_check(&name_rule, part, at, err));
		if (name_table_find(&alias->parts, part) != NAME_UNKNOWN)
			return json_error(at, err, "every name once in an alias");
		if (name_table_find(&reading->operation->key_names, part) != NAME_UNKNOWN)
			return json_error(at, err, "names that are no keys themselves");
		name_table_add(&alias->parts, part);
	}
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
static const char *const as_names[] = {"argument", "constant", NULL};

static enum status enum_check(struct key *key, const struct json_at *at, struct error *err)
{
	static const char *const of_integers[] = {"type", "min", "max", "aliases"};
	struct json_at member;

	for (size_t i = 0; i < ARRAY_COUNT(of_integers); i++)
		if (json_find(at, of_integers[i], &member))
			return json_error(
				&member, err, "no \"%s\" beside \"enum\"", of_integers[i]);
	if (json_find(at, "as", &member) && !key->is_constant)
		return json_error(&member, err, "\"constant\" (a name is no kernel argument)");
	key->is_constant = true;
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
	struct json_at member;

	/* device names and extras are visible beside keys */
	if (scope_find(reading->scope, key->name) >= 0)
		return json_error(at, err, "a name that is not the device's or the model's");
	if (key->values)
		return enum_check(key, at, err);
	if (!json_find(at, "type", &member))
		return json_error(at, err, "a member \"type\" or \"enum\"");
	return key->min <= key->max ? STATUS_OK
				    : json_error(at, err, "a min that is not above max");
}

/* Either a type or an enum; a choice is no argument. */
static void key_refine(struct json *schema)
{
	record_schema_require(schema,
		"[{\"oneOf\":[{\"required\":[\"type\"]},{\"required\":[\"enum\"]}]},"
		"{\"if\":{\"required\":[\"enum\"]},"
		"\"then\":{\"properties\":{\"as\":{\"const\":\"constant\"}}}}]");
}

static const struct record_member key_members[] = {
	RECORD_VALUE(struct key, name, "name", "", .rule = &name_rule),
	{.name = "type",
		.help = "of a size",
		.kind = RECORD_KIND_CONSTANT,
		.constant = "int",
		.flags = RECORD_OPTIONAL},
	RECORD_VALUE(struct key, min, "min", "", .flags = RECORD_OPTIONAL, .absent = 1),
	RECORD_VALUE(struct key, max, "max", "", .flags = RECORD_OPTIONAL, .absent = INT32_MAX),
	RECORD_STRINGS(struct key, values, "enum", "the values of a choice",
		.flags = RECORD_OPTIONAL, .count_min = 1, .rule = &word_rule),
	EXPRESSION_OPTIONAL(struct key, default_value, "default", "over the other keys"),
	RECORD_ENUM(struct key, is_constant, as_names, "as",
		"a kernel argument (a size unless it says otherwise) or a -D",
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
	if (!key->values && found.type != VALUE_STRING && integer >= key->min &&
		integer <= key->max && integer != INT64_MIN) {
		*value = value_int(integer);
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
	if (text[0] != '-' && (text[0] < '0' || text[0] > '9'))
		return refuse(key, text, err);
	errno = 0;
	integer = strtoll(text, &end, 10);
	if (*end || end == text || errno == ERANGE || integer < key->min || integer > key->max)
		return refuse(key, text, err);
	*value = value_int(integer);
	return STATUS_OK;
}
