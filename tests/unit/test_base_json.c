#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static enum status parse(const char *text, struct json **root, struct error *err)
{
	return json_parse(text, strlen(text), "t.json", root, err);
}

TEST(what_cjson_lets_pass_is_refused)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"{\"a\":1,\"a\":2}", "the member \"a\" is given twice"},
		{"[{\"x\":{\"b\":1,\"c\":0,\"b\":2}}]", "the member \"b\" is given twice"},
		{"{} x", "valid JSON"},
		{"{\"a\":1e999}", "too large for a double"},
		{"\"\\u0000x\"", "NUL"},
		{"\"\xff\"", "valid UTF-8"},
		{"\"\xc3\"", "valid UTF-8"},
		{"\"a\tb\"", "control character"},
		{"", "the file is empty"},
		{"{\"a\":", "line 1, column"},
		{"[1,\n2,\nx]", "line 3, column"},
	};
	struct error err = {0};
	struct json *root;
	struct json_at at;
	int64_t value;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_fails(parse(cases[i].text, &root, &err), STATUS_BAD_INPUT, cases[i].message);
		assert_null(root);
	}
	assert_fails(
		json_parse("[1]\0]", 5, "t.json", &root, &err), STATUS_BAD_INPUT, "valid JSON");
	/* bytes behind the text's end are not part of it */
	assert_fails(json_parse(" \n[1]", 2, "t.json", &root, &err), STATUS_BAD_INPUT, "is empty");
	assert_ok(json_parse("90071992547409939", 16, "t.json", &root, &err));
	at = json_root(root, "t.json");
	assert_ok(json_get_int(&at, &value, &err));
	assert_true(value == 9007199254740993);
	json_free(root);
}

TEST(nesting_is_bounded)
{
	char deep[4001];
	struct error err = {0};
	struct json *root;

	memset(deep, '[', 4000);
	deep[4000] = '\0';
	assert_fails(parse(deep, &root, &err), STATUS_BAD_INPUT, "nested more than 200 deep");
}

TEST(numbers_survive_a_round_trip)
{
	static const double doubles[] = {0.1, 1.0 / 3, 1e-300, 123456789.125, 0x1p53, 5e22, -2.5};
	static const int64_t integers[] = {0, -1, 4096, (int64_t)1 << 53, INT64_MAX, INT64_MIN};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
		struct json *node = json_new_double(doubles[i]), *again;
		char *text = json_print(node, false);
		struct json_at at;
		double value;

		assert_ok(parse(text, &again, &err));
		at = json_root(again, "t.json");
		assert_ok(json_get_double(&at, &value, &err));
		assert_memory_equal(&value, &doubles[i], sizeof(value));
		free(text);
		json_free(node);
		json_free(again);
	}
	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++) {
		struct json *node = json_new_int(integers[i]);
		struct json_at at = json_root(node, "t.json");
		int64_t value;

		assert_ok(json_get_int(&at, &value, &err));
		assert_true(value == integers[i]);
		json_free(node);
	}
}

/* cJSON by itself would read these numbers through a double. */
TEST(integers_of_64_bits_survive_reading_and_writing)
{
	static const char text[] =
		"{\"a\\\"9223372036854775806\":\"-1 \\\\\",\"list\":[9007199254740993,true,"
		"-9223372036854775808,{\"x\":1152921504606846977}],\"max\":"
		"9223372036854775807,\"uint\":18446744073709551615}";
	static const char *const refused[] = {
		"18446744073709551616", "-9223372036854775809", "1e19", "9007199254740993.5"};
	struct error err = {0};
	struct json *root, *copy;
	struct json_at top, list, item, max;
	uint64_t bits;
	int64_t value;
	char *printed;

	assert_ok(parse(text, &root, &err));
	copy = json_copy(root);
	top = json_root(copy, "");
	assert_ok(json_member(&top, "list", &list, &err));
	item = json_item(&list, 0);
	assert_ok(json_get_int(&item, &value, &err));
	assert_true(value == 9007199254740993);
	item = json_item(&list, 2);
	assert_ok(json_get_int(&item, &value, &err));
	assert_true(value == INT64_MIN);
	assert_int_equal(json_get_uint(&item, &bits, &err), STATUS_BAD_INPUT);
	assert_ok(json_member(&top, "max", &max, &err));
	assert_ok(json_get_int(&max, &value, &err));
	assert_true(value == INT64_MAX);
	assert_ok(json_member(&top, "uint", &max, &err));
	assert_ok(json_get_uint(&max, &bits, &err));
	assert_true(bits == UINT64_MAX && !json_is_int(&max));
	assert_int_equal(json_get_int(&max, &value, &err), STATUS_BAD_INPUT);
	printed = json_print(copy, false);
	assert_string_equal(printed, text);
	free(printed);
	json_free(copy);
	json_free(root);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_ok(parse(refused[i], &root, &err));
		top = json_root(root, "");
		assert_int_equal(json_get_int(&top, &value, NULL), STATUS_BAD_INPUT);
		assert_int_equal(json_get_uint(&top, &bits, NULL), STATUS_BAD_INPUT);
		json_free(root);
	}
}

