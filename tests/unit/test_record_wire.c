/* layer: base */
#include "record_fixture.h"

#include "base/record_wire.h"

/* ---- bytes ---- */
static void packed_bytes_give_the_same_struct(void **state)
{
	struct all all, back = {0}, copy = {0};
	struct text bytes = {0};
	struct json *tree;
	struct error err = {0};

	(void)state;
	read_all(&all, &tree);
	text_append_bytes(&all.blob, "\0\1\2", 3);
	all.seed = UINT64_MAX; /* JSON has no such number */
	record_pack(&all_record, &all, &bytes);
	assert_ok(
		record_unpack(&all_record, bytes.data, bytes.length, "worker", &back, NULL, &err));
	assert_true(back.seed == UINT64_MAX && isnan(back.last.y) && back.has_last);
	assert_true(back.borrowed > bytes.data && back.borrowed < bytes.data + bytes.length);
	assert_string_equal(back.borrowed, "kept");
	assert_int_equal(back.blob.length, 3);
	assert_memory_equal(back.blob.data, "\0\1\2", 3);
	assert_string_equal(back.amounts[0], "12");
	assert_true(record_equal(&all_record, &all, &back));
	back.points[0].x++;
	assert_false(record_equal(&all_record, &all, &back));
	record_copy(&all_record, &all, &copy);
	assert_true(record_equal(&all_record, &all, &copy));
	assert_ptr_equal(copy.borrowed, all.borrowed);
	assert_ptr_not_equal(copy.text, all.text);
	record_release(&all_record, &all);
	assert_string_equal(copy.text, "a \"b\"");
	record_release(&all_record, &copy);
	record_release(&all_record, &back);
	text_release(&bytes);
	json_free(tree);
}

/* No prefix of the bytes is a record, more bytes are none either, and no changed byte makes the
 * reader leave its input (the sanitizers watch). */
static void hostile_bytes_are_refused(void **state)
{
	struct all all, back = {0};
	struct text bytes = {0};
	struct json *tree;
	struct error err = {0};

	(void)state;
	read_all(&all, &tree);
	record_pack(&all_record, &all, &bytes);
	for (size_t i = 0; i < bytes.length; i++) {
		char *cut = memory_copy(bytes.data, i ? i : 1);

		assert_fails(record_unpack(&all_record, cut, i, "worker", &back, NULL, &err),
			STATUS_FAILED, "worker: expected");
		assert_null(back.text);
		free(cut);
	}
	for (size_t i = 0; i < bytes.length; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			char *changed = memory_copy(bytes.data, bytes.length);

			changed[i] = (char)(changed[i] ^ (1 << bit));
			if (record_unpack(&all_record, changed, bytes.length, "worker", &back, NULL,
				    &err) == STATUS_OK)
				record_release(&all_record, &back);
			assert_null(back.points);
			free(changed);
		}
	}
	text_append_char(&bytes, 0);
	assert_fails(
		record_unpack(&all_record, bytes.data, bytes.length, "worker", &back, NULL, &err),
		STATUS_FAILED, "more bytes");
	record_release(&all_record, &all);
	text_release(&bytes);
	json_free(tree);
}

static const struct record_member limited_members[] = {
	RECORD_VALUE(struct all, yes, "yes", ""),
	RECORD_ENUM(struct all, colour, colours, "colour", ""),
	RECORD_FLAGS(struct all, bits, flags, "flags", ""),
	RECORD_VALUE(struct all, small, "small", "", .low = 1, .high = 4),
	RECORD_VALUE(struct all, time_us, "time_us", "", .low = 0, .high = INFINITY),
};
static RECORD_DEFINE(struct all, limited_record, limited_members, .name = "values");

static void impossible_packed_values_are_refused(void **state)
{
	struct all all = {.yes = true, .colour = BLUE, .bits = 3, .small = 4, .time_us = 0}, back;
	struct text bytes = {0};
	struct error err = {0};
	const struct {
		size_t at;
		int value;
		const char *member;
	} cases[] = {{0, 2, "yes"}, {1, 3, "colour"}, {5, 4, "flags"}, {9, 5, "small"},
		{20, 0x80, NULL}, {20, 0xff, "time_us"}};

	(void)state;
	record_pack(&limited_record, &all, &bytes);
	assert_int_equal(bytes.length, 21);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *changed = memory_copy(bytes.data, bytes.length);

		changed[cases[i].at] = (char)cases[i].value;
		back = (struct all){0};
		if (cases[i].member)
			assert_fails(record_unpack(&limited_record, changed, bytes.length, "worker",
					     &back, NULL, &err),
				STATUS_FAILED, cases[i].member);
		else /* minus zero */
			assert_ok(record_unpack(&limited_record, changed, bytes.length, "worker",
				&back, NULL, &err));
		free(changed);
	}
	text_release(&bytes);
}

