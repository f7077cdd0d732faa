/* SPDX-License-Identifier: MIT
 *
 * Keywords of a schema that look at one value: its type, its size, its text.
 */
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/schema_check.h"

bool schema_same(const struct json_at *a, const struct json_at *b)
{
	char *x = json_print(a->node, false), *y = json_print(b->node, false);
	bool same = strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}

bool schema_matches(const char *pattern, const char *text, bool *broken)
{
	regex_t compiled;
	bool matches;

	*broken = regcomp(&compiled, pattern, REG_EXTENDED | REG_NOSUB) != 0;
	if (*broken)
		return false;
	matches = regexec(&compiled, text, 0, NULL, 0) == 0;
	regfree(&compiled);
	return matches;
}

static const struct {
	const char *name, *words;
	enum json_type type;
} types[] = {
	{"null", "null", JSON_NULL},
	{"boolean", "a boolean", JSON_BOOL},
	{"number", "a number", JSON_NUMBER},
	{"integer", "an integer", JSON_NUMBER},
	{"string", "a string", JSON_STRING},
	{"array", "an array", JSON_ARRAY},
	{"object", "an object", JSON_OBJECT},
};

/* Index into types, or -1 for a broken schema. */
static int type_find(const struct json_at *at)
{
	const char *name;

	if (json_get_string(at, &name, NULL) != STATUS_OK)
		return -1;
	for (size_t i = 0; i < ARRAY_COUNT(types); i++)
		if (strcmp(types[i].name, name) == 0)
			return (int)i;
	return -1;
}

static bool has_type(const struct json_at *value, int type)
{
	return json_type(value) == types[type].type &&
	       (strcmp(types[type].name, "integer") != 0 || json_is_int(value));
}

enum status schema_type(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	bool list = json_type(keyword) == JSON_ARRAY;
	size_t count = list ? json_count(keyword) : 1;
	struct text words = {0};
	enum status status = STATUS_BAD_INPUT;

	(void)walk, (void)schema;
	for (size_t i = 0; i < count && status == STATUS_BAD_INPUT; i++) {
		struct json_at item = list ? json_item(keyword, i) : *keyword;
		int type = type_find(&item);

		if (type < 0)
			status = schema_broken(&item, err, "the name of a type");
		else if (has_type(value, type))
			status = STATUS_OK;
		else
			text_appendf(&words, "%s%s", i ? " or " : "", types[type].words);
	}
	if (status == STATUS_BAD_INPUT)
		json_error(value, err, "%s", text_string(&words));
	text_release(&words);
	return status;
}

enum status schema_const(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	char *wanted;

	(void)walk, (void)schema;
	if (schema_same(keyword, value))
		return STATUS_OK;
	wanted = json_print(keyword->node, false);
	json_error(value, err, "%.300s", wanted);
	free(wanted);
	return STATUS_BAD_INPUT;
}

enum status schema_enum(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	struct text words = {0};

	(void)walk, (void)schema;
	if (json_type(keyword) != JSON_ARRAY)
		return schema_broken(keyword, err, "an array");
	for (size_t i = 0; i < json_count(keyword); i++) {
		struct json_at item = json_item(keyword, i);
		char *printed;

		if (schema_same(&item, value)) {
			text_release(&words);
			return STATUS_OK;
		}
		printed = json_print(item.node, false);
		text_appendf(&words, "%s%s", i ? ", " : "", printed);
		free(printed);
	}
	json_error(value, err, "one of %.600s", text_string(&words));
	text_release(&words);
	return STATUS_BAD_INPUT;
}

/* ---- numbers ---- */
struct bound {
	bool upper, exclusive;
	const char *words;
};

static enum status check_bound(const struct bound *bound, const struct json_at *keyword,
	const struct json_at *value, struct error *err)
{
	double limit, number;
	bool fits;

	if (json_get_double(keyword, &limit, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "a number");
	if (json_type(value) != JSON_NUMBER || json_get_double(value, &number, NULL) != STATUS_OK)
		return STATUS_OK;
	fits = bound->upper ? number < limit : number > limit;
	if (!bound->exclusive)
		fits = bound->upper ? number <= limit : number >= limit;
	return fits ? STATUS_OK : json_error(value, err, "a number %s %.12g", bound->words, limit);
}

#define BOUND(function, ...)                                                                       \
	enum status function(struct schema_walk *walk, const struct json_at *schema,               \
		const struct json_at *keyword, const struct json_at *value, struct error *err)     \
	{                                                                                          \
		(void)walk, (void)schema;                                                          \
		return check_bound(&(const struct bound){__VA_ARGS__}, keyword, value, err);       \
	}
BOUND(schema_minimum, .words = "of at least")
BOUND(schema_maximum, .upper = true, .words = "of at most")
BOUND(schema_exclusive_minimum, .exclusive = true, .words = "above")
BOUND(schema_exclusive_maximum, .upper = true, .exclusive = true, .words = "below")

/* ---- strings ---- */
/* In characters, as JSON Schema counts. */
static size_t length_of(const char *text)
{
	size_t length = 0;

	for (; *text; text++)
		length += (*text & 0xc0) != 0x80;
	return length;
}

enum status schema_min_length(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	const char *text;
	int64_t limit;

	(void)walk, (void)schema;
	if (json_get_int(keyword, &limit, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "an integer");
	if (json_get_string(value, &text, NULL) != STATUS_OK || (int64_t)length_of(text) >= limit)
		return STATUS_OK;
	return json_error(value, err, "a string of at least %lld characters", (long long)limit);
}

enum status schema_max_length(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	const char *text;
	int64_t limit;

	(void)walk, (void)schema;
	if (json_get_int(keyword, &limit, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "an integer");
	if (json_get_string(value, &text, NULL) != STATUS_OK || (int64_t)length_of(text) <= limit)
		return STATUS_OK;
	return json_error(value, err, "a string of at most %lld characters", (long long)limit);
}

enum status schema_pattern(struct schema_walk *walk, const struct json_at *schema,
	const struct json_at *keyword, const struct json_at *value, struct error *err)
{
	const char *pattern, *text;
	bool broken = false, matches;

	(void)walk, (void)schema;
	if (json_get_string(keyword, &pattern, NULL) != STATUS_OK)
		return schema_broken(keyword, err, "a string");
	if (json_get_string(value, &text, NULL) != STATUS_OK)
		return STATUS_OK;
	matches = schema_matches(pattern, text, &broken);
	if (broken)
		return schema_broken(keyword, err, "a POSIX extended regular expression");
	return matches ? STATUS_OK : json_error(value, err, "text that matches %.200s", pattern);
}
