/* SPDX-License-Identifier: MIT
 *
 * Reads and writes JSON; only base includes cJSON.
 *
 * json_parse() also refuses input that cJSON accepts: duplicate keys, trailing text, invalid UTF-8,
 * NUL in strings, non-finite numbers, more than 16777216 values or 200 levels. A `struct json_at`
 * is a node and its path, for messages such as "file: $.path[3].to: expected an integer, found a
 * string". It borrows the tree and its parent cursor.
 *
 * A tree owns its children. 64-bit integers and doubles are written exactly.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

struct json;

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_at {
	const struct json *node;
	const char *file;             /* borrowed */
	const struct json_at *parent; /* NULL at the root */
	const char *key;              /* key in the parent object, else NULL */
	size_t index;
};

/* ---- reading ---- */
enum status json_parse(
	const char *text, size_t size, const char *file, struct json **root, struct error *err);
enum status json_load(const char *path, struct json **root, struct error *err);
/* For a file that the user did not name: refuses pipes and devices, which could block forever. */
enum status json_load_found(const char *path, struct json **root, struct error *err);
void json_free(struct json *root); /* may be NULL */
static inline void json_release(struct json **root)
{
	json_free(*root);
	*root = NULL;
}
struct json_at json_root(const struct json *root, const char *file);
const char *json_skip_space(const char *at, const char *end);

enum json_type json_type(const struct json_at *at);
size_t json_count(const struct json_at *at); /* members or elements; 0 for other types */
/* index must be less than json_count(). */
struct json_at json_item(const struct json_at *at, size_t index);
/* struct json_at item = {0}; while (json_next(&at, &item)) */
bool json_next(const struct json_at *at, struct json_at *item);
bool json_find(const struct json_at *object, const char *key, struct json_at *member);
enum status json_member(
	const struct json_at *object, const char *key, struct json_at *member, struct error *err);

enum status json_expect(const struct json_at *at, enum json_type type, struct error *err);
/* Refuses members that are not in names (NULL-terminated), and suggests the nearest name. */
enum status json_expect_keys(
	const struct json_at *object, const char *const *names, struct error *err);

enum status json_get_string(const struct json_at *at, const char **value, struct error *err);
/* Accepts any int64. A number with a point or an exponent must be an integer of at most 2^53. */
enum status json_get_int(const struct json_at *at, int64_t *value, struct error *err);
enum status json_get_uint(const struct json_at *at, uint64_t *value, struct error *err);
enum status json_get_double(const struct json_at *at, double *value, struct error *err);
enum status json_get_bool(const struct json_at *at, bool *value, struct error *err);
bool json_is_int(const struct json_at *at); /* whether it is an integer that fits int64 */

/* Returns NULL if the member is missing or is not a string. */
static inline const char *json_string_of(const struct json_at *object, const char *key)
{
	struct json_at member;
	const char *string = NULL;

	if (json_find(object, key, &member))
		(void)json_get_string(&member, &string, NULL);
	return string;
}

static inline enum status json_member_string(
	const struct json_at *object, const char *key, const char **value, struct error *err)
{
	struct json_at at;
	const enum status status = json_member(object, key, &at, err);

	return status == STATUS_OK ? json_get_string(&at, value, err) : status;
}

/* Sets an error at this place: "file: $.path: expected <expectation>, found <actual value>". */
enum status json_error(const struct json_at *at, struct error *err, const char *expectation, ...)
	PRINTF_LIKE(3, 4);
/* Sets an error at this place: "file: $.path: <text>". */
enum status json_invalid(const struct json_at *at, struct error *err, const char *text, ...)
	PRINTF_LIKE(3, 4);
/* Returns a member, or the object if it has no member of that name. */
struct json_at json_nearest(const struct json_at *object, const char *key);
/* Set the error at json_nearest(). */
#define json_error_of(object, key, ...)                                                            \
	json_error((const struct json_at[]){json_nearest(object, key)}, __VA_ARGS__)
#define json_invalid_of(object, key, ...)                                                          \
	json_invalid((const struct json_at[]){json_nearest(object, key)}, __VA_ARGS__)
void json_path(const struct json_at *at, struct text *text);

/* Checks the member "format", e.g. "tiletune.tuned/1". */
static inline enum status json_expect_format(
	const struct json_at *root, const char *format, struct error *err)
{
	struct json_at at;
	const char *found;

	if (json_member(root, "format", &at, err) != STATUS_OK ||
		json_get_string(&at, &found, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return strcmp(found, format) == 0 ? STATUS_OK : json_error(&at, err, "\"%s\"", format);
}

/* ---- writing ---- */
struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_string(const char *value); /* NULL gives JSON null */
struct json *json_new_int(int64_t value);
struct json *json_new_uint(uint64_t value);
struct json *json_new_double(double value); /* NaN and infinity give JSON null */
struct json *json_new_bool(bool value);
struct json *json_copy(const struct json *node);
/* Replaces an existing member, and takes the child. */
void json_put(struct json *object, const char *key, struct json *child);
void json_push(struct json *array, struct json *child);
char *json_print(const struct json *node, bool pretty); /* without newline; caller frees */
/* Appends the JSON with a newline. */
static inline void json_append(const struct json *node, bool pretty, struct text *text)
{
	char *printed = json_print(node, pretty);

	text_appendf(text, "%s\n", printed);
	free(printed);
}

static inline void json_put_string(struct json *object, const char *key, const char *value)
{
	json_put(object, key, json_new_string(value));
}

static inline void json_put_int(struct json *object, const char *key, int64_t value)
{
	json_put(object, key, json_new_int(value));
}

static inline void json_put_double(struct json *object, const char *key, double value)
{
	json_put(object, key, json_new_double(value));
}

static inline void json_put_bool(struct json *object, const char *key, bool value)
{
	json_put(object, key, json_new_bool(value));
}

#endif
