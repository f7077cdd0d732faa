/* SPDX-License-Identifier: MIT
 *
 * Reading a list element by element gives the same result or the same error as reading the whole
 * text.
 */
#include "unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_list.h"
#include "base/memory.h"

/* Reads the elements, joins them to a list again and prints it; returns NULL if the text is
 * refused. */
static char *read_elements(const char *data, size_t size, struct error *err)
{
	CLEANUP(json_list_release) struct json_list list = {0};
	CLEANUP(json_release) struct json *root = NULL;
	struct json_at element, member, at;
	struct json *elements = json_new_array();
	size_t count = 0;
	enum status status = json_list_open(data, size, "x", "list", &list, err);

	while (status == STATUS_OK && json_list_next(&list, &element, &status, err)) {
		assert_int_equal(element.index, count++);
		json_push(elements, json_copy(element.node));
	}
	root = status == STATUS_OK ? json_copy(list.root.node) : NULL;
	at = json_root(root, "x");
	if (count && root && json_find(&at, "list", &member))
		json_put(root, "list", elements);
	else
		json_free(elements);
	return root ? json_print(root, false) : NULL;
}

static char *read_whole(const char *data, size_t size, struct error *err)
{
	CLEANUP(json_release) struct json *root = NULL, *copy = NULL;

	if (json_parse(data, size, "x", &root, err) != STATUS_OK)
		return NULL;
	copy = json_copy(root);
	return json_print(copy, false);
}

static void compare(const char *data, size_t size)
{
	struct error err = {0}, other = {0};
	CLEANUP(memory_free)
	char *exact = string_copy_bytes(
		data, size); /* an exact copy, so that sanitizers detect reads behind it */
	CLEANUP(memory_free) char *elements = read_elements(exact, size, &err);
	CLEANUP(memory_free) char *whole = read_whole(exact, size, &other);

	if (!elements != !whole || (whole && strcmp(elements, whole) != 0) ||
		strcmp(err.message, other.message) != 0)
		fail_msg("%.*s: by element %s (%s), whole %s (%s)", (int)size, data,
			elements ? elements : "refused", err.message, whole ? whole : "refused",
			other.message);
}

/* Tests every text that differs in one byte from a valid one. */
TEST(damaged_texts)
{
	static const char *const good[] = {
		"{\"a\":[1,{\"list\":[9]}],\"list\" : [ {\"x\":\"]}\\\"\\\\\"},[],-1.5e3 ,\"s\", "
		"true,9007199254740993 ],\n\"b\":{\"c\":null}}\n",
		"{\"list\":[]}",
		"{\"list\":[[[]],{\"a\":{}}]}",
		"{\"list\":{\"a\":1},\"b\":[2]}",
		"[{\"list\":[1,2]}]",
		"{\"list\":[1],\"list\":[2]}",
		"{\"list\":[1e999]}",
		"{\"b\":\"list\",\"c\":[1]}",
	};
	static const char bytes[] = "{}[],:\"\\ 0x\x01\xff";

	for (size_t g = 0; g < ARRAY_COUNT(good); g++) {
		const size_t size = strlen(good[g]);
		char changed[256];

		compare(good[g], size);
		for (size_t i = 0; i < size; i++) {
			compare(good[g], i);
			memcpy(changed, good[g], i);
			memcpy(changed + i, good[g] + i + 1, size - i - 1);
			compare(changed, size - 1);
			for (size_t b = 0; b < sizeof(bytes); b++) { /* including NUL */
				changed[i] = bytes[b];
				memcpy(changed + i + 1, good[g] + i + 1, size - i - 1);
				compare(changed, size);
			}
		}
	}
}

/* Messages about an element include its index. */
TEST(elements_know_their_path)
{
	static const char text[] = "{\"list\":[1,{\"a\":2}]}";
	CLEANUP(json_list_release) struct json_list list = {0};
	struct json_at element, member;
	struct error err = {0};
	enum status status;

	assert_ok(json_list_open(text, strlen(text), "x.json", "list", &list, &err));
	assert_true(json_list_next(&list, &element, &status, &err));
	assert_true(json_list_next(&list, &element, &status, &err));
	assert_true(json_find(&element, "a", &member));
	json_error(&member, &err, "a string");
	assert_string_equal(err.message, "x.json: $.list[1].a: expected a string, found 2");
	assert_false(json_list_next(&list, &element, &status, &err));
	assert_ok(status);
}
