/* SPDX-License-Identifier: MIT
 *
 * A file read element by element is the file read whole, or is refused with the same words.
 */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_elements.h"
#include "base/memory.h"
#include "base/random.h"

static void collect(const struct json_at *element, void *context)
{
	json_push(context, json_copy(element->node));
}

/* The file with its list put together again, printed; NULL: refused. */
static char *read_elements(const char *path, struct error *err)
{
	struct json *list = json_new_array();
	const struct json_elements elements = {.list = "list", .visit = collect, .context = list};
	struct json *root = NULL, *copy;
	struct json_at at, member;
	char *text = NULL;

	if (json_load_elements(path, &elements, &root, err) == STATUS_OK) {
		copy = json_copy(root);
		at = json_root(copy, path);
		if (json_find(&at, "list", &member) && json_type(&member) == JSON_ARRAY &&
			json_count(&member) == 0) {
			json_put(copy, "list", list);
			list = NULL;
		}
		text = json_print(copy, false);
		json_free(copy);
	}
	json_free(list);
	json_free(root);
	return text;
}

static char *read_whole(const char *path, struct error *err)
{
	struct json *root = NULL, *copy;
	char *text = NULL;

	if (json_load(path, &root, err) == STATUS_OK) {
		copy = json_copy(root);
		text = json_print(copy, false);
		json_free(copy);
	}
	json_free(root);
	return text;
}

/* file_write() waits for the disk, and so does closing a file that was cut to nothing. */
static void write_data(const char *path, const char *data, size_t size)
{
	FILE *file;

	unlink(path);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static void compare(const char *path, const char *data, size_t size)
{
	struct error err = {0}, other = {0};
	char *elements, *whole;

	write_data(path, data, size);
	elements = read_elements(path, &err);
	whole = read_whole(path, &other);
	if (!elements != !whole || (whole && strcmp(elements, whole) != 0) ||
		strcmp(err.message, other.message) != 0)
		fail_msg("%.*s: by element %s (%s), whole %s (%s)", (int)size, data,
			elements ? elements : "refused", err.message, whole ? whole : "refused",
			other.message);
	free(elements);
	free(whole);
}

static char *scratch_file(void)
{
	char *path = string_copy(TEST_SCRATCH "/tiletune-elements-XXXXXX");
	const int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return path;
}

/* Every file that differs from a good one in a byte. */
TEST(damaged_files)
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
	char *path = scratch_file();

	for (size_t g = 0; g < ARRAY_COUNT(good); g++) {
		const size_t size = strlen(good[g]);
		char changed[256];

		compare(path, good[g], size);
		for (size_t i = 0; i < size; i++) {
			compare(path, good[g], i);
			memcpy(changed, good[g], i);
			memcpy(changed + i, good[g] + i + 1, size - i - 1);
			compare(path, changed, size - 1);
			for (size_t b = 0; b < sizeof(bytes); b++) { /* NUL, too */
				changed[i] = bytes[b];
				memcpy(changed + i + 1, good[g] + i + 1, size - i - 1);
				compare(path, changed, size);
			}
		}
	}
	unlink(path);
	free(path);
}

/* Elements of all lengths, those beyond the pieces that files are read by among them. */
TEST(long_files)
{
	static const char *const parts[] = {"[\"]\",{}]", "\"a\\\\\\\"b[\"", "{\"k\":[1,2,{}]}",
		"7", "\"\xc3\xa4\"", "[[[[]]]]", "false"};
	char *path = scratch_file();
	struct random_state random;

	random_seed(&random, 1);
	for (size_t file = 0; file < 12; file++) {
		struct text text = {0};
		const size_t longest = (size_t)1 << (2 * file + random_below(&random, 2));
		size_t count = 1 + 300000 / (longest + 30);

		text_append(&text, "{\"before\":[1,2],\"list\":[");
		for (size_t i = 0; i < count && text.length < 500000; i++) {
			size_t repeats = 1 + random_below(&random, longest) % 50000;

			text_append(&text, i ? ",\n\t[0" : "[0");
			while (repeats--)
				text_appendf(&text, ", %s",
					parts[random_below(&random, ARRAY_COUNT(parts))]);
			text_append(&text, "]");
		}
		text_append(&text, "], \"after\": {}}");
		compare(path, text.data, text.length);
		compare(path, text.data, text.length - 1);
		text_release(&text);
	}
	unlink(path);
	free(path);
}

/* Of a large file the place in the list is said. */
TEST(large_file)
{
	char *path = scratch_file();
	struct text text = {0};
	struct error err = {0};

	text_append(&text, "{\"list\":[1,");
	for (size_t i = 0; i < 17 << 20; i++)
		text_append_char(&text, ' ');
	text_append(&text, "{\"a\" 1}]}");
	assert_ok(file_write(path, text.data, text.length, &err));
	assert_null(read_elements(path, &err));
	assert_non_null(strstr(err.message, ": $.list[1]: line 1, column 6: expected valid JSON"));
	text_release(&text);
	unlink(path);
	free(path);
}

static bool wants(const struct json_text *element, void *context)
{
	(void)context;
	return !json_text_is(element, "no");
}

TEST(unwanted_elements_are_passed_over)
{
	static const char text[] = "{\"list\":[\"no\",1,\"no\",\"yes\",\"no\"]}";
	char *path = scratch_file(), *printed;
	struct json *list = json_new_array(), *root = NULL;
	const struct json_elements elements = {
		.list = "list", .wants = wants, .visit = collect, .context = list};
	struct error err = {0};

	assert_ok(file_write(path, text, strlen(text), &err));
	assert_ok(json_load_elements(path, &elements, &root, &err));
	printed = json_print(list, false);
	assert_string_equal(printed, "[1,\"yes\"]");
	free(printed);
	json_free(list);
	json_free(root);
	unlink(path);
	free(path);
}

/* Members and elements of text, as the parser finds them. */
TEST(text_in_turn)
{
	static const char text[] =
		" {\"a\" : [1, \"]\"],\"b\":-1.5e3 , \"c\":{\"d\":\"}\"}, \"e\":\"\\\"\"}";
	static const char *const keys[] = {"a", "b", "c", "e"};
	static const char *const values[] = {"[1, \"]\"]", "-1.5e3", "{\"d\":\"}\"}", "\"\\\"\""};
	struct json_text rest = {text + 1, text + strlen(text)}, key, value;
	size_t i = 0;

	while (json_text_next(&rest, &key, &value)) {
		assert_true(i < ARRAY_COUNT(keys));
		assert_true(json_text_is(&key, keys[i]));
		assert_int_equal(value.end - value.at, strlen(values[i]));
		assert_memory_equal(value.at, values[i], strlen(values[i]));
		i++;
	}
	assert_int_equal(i, ARRAY_COUNT(keys));
	rest = (struct json_text){"7", "7" + 1};
	assert_false(json_text_next(&rest, &key, &value));
}
