/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <errno.h>
#include <math.h>

#include <cjson/cJSON.h>

#include "base/file.h"
#include "base/memory.h"

static const cJSON *json_node(const struct json *json)
{
	return (const cJSON *)json;
}

/* cJSON needs at least 64 bytes for each value. */
enum {
	VALUES_MAX = 1 << 24,
	DEPTH_MAX = 200
};

/* Returns what is wrong with a text that cJSON would accept, or NULL. *is_open is set if a string,
 * array or object has no end. */
static const char *find_forbidden(const char *text, size_t size, bool *is_open)
{
	bool in_string = false;
	size_t values = 1, depth = 0;

	for (size_t i = 0; i < size;) {
		const unsigned char c = (unsigned char)text[i];
		const size_t length = c < 0x80 ? 1 : utf8_length(text + i, size - i);

		if (!length)
			return "the text is not valid UTF-8";
		if (in_string && c < 0x20)
			return "a string holds a raw control character";
		if (!in_string && c < 0x20 && !strchr("\t\r\n", c))
			return "there is a control character between values";
		if (in_string && c == '\\') {
			if (size - i >= 6 && memcmp(text + i, "\\u0000", 6) == 0)
				return "a string holds a NUL character";
			i++;
		} else if (c == '"') {
			in_string = !in_string;
		} else if (!in_string && (c == ',' || c == '[' || c == '{')) {
			depth += c != ',';
			if (depth > DEPTH_MAX)
				return "arrays and objects are nested more than 200 deep";
			if (++values > VALUES_MAX)
				return "the file has more than 16777216 values";
		} else if (!in_string && depth && (c == ']' || c == '}')) {
			depth--;
		}
		i += length;
	}
	*is_open = in_string || depth;
	return NULL;
}

/* Returns a key that occurs twice, or NULL. */
static const char *find_duplicate(const cJSON *node)
{
	const char *few[64], *found = NULL;
	CLEANUP(memory_free) const char **many = NULL;
	const char **keys = few;
	size_t count = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, node)
	{
		found = item->child ? find_duplicate(item) : NULL;
		if (found)
			return found;
		count++;
	}
	if (!cJSON_IsObject(node) || count < 2)
		return NULL;
	if (count > ARRAY_COUNT(few))
		keys = many = memory_zeroed(count, sizeof(*keys));
	count = 0;
	cJSON_ArrayForEach(item, node) keys[count++] = item->string;
	qsort(keys, count, sizeof(*keys), string_compare);
	for (size_t i = 1; i < count; i++)
		if (strcmp(keys[i - 1], keys[i]) == 0)
			return keys[i];
	return NULL;
}

static double find_largest(const cJSON *node)
{
	double largest = cJSON_IsNumber(node) ? fabs(node->valuedouble) : 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, node) largest = fmax(largest, find_largest(item));
	return largest;
}

/* Returns false on overflow. */
static bool read_digits(const char *digits, uint64_t *value)
{
	const bool negative = *digits == '-';
	char *end;

	errno = 0;
	*value = negative ? (uint64_t)strtoll(digits, &end, 10) : strtoull(digits, &end, 10);
	return !errno && end > digits + negative && !*end;
}

/* Reads integers beyond 2^53 again from the text, because cJSON stores doubles. Nodes have the
 * order of the text. */
static void make_integers_exact(cJSON *node, const char **at)
{
	cJSON *item;

	while (cJSON_IsNumber(node) && !strchr("-0123456789", **at))
		if (*(*at)++ == '"') {
			for (; **at != '"'; ++*at)
				*at += **at == '\\';
			++*at;
		}
	if (cJSON_IsNumber(node)) {
		const size_t length = strspn(*at, "+-0123456789.eE");
		CLEANUP(memory_free) char *digits = string_copy_bytes(*at, length);
		uint64_t value;

		*at += length;
		if (fabs(node->valuedouble) >= 0x1p53 && read_digits(digits, &value)) {
			node->valuestring = digits;
			node->type = cJSON_Raw;
			digits = NULL;
		}
	}
	cJSON_ArrayForEach(item, node) make_integers_exact(item, at);
}

const char *json_skip_space(const char *at, const char *end)
{
	while (at < end && *at && strchr(" \t\r\n", *at))
		at++;
	return at;
}

static enum status syntax_error(const char *text, size_t size, const char *at, bool is_open,
	const char *file, struct error *err)
{
	const char *last = text + size;
	const size_t left = (size_t)(last - at);
	size_t line = 1, column = 1;

	if (json_skip_space(text, last) == last)
		return error_set(err, STATUS_BAD_INPUT, "%s: the file is empty", file);
	for (const char *c = text; c < at; c++) {
		column = *c == '\n' ? 1 : column + 1;
		line += *c == '\n';
	}
	/* the parser stops at the beginning of a value without end */
	if (!left || (strchr("\"[{", *at) && is_open) ||
		(*at == ',' && json_skip_space(at + 1, last) == last))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: line %zu, column %zu: the file is truncated: it ends inside the JSON",
			file, line, column);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: line %zu, column %zu: invalid JSON at \"%.*s\"", file, line, column,
		left < 20 ? (int)left : 20, at);
}