TEST(not_a_number_is_null)
{
	struct json *node = json_new_double(NAN);
	char *text = json_print(node, false);

	assert_string_equal(text, "null");
	free(text);
	json_free(node);
}

TEST(messages_name_the_place)
{
	static const char *const keys[] = {"launches", "name", NULL};
	struct error err = {0};
	struct json *root;
	struct json_at top, launches, launch, grid;
	int64_t number;

	assert_ok(parse("{\"launches\":[{},{\"grid\":\"x\"}],\"nmae\":1}", &root, &err));
	top = json_root(root, "f.json");
	assert_ok(json_member(&top, "launches", &launches, &err));
	launch = json_item(&launches, 1);
	assert_ok(json_member(&launch, "grid", &grid, &err));
	assert_fails(json_get_int(&grid, &number, &err), STATUS_BAD_INPUT,
		"f.json: $.launches[1].grid: expected an integer, found \"x\"");
	assert_fails(json_member(&launch, "block", &grid, &err), STATUS_BAD_INPUT,
		"f.json: $.launches[1]: the member \"block\" is missing");
	assert_fails(json_expect_keys(&top, keys, &err), STATUS_BAD_INPUT, "$.nmae");
	assert_string_equal(err.hint, "did you mean \"name\"?");
	json_free(root);
}

TEST(keys_are_case_sensitive_and_ordered)
{
	struct json *object = json_new_object();
	struct json_at at = json_root(object, "t.json"), member;
	char *text;

	json_put_int(object, "M", 1);
	json_put_int(object, "m", 2);
	json_put_int(object, "B", 3);
	json_put_int(object, "M", 4);
	assert_false(json_find(&at, "b", &member));
	text = json_print(object, false);
	assert_string_equal(text, "{\"M\":4,\"m\":2,\"B\":3}");
	free(text);
	json_free(object);
}

TEST(strings_that_are_not_utf8_are_repaired_when_written)
{
	struct json *node = json_new_string("a\xff"
					    "b\xc3");
	char *text = json_print(node, false);

	assert_string_equal(text, "\"a?b?\"");
	free(text);
	json_free(node);
}

/* Data read from a file is written back unchanged. */
TEST(copies_are_exact)
{
	static const char text[] = "{\"a\":[-9007199254740991,4503599627370497,0.1,"
				   "0.30000000000000004,1e-300,7,1.2345678901234568e+30,true]}";
	struct error err = {0};
	struct json *root, *copy, *again;
	struct json_at at, list, item = {0};
	int64_t integer;
	char *printed;

	assert_ok(parse(text, &root, &err));
	copy = json_copy(root);
	printed = json_print(copy, false);
	assert_string_equal(printed, text);
	at = json_root(copy, "copy");
	assert_ok(json_member(&at, "a", &list, &err));
	assert_true(json_next(&list, &item));
	assert_ok(json_get_int(&item, &integer, &err));
	assert_true(integer == -9007199254740991);
	again = json_copy(copy);
	free(printed);
	printed = json_print(again, false);
	assert_string_equal(printed, text);
	list = json_root(NULL, "nothing");
	item = (struct json_at){0};
	assert_false(json_next(&list, &item));
	assert_int_equal(json_count(&list), 0);
	free(printed);
	json_free(again);
	json_free(copy);
	json_free(root);
}
