/* SPDX-License-Identifier: MIT
 *
 * The writing half of base/json.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_node.h"
#include "base/memory.h"

static struct json *made(cJSON *node)
{
	if (!node)
		BUG("cJSON could not make a node");
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

	for (unsigned char *c = (unsigned char *)copy; *c;) {
		size_t more = *c < 0x80                 ? 0
			      : *c >= 0xc2 && *c < 0xe0 ? 1
			      : *c >= 0xe0 && *c < 0xf0 ? 2
			      : *c >= 0xf0 && *c < 0xf5 ? 3
							: 9;
		size_t k = 1;

		while (more < 9 && k <= more && (c[k] & 0xc0) == 0x80)
			k++;
		if (more == 9 || k <= more) {
			*c++ = '?';
			continue;
		}
		c += 1 + more;
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

	/* a plain number where a double is exact, so that it reads back as any other */
	if (value >= -((int64_t)1 << 53) && value <= ((int64_t)1 << 53)) {
		snprintf(digits, sizeof(digits), "%lld", (long long)value);
		return made(strlen(digits) < 15 ? cJSON_CreateNumber((double)value)
						: cJSON_CreateRaw(digits));
	}
	snprintf(digits, sizeof(digits), "%lld", (long long)value);
	return made(cJSON_CreateRaw(digits));
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

struct json *json_copy(const struct json *node)
{
	return made(cJSON_Duplicate(json_node(node), true));
}

void json_put(struct json *object, const char *key, struct json *child)
{
	cJSON *parent = (cJSON *)object;

	if (cJSON_GetObjectItemCaseSensitive(parent, key))
		cJSON_ReplaceItemInObjectCaseSensitive(parent, key, (cJSON *)child);
	else
		cJSON_AddItemToObject(parent, key, (cJSON *)child);
}

void json_put_string(struct json *object, const char *key, const char *value)
{
	json_put(object, key, json_new_string(value));
}

void json_put_int(struct json *object, const char *key, int64_t value)
{
	json_put(object, key, json_new_int(value));
}

void json_put_double(struct json *object, const char *key, double value)
{
	json_put(object, key, json_new_double(value));
}

void json_put_bool(struct json *object, const char *key, bool value)
{
	json_put(object, key, json_new_bool(value));
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
	char *copy;

	if (!printed)
		BUG("cJSON could not print");
	copy = string_copy(printed);
	cJSON_free(printed);
	return copy;
}

bool json_same(const struct json *a, const struct json *b)
{
	char *x = json_print(a, false), *y = json_print(b, false);
	bool same = strcmp(x, y) == 0;

	free(x);
	free(y);
	return same;
}
