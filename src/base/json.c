/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/memory.h"

/* `struct json` is a cJSON node by another name. */
static const cJSON *json_node(const struct json *json)
{
	return (const cJSON *)json;
}

/* What one text may hold: cJSON takes 64 bytes and more for each value. */
enum {
	VALUES_MAX = 1 << 24,
	DEPTH_MAX = 200
};

/* cJSON lets invalid UTF-8, raw control characters and "\u0000" (which it truncates at) pass, and
 * as many values as memory holds. Returns what was expected and what was found, NULL if all is
 * well. */
static const char *find_forbidden(const char *text, size_t size)
{
	bool in_string = false;
	size_t values = 1, depth = 0;

	for (size_t i = 0; i < size;) {
		const unsigned char c = (unsigned char)text[i];
		const size_t length = utf8_length(text + i, size - i);

		if (!length)
			return "valid UTF-8, found otherwise";
		if (in_string && c < 0x20)
			return "no raw control character in a string, found otherwise";
		if (in_string && c == '\\') {
			if (size - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
				return "no NUL character in a string, found otherwise";
			i++;
		} else if (c == '"') {
			in_string = !in_string;
		} else if (!in_string && (c == ',' || c == '[' || c == '{')) {
			depth += c != ',';
			if (depth > DEPTH_MAX)
				return "at most 200 arrays and objects within each other, found "
				       "more";
			if (++values > VALUES_MAX)
				return "at most 16777216 values, found more";
		} else if (!in_string && depth && (c == ']' || c == '}')) {
			depth--;
		}
		i += length;
	}
	return NULL;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The first key that stands twice in one object, or NULL. Large objects are sorted first. */
static const char *find_duplicate(const cJSON *node)
{
	const char *found = NULL;
	const char **keys;
	size_t count = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, node)
	{
		found = cJSON_IsObject(item) || cJSON_IsArray(item) ? find_duplicate(item) : NULL;
		if (found)
			return found;
		count++;
	}
	if (!cJSON_IsObject(node) || count < 2)
		return NULL;
	keys = memory_zeroed(count, sizeof(*keys));
	count = 0;
	cJSON_ArrayForEach(item, node) keys[count++] = item->string;
	qsort(keys, count, sizeof(*keys), compare_strings);
	for (size_t i = 1; i < count && !found; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			found = keys[i];
	free(keys);
	return found;
}

static bool has_infinity(const cJSON *node)
{
	const cJSON *item;

	if (cJSON_IsNumber(node) && !isfinite(node->valuedouble))
		return true;
	cJSON_ArrayForEach(item, node) if (has_infinity(item)) return true;
	return false;
}

static enum status syntax_error(
	const char *text, size_t size, const char *at, const char *file, struct error *err)
{
	const size_t left = size - (size_t)(at - text);
	size_t line = 1, column = 1;

	for (const char *c = text; c < at; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	return error_set(err, STATUS_BAD_INPUT,
		"%s: line %zu, column %zu: expected valid JSON, found \"%.*s\"", file, line, column,
		left < 20 ? (int)left : 20, at);
}

enum status json_parse(
	const char *text, size_t size, const char *file, struct json **root, struct error *err)
{
	const char *forbidden = find_forbidden(text, size);
	const char *duplicate;
	const char *end = NULL;
	cJSON *node;
	enum status status = STATUS_OK;

	*root = NULL;
	if (forbidden)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected %s", file, forbidden);
	node = memchr(text, '\0', size) ? NULL : cJSON_ParseWithLengthOpts(text, size, &end, false);
	while (node && end < text + size && strchr(" \t\r\n", *end))
		end++;
	if (!node || end < text + size) {
		if (end == text + size - 1 && strchr(" \t\r\n", *end))
			end++; /* cJSON does not go beyond what it looked at */
		status = syntax_error(text, size, end ? end : text, file, err);
	} else if ((duplicate = find_duplicate(node)) != NULL) {
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected every key once in an object, found \"%s\" twice", file,
			duplicate);
	} else if (has_infinity(node)) {
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected numbers that a double holds, found a larger one", file);
	}
	if (status != STATUS_OK)
		cJSON_Delete(node);
	else
		*root = (struct json *)node;
	return status;
}

enum status json_load(const char *path, struct json **root, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	TRY(file_read(path, &text, err));
	return json_parse(text_string(&text), text.length, path, root, err);
}

void json_free(struct json *root)
{
	cJSON_Delete((cJSON *)root);
}

struct json_at json_root(const struct json *root, const char *file)
{
	return (struct json_at){.node = root, .file = file};
}

enum json_type json_type(const struct json_at *at)
{
	const cJSON *node = json_node(at->node);

	if (cJSON_IsBool(node))
		return JSON_BOOL;
	if (cJSON_IsNumber(node) || cJSON_IsRaw(node))
		return JSON_NUMBER;
	if (cJSON_IsString(node))
		return JSON_STRING;
	if (cJSON_IsArray(node))
		return JSON_ARRAY;
	return cJSON_IsObject(node) ? JSON_OBJECT : JSON_NULL;
}

size_t json_count(const struct json_at *at)
{
	return (size_t)cJSON_GetArraySize(json_node(at->node));
}

static struct json_at child_at(const struct json_at *parent, const cJSON *node, size_t index)
{
	return (struct json_at){.node = (const struct json *)node,
		.file = parent->file,
		.parent = parent,
		.key = cJSON_IsObject(json_node(parent->node)) ? node->string : NULL,
		.index = index};
}

struct json_at json_item(const struct json_at *at, size_t index)
{
	const cJSON *node = cJSON_GetArrayItem(json_node(at->node), (int)index);

	if (!node)
		BUG("item %zu of %zu", index, json_count(at));
	return child_at(at, node, index);
}

bool json_next(const struct json_at *at, struct json_at *item)
{
	const cJSON *parent = json_node(at->node), *last = json_node(item->node);
	const cJSON *node = last ? last->next : parent ? parent->child : NULL;

	if (!node)
		return false;
	*item = child_at(at, node, last ? item->index + 1 : 0);
	return true;
}

bool json_find(const struct json_at *object, const char *key, struct json_at *member)
{
	const cJSON *node = cJSON_GetObjectItemCaseSensitive(json_node(object->node), key);

	if (!node)
		return false;
	*member = child_at(object, node, 0);
	return true;
}

enum status json_member(
	const struct json_at *object, const char *key, struct json_at *member, struct error *err)
{
	if (json_type(object) != JSON_OBJECT)
		return json_error(object, err, "an object");
	if (!json_find(object, key, member))
		return json_error(object, err, "a member \"%s\"", key);
	return STATUS_OK;
}

static const char *const type_names[] = {
	"null", "a boolean", "a number", "a string", "an array", "an object"};

enum status json_expect(const struct json_at *at, enum json_type type, struct error *err)
{
	return json_type(at) == type ? STATUS_OK : json_error(at, err, "%s", type_names[type]);
}

enum status json_expect_keys(
	const struct json_at *object, const char *const *names, struct error *err)
{
	const cJSON *item;

	TRY(json_expect(object, JSON_OBJECT, err));
	cJSON_ArrayForEach(item, json_node(object->node))
	{
		struct json_at at = child_at(object, item, 0);

		if (name_find(item->string, names) >= 0)
			continue;
		json_error(&at, err, "a known member here");
		return name_hint(item->string, names, err);
	}
	return STATUS_OK;
}

enum status json_get_string(const struct json_at *at, const char **value, struct error *err)
{
	TRY(json_expect(at, JSON_STRING, err));
	*value = json_node(at->node)->valuestring;
	return STATUS_OK;
}

bool json_is_int(const struct json_at *at)
{
	double value;

	if (json_type(at) != JSON_NUMBER)
		return false;
	if (cJSON_IsRaw(json_node(at->node)))
		return strpbrk(json_node(at->node)->valuestring, ".eE") == NULL;
	value = json_node(at->node)->valuedouble;
	/* cJSON reads through a double: beyond 2^53 neighbours would be confused */
	return value == floor(value) && fabs(value) <= 0x1p53;
}

enum status json_get_int(const struct json_at *at, int64_t *value, struct error *err)
{
	const cJSON *node = json_node(at->node);

	if (!json_is_int(at))
		return json_error(at, err, "an integer");
	*value = cJSON_IsRaw(node) ? strtoll(node->valuestring, NULL, 10)
				   : (int64_t)node->valuedouble;
	return STATUS_OK;
}

enum status json_get_double(const struct json_at *at, double *value, struct error *err)
{
	const cJSON *node = json_node(at->node);

	TRY(json_expect(at, JSON_NUMBER, err));
	*value = cJSON_IsRaw(node) ? strtod(node->valuestring, NULL) : node->valuedouble;
	return STATUS_OK;
}

enum status json_get_bool(const struct json_at *at, bool *value, struct error *err)
{
	TRY(json_expect(at, JSON_BOOL, err));
	*value = cJSON_IsTrue(json_node(at->node));
	return STATUS_OK;
}

void json_path(const struct json_at *at, struct text *text)
{
	if (!at->parent) {
		text_append(text, "$");
		return;
	}
	json_path(at->parent, text);
	if (at->key)
		text_appendf(text, ".%s", at->key);
	else
		text_appendf(text, "[%zu]", at->index);
}

enum status json_error(const struct json_at *at, struct error *err, const char *expectation, ...)
{
	CLEANUP(text_release) struct text path = {0}, expected = {0};
	CLEANUP(memory_free) char *found = NULL;
	va_list args;

	if (!err) /* nobody reads it */
		return STATUS_BAD_INPUT;
	found = at->node ? json_print(at->node, false) : string_copy("otherwise");
	json_path(at, &path);
	va_start(args, expectation);
	text_append_args(&expected, expectation, args);
	va_end(args);
	return error_set(err, STATUS_BAD_INPUT, "%s: %s: expected %s, found %.60s%s",
		at->file ? at->file : "JSON", path.data, expected.data, found,
		strlen(found) > 60 ? "..." : "");
}

/* ---- writing ---- */
static struct json *made(cJSON *node)
{
	if (!node)
		memory_exhausted(sizeof(*node));
	return (struct json *)node;
}

struct json *json_new_object(void)
{
	return made(cJSON_CreateObject());
}

struct json *json_new_array(void)
{
	return made(cJSON_CreateArray());
}

/* Compilers and drivers may say anything: bytes that are not UTF-8 become '?'. */
static char *valid_utf8(const char *value)
{
	char *copy = string_copy(value);
	size_t length;

	for (char *c = copy; *c; c += length ? length : 1) {
		length = utf8_length(c, 4); /* it ends with NUL */
		if (!length)
			*c = '?';
	}
	return copy;
}

struct json *json_new_string(const char *value)
{
	struct json *node;
	char *valid;

	if (!value)
		return made(cJSON_CreateNull());
	valid = valid_utf8(value);
	node = made(cJSON_CreateString(valid));
	free(valid);
	return node;
}

struct json *json_new_int(int64_t value)
{
	char digits[32];

	/* a plain number where cJSON prints it as it is, so that it reads back as any other */
	snprintf(digits, sizeof(digits), "%lld", (long long)value);
	return made(
		strlen(digits) < 15 ? cJSON_CreateNumber((double)value) : cJSON_CreateRaw(digits));
}

struct json *json_new_double(double value)
{
	char digits[40];

	if (!isfinite(value))
		return made(cJSON_CreateNull());
	/* the shortest form that reads back exactly */
	for (int precision = 6; precision <= 17; precision++) {
		snprintf(digits, sizeof(digits), "%.*g", precision, value);
		if (strtod(digits, NULL) == value)
			break;
	}
	return made(cJSON_CreateRaw(digits));
}

struct json *json_new_bool(bool value)
{
	return made(cJSON_CreateBool(value));
}

/* cJSON prints what it parsed with 15 digits, which may be a neighbour. */
static void make_exact(cJSON *node)
{
	char digits[40];
	cJSON *item;

	snprintf(digits, sizeof(digits), "%.15g", node->valuedouble);
	if (cJSON_IsNumber(node) && strtod(digits, NULL) != node->valuedouble) {
		/* beyond 2^53 with an exponent: no integer, as it was none when it was parsed */
		snprintf(digits, sizeof(digits),
			fabs(node->valuedouble) > 0x1p53 ? "%.16e" : "%.17g", node->valuedouble);
		node->valuestring = string_copy(digits);
		node->type = cJSON_Raw;
	}
	cJSON_ArrayForEach(item, node) make_exact(item);
}

struct json *json_copy(const struct json *node)
{
	cJSON *copy = cJSON_Duplicate(json_node(node), true);

	if (copy)
		make_exact(copy);
	return made(copy);
}

void json_put(struct json *object, const char *key, struct json *child)
{
	cJSON *parent = (cJSON *)object;

	if (cJSON_GetObjectItemCaseSensitive(parent, key))
		cJSON_ReplaceItemInObjectCaseSensitive(parent, key, (cJSON *)child);
	else
		cJSON_AddItemToObject(parent, key, (cJSON *)child);
}

void json_push(struct json *array, struct json *child)
{
	cJSON_AddItemToArray((cJSON *)array, (cJSON *)child);
}

/* cJSON indents with tabs and spreads arrays over a line: good enough to read and to diff. */
char *json_print(const struct json *node, bool pretty)
{
	char *printed =
		pretty ? cJSON_Print(json_node(node)) : cJSON_PrintUnformatted(json_node(node));

	if (!printed)
		memory_exhausted(0);
	return printed;
}

bool json_same(const struct json *a, const struct json *b)
{
	char *x = json_print(a, false), *y = json_print(b, false);
	bool same = strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}