enum status json_parse(
	const char *text, size_t size, const char *file, struct json **root, struct error *err)
{
	bool is_open = false;
	const char *forbidden = find_forbidden(text, size, &is_open);
	const char *duplicate;
	const char *end = NULL;
	cJSON *node;
	double largest = 0;
	enum status status = STATUS_OK;

	*root = NULL;
	if (forbidden) {
		error_set(err, STATUS_BAD_INPUT, "%s: %s", file, forbidden);
		return strstr(forbidden, "16777216") ? error_hint(err, "divide the file")
						     : STATUS_BAD_INPUT;
	}
	node = memchr(text, '\0', size) ? NULL : cJSON_ParseWithLengthOpts(text, size, &end, false);
	if (node)
		end = json_skip_space(end, text + size);
	if (!node || end < text + size) {
		if (end == text + size - 1 && strchr(" \t\r\n", *end))
			end++;
		status = syntax_error(text, size, end ? end : text, is_open, file, err);
	} else if ((duplicate = find_duplicate(node)) != NULL) {
		status = error_set(err, STATUS_BAD_INPUT, "%s: the member \"%s\" is given twice",
			file, duplicate);
	} else if (isinf(largest = find_largest(node))) {
		status = error_set(
			err, STATUS_BAD_INPUT, "%s: a number is too large for a double", file);
	}
	if (status != STATUS_OK) {
		cJSON_Delete(node);
		return status;
	}
	if (largest >= 0x1p53) {
		CLEANUP(memory_free) char *terminated = string_copy_bytes(text, size);
		const char *reading = terminated;

		make_integers_exact(node, &reading);
	}
	*root = (struct json *)node;
	return STATUS_OK;
}

enum status json_load(const char *path, struct json **root, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	TRY(file_read(path, &text, err));
	return json_parse(text_string(&text), text.length, path, root, err);
}

enum status json_load_found(const char *path, struct json **root, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	TRY(file_read_regular(path, &text, err));
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
		return json_invalid(object, err, "the member \"%s\" is missing", key);
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
		json_invalid(&at, err, "unknown member");
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

/* Gets the integer, in two's complement if negative. */
static bool integer_bits(const struct json_at *at, uint64_t *value, bool *negative)
{
	const cJSON *node = json_node(at->node);

	if (json_type(at) != JSON_NUMBER)
		return false;
	if (cJSON_IsRaw(node)) {
		*negative = *node->valuestring == '-';
		return read_digits(node->valuestring, value);
	}
	*negative = node->valuedouble < 0;
	*value = (uint64_t)(int64_t)node->valuedouble;
	/* beyond 2^53 the double may be a neighbouring integer */
	return node->valuedouble == floor(node->valuedouble) && fabs(node->valuedouble) <= 0x1p53;
}

bool json_is_int(const struct json_at *at)
{
	uint64_t value;
	bool negative;

	return integer_bits(at, &value, &negative) && (negative || value <= INT64_MAX);
}

enum status json_get_int(const struct json_at *at, int64_t *value, struct error *err)
{
	uint64_t bits;
	bool negative;

	if (!integer_bits(at, &bits, &negative) || (!negative && bits > INT64_MAX))
		return json_error(at, err, "an integer");
	*value = (int64_t)bits;
	return STATUS_OK;
}

enum status json_get_uint(const struct json_at *at, uint64_t *value, struct error *err)
{
	bool negative;

	return integer_bits(at, value, &negative) && !negative
		       ? STATUS_OK
		       : json_error(at, err, "an integer of at least 0");
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
	if (at->key) {
		text_append_char(text, '.');
		text_append(text, at->key);
	} else {
		text_appendf(text, "[%zu]", at->index);
	}
}

/* `prefix` and `found` surround the text. */
static enum status set_error(const struct json_at *at, struct error *err, const char *prefix,
	const char *format, va_list args, const char *found)
{
	CLEANUP(text_release) struct text path = {0}, words = {0};

	json_path(at, &path);
	text_append_args(&words, format, args);
	return error_set(err, STATUS_BAD_INPUT, "%s: %s: %s%s%s%.60s%s",
		at->file ? at->file : "JSON", path.data, prefix, words.data,
		*found ? ", found " : "", found, strlen(found) > 60 ? "..." : "");
}

enum status json_invalid(const struct json_at *at, struct error *err, const char *text, ...)
{
	va_list args;

	va_start(args, text);
	if (err)
		set_error(at, err, "", text, args, "");
	va_end(args);
	return STATUS_BAD_INPUT;
}

enum status json_error(const struct json_at *at, struct error *err, const char *expectation, ...)
{
	CLEANUP(memory_free) char *found = NULL;
	va_list args;

	if (!err)
		return STATUS_BAD_INPUT;
	found = at->node ? json_print(at->node, false) : string_copy("otherwise");
	va_start(args, expectation);
	set_error(at, err, "expected ", expectation, args, found);
	va_end(args);
	return STATUS_BAD_INPUT;
}

struct json_at json_nearest(const struct json_at *object, const char *key)
{
	struct json_at member = *object;

	(void)json_find(object, key, &member);
	return member;
}