static void the_layout_tells_tables_apart(void **state)
{
	struct text point = {0}, figure = {0}, again = {0};

	(void)state;
	record_layout(&point_record, &point);
	record_layout(&point_record, &again);
	record_layout(&figure_record, &figure);
	assert_string_equal(text_string(&point), text_string(&again));
	assert_string_not_equal(text_string(&point), text_string(&figure));
	assert_non_null(strstr(text_string(&point), " x:"));
	text_release(&point);
	text_release(&again);
	text_release(&figure);
}

/* ---- schema and columns ---- */
static void assert_schema(const struct json *schema, const char *const *path, const char *expected)
{
	struct json_at at[8] = {json_root(schema, "")};
	char *printed;
	size_t depth = 0;

	for (; path[depth]; depth++)
		if (!json_find(&at[depth], path[depth], &at[depth + 1]))
			fail_msg("no %s", path[depth]);
	printed = json_print(at[depth].node, false);
	assert_string_equal(printed, expected);
	free(printed);
}

static void the_schema_says_what_the_reader_does(void **state)
{
	static const struct {
		const char *member, *schema;
	} cases[] = {
		{"format", "{\"const\":\"test.all/1\",\"description\":\"what this is\"}"},
		{"yes", "{\"type\":\"boolean\"}"},
		{"small", "{\"type\":\"integer\",\"minimum\":-5,\"maximum\":100}"},
		{"positive", "{\"type\":\"integer\",\"minimum\":0}"},
		{"time_us", "{\"type\":[\"number\",\"null\"],\"minimum\":0}"},
		{"digits",
			"{\"type\":\"string\",\"maxLength\":4,\"description\":\"at most four\"}"},
		{"colour",
			"{\"enum\":[\"red\",\"green\",\"blue\"],\"description\":\"of the thing\"}"},
		{"flags", "{\"type\":\"array\",\"items\":{\"enum\":[\"spills\",\"throttled\"]},"
			  "\"uniqueItems\":true,\"description\":\"what was seen\"}"},
		{"any", "{}"},
		{"at", "{\"$ref\":\"#/definitions/point\",\"description\":\"where\"}"},
		{"samples", "{\"type\":\"array\",\"items\":{\"type\":\"number\",\"minimum\":0},"
			    "\"maxItems\":6}"},
		{"points", "{\"type\":\"array\",\"items\":{\"$ref\":\"#/definitions/point\"},"
			   "\"minItems\":1}"},
		{"settings",
			"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}"},
		{"grid", "{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0},"
			 "\"minItems\":3,\"maxItems\":3,\"description\":\"x, y, z\"}"},
		{"rates", "{\"type\":\"object\",\"propertyNames\":{\"enum\":[\"tensor\",\"fp32\"]},"
			  "\"additionalProperties\":{\"type\":\"number\"},\"description\":\"by "
			  "pipe\"}"},
		{"expression", "{\"$ref\":\"#/definitions/expression\"}"},
	};
	struct json *schema = record_schema(&all_record, "test.all/1: one of everything");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_schema(schema, (const char *const[]){"properties", cases[i].member, NULL},
			cases[i].schema);
	assert_schema(schema, (const char *const[]){"additionalProperties", NULL}, "false");
	assert_schema(schema, (const char *const[]){"definitions", "point", NULL},
		"{\"type\":\"object\",\"description\":\"a place\",\"properties\":{\"x\":{\"type\":"
		"\"integer\",\"description\":\"across\"},\"y\":{\"type\":[\"number\",\"null\"],"
		"\"description\":\"down\"}},\"required\":[\"x\",\"y\"],\"additionalProperties\":"
		"false}");
	assert_schema(schema, (const char *const[]){"definitions", "expression", NULL},
		"{\"type\":[\"string\",\"number\"]}");
	json_free(schema);
	schema = record_schema(&newer_record, "newer");
	assert_schema(schema, (const char *const[]){NULL},
		"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"newer\","
		"\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":"
		"\"integer\"}},\"required\":[\"a\"]}");
	json_free(schema);
}

static void columns_are_the_single_values(void **state)
{
	struct all all;
	struct json *tree;
	struct text header = {0}, row = {0};

	(void)state;
	read_all(&all, &tree);
	record_csv_header(&all_record, &header);
	all.has_last = false;
	record_csv_row(&all_record, &all, &row);
	assert_string_equal(text_string(&header),
		"yes,small,positive,wide,seed,bytes,single,time_us,text,borrowed,digits,colour,"
		"unit,flags,at.x,at.y,last.x,last.y,middle.x,middle.y,x,y");
	assert_string_equal(text_string(&row),
		"true,-5,4294967295,-90071992547409,90071992547409,,0.5,,\"a \"\"b\"\"\",kept,"
		"1234,blue,row,throttled,1,0.1,,,3,4,9,8.25");
	record_release(&all_record, &all);
	text_release(&header);
	text_release(&row);
	json_free(tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packed_bytes_give_the_same_struct),
		cmocka_unit_test(hostile_bytes_are_refused),
		cmocka_unit_test(impossible_packed_values_are_refused),
		cmocka_unit_test(the_layout_tells_tables_apart),
		cmocka_unit_test(the_schema_says_what_the_reader_does),
		cmocka_unit_test(columns_are_the_single_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
