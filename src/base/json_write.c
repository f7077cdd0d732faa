/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "base/json.h"
#include "base/memory.h"

static const cJSON *json_node(const struct json *json)
{
	return (const cJSON *)json;
}

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

/* Invalid UTF-8 of compilers and drivers becomes '?'. */
static char *valid_utf8(const char *value)
{
	char *copy = string_copy(value);
	size_t length;

	for (char *c = copy; *c; c += length ? length : 1) {
		length = utf8_length(c, 4); /* limited by the terminating NUL */
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

/* Makes the same node as the parser if cJSON prints the number exactly. */
static struct json *new_integer(const char *digits)
{
	return made(strlen(digits) < 15 ? cJSON_CreateNumber(strtod(digits, NULL))
					: cJSON_CreateRaw(digits));
}

struct json *json_new_int(int64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	return new_integer(digits);
}

struct json *json_new_uint(uint64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	return new_integer(digits);
}

struct json *json_new_double(double value)
{
	CLEANUP(text_release) struct text digits = {0};

	if (!isfinite(value))
		return made(cJSON_CreateNull());
	text_append_real(&digits, value);
	return made(cJSON_CreateRaw(digits.data));
}

struct json *json_new_bool(bool value)
{
	return made(cJSON_CreateBool(value));
}

/* cJSON would print only 15 digits. */
static void make_exact(cJSON *node)
{
	struct text digits = {0};
	cJSON *item;

	if (cJSON_IsNumber(node)) {
		text_append_real(&digits, node->valuedouble);
		node->valuestring = text_detach(&digits);
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

char *json_print(const struct json *node, bool pretty)
{
	char *printed =
		pretty ? cJSON_Print(json_node(node)) : cJSON_PrintUnformatted(json_node(node));

	if (!printed)
		memory_exhausted(0);
	return printed;
}
