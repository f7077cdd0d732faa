#include "unit/unit.h"
#include "record_fixture.h"

#include "record/record_write.h"

static void assert_json(const struct record *record, const void *value, const char *text)
{
	struct json *json = record_to_json(record, value);
	char *printed = json_print(json, false);

	assert_string_equal(printed, text);
	free(printed);
	json_free(json);
}

TEST(what_is_read_is_in_the_struct)
{
	struct all all;
	struct json *tree;

	read_all(&all, &tree);
	assert_true(all.yes && all.is_row && all.has_last);
	assert_int_equal(all.small, -5);
	assert_int_equal(all.positive, UINT32_MAX);
	assert_true(all.seed == UINT64_MAX);
	assert_int_equal(all.bytes, 7);
	assert_true(isinf(all.time_us) && isnan(all.last.y));
	assert_int_equal(all.last.x, INT32_MIN);
	assert_string_equal(all.text, "a \"b\"");
	assert_string_equal(all.digits, "1234");
	assert_int_equal(all.colour, BLUE);
	assert_int_equal(all.bits, 2);
	assert_true(all.middle->y == 4 && all.flat.y == 8.25);
	assert_true(all.sample_count == 2 && all.samples[1] == 2);
	assert_true(all.point_count == 1 && all.points[0].x == 5);
	assert_string_equal(all.names[1], "bob");
	assert_null(all.names[2]);
	assert_string_equal(all.settings[1].name, "BN");
	assert_int_equal(all.settings[1].value, 64);
	assert_string_equal(all.figures[0].name, "sms");
	assert_string_equal(all.figures[0].source, "manual");
	assert_int_equal(all.grid[2], 3);
	assert_true(all.dim_count == 2 && all.dims[1] == 8);
	assert_true(all.rates[0] == 0 && all.rates[1] == 256);
	assert_string_equal(all.expression, "BM * 2");
	assert_string_equal(all.amounts[0], "12");
	assert_json(&all_record, &all, all_text);
	record_release(&all_record, &all);
	assert_null(all.points);
	assert_null(all.amounts[0]);
	json_free(tree);
}

/* Each change of the text by itself is refused with this message. */
TEST(wrong_members_are_refused)
{
	static const struct {
		const char *from, *to, *message;
	} cases[] = {
		{"test.all/1", "test.all/2", "t.json: $.format: expected \"test.all/1\""},
		{"\"yes\":true", "\"yes\":1", "$.yes: expected a boolean, found 1"},
		{"\"small\":-5", "\"small\":-6", "$.small: expected an integer from -5 to 100"},
		{"\"small\":-5", "\"small\":1.5", "$.small: expected an integer from -5 to 100"},
		{"\"small\":-5", "\"small\":13", "$: expected another number than 13"},
		{"4294967295", "4294967296", "an integer from 0 to 4294967295"},
		{"4294967295", "-1", "$.positive: expected an integer from 0 to 4294967295"},
		{"\"seed\":18446744073709551615", "\"seed\":-1", "an integer of at least 0"},
		{"-9007199254740993", "\"1\"", "$.wide: expected an integer, found \"1\""},
		{"\"single\":0.5", "\"single\":null", "$.single: expected a number, found null"},
		{"\"time_us\":null", "\"time_us\":-1",
			"$.time_us: expected a number of at least 0"},
		{"\"text\":\"a \\\"b\\\"\"", "\"text\":null", "$.text: expected a string"},
		{"\"1234\"", "\"12345\"", "$.digits: expected a string of at most 4 bytes"},
		{"\"blue\"", "\"bleu\"",
			"$.colour: expected one of \"red\", \"green\", \"blue\", found \"bleu\""},
		{"\"unit\":\"row\"", "\"unit\":1", "$.unit: expected a string, found 1"},
		{"\"unit\":\"row\"", "\"unit\":\"line\"", "expected \"element\" or \"row\""},
		{"\"throttled\"]", "\"hot\"]", "$.flags[0]: expected \"spills\" or \"throttled\""},
		{"\"at\":{\"x\":1,", "\"at\":{", "t.json: $.at: the member \"x\" is missing"},
		{"\"at\":{", "\"at\":{\"z\":1,", "$.at.z: unknown member"},
		{"\"samples\":[1.5,2]", "\"samples\":[1.5,-2]", "$.samples[1]: expected a number"},
		{"\"samples\":[1.5,2]", "\"samples\":[1,2,3,4,5,6,7]", "at most 6 elements"},
		{"\"points\":[{\"x\":5,\"y\":6}]", "\"points\":[]", "at least 1 element, found"},
		{"\"points\":[{\"x\":5,", "\"points\":[{\"x\":\"5\",",
			"$.points[0].x: expected an integer from -2147483648 to 2147483647"},
		{"\"BN\":64", "\"BN\":\"64\"", "$.settings.BN: expected an integer"},
		{"\"sms\":{", "\"a_long_name\":{", "$.figures.a_long_name: expected a string of"},
		{"\"manual\"", "\"\"", "$.figures.sms.source: expected where the figure is from"},
		{"\"value\":132", "\"name\":\"x\",\"value\":132",
			"$.figures.sms.name: unknown member"},
		{"\"grid\":[1,2,3]", "\"grid\":[1,2]", "$.grid: expected 3 elements"},
		{"\"dims\":[7,8]", "\"dims\":[1,2,3,4,5]", "$.dims: expected at most 4 elements"},
		{"\"rates\":{\"fp32\"", "\"rates\":{\"fp23\"", "$.rates.fp23: unknown member"},
		{"\"BM * 2\"", "true", "$.expression: expected an expression, found true"},
		{"\"amounts\":{\"tensor\":\"12\"", "\"amounts\":{\"tensor\":[]",
			"$.amounts.tensor: expected an expression"},
		{"\"amounts\":{", "\"help\":7,\"amounts\":{", "$.help: expected a string"},
	};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = strstr(all_text, cases[i].from);
		struct text text = {0};
		struct json *tree;
		struct all all = {0};

		assert_non_null(at);
		text_append_bytes(&text, all_text, (size_t)(at - all_text));
		text_append(&text, cases[i].to);
		text_append(&text, at + strlen(cases[i].from));
		assert_fails(read_as(&all_record, text_string(&text), &all, &tree, &err),
			STATUS_BAD_INPUT, cases[i].message);
		assert_null(all.text);
		assert_null(all.points);
		json_free(tree);
		text_release(&text);
	}
}

TEST(every_member_is_needed_unless_it_is_optional)
{
	struct error err = {0};
	struct json *tree;
	struct json_at root, item = {0};

	assert_ok(json_parse(all_text, strlen(all_text), "t.json", &tree, &err));
	root = json_root(tree, "t.json");
	while (json_next(&root, &item)) {
		static const char *const optional[] = {
			"borrowed", "any", "last", "middle", "samples", "amounts", NULL};
		struct json *rest = json_new_object();
		struct json_at rest_at = json_root(rest, "t.json"), other = {0};
		struct all all = {0};
		enum status status;

		while (json_next(&root, &other))
			if (strcmp(other.key, item.key) != 0)
				json_put(rest, other.key, json_copy(other.node));
		status = record_from_json(&all_record, &rest_at, &all, NULL, &err);
		assert_int_equal(status == STATUS_OK, name_find(item.key, optional) >= 0);
		if (status == STATUS_OK) {
			struct json *written = record_to_json(&all_record, &all);
			CLEANUP(memory_free) char *found = json_print(written, false);
			CLEANUP(memory_free) char *wanted = json_print(rest, false);

			assert_string_equal(found, wanted);
			json_free(written);
		} else {
			assert_non_null(strstr(err.message, item.key));
		}
		record_release(&all_record, &all);
		json_free(rest);
	}
	json_free(tree);
}

TEST(typing_errors_get_the_nearest_name)
{
	struct error err = {0};
	struct point point = {0};
	struct json *tree;
	int index;

	assert_fails(
		read_as(&figure_record, "{\"name\":\"a\",\"valeu\":1,\"value\":1,\"source\":\"s\"}",
			&(struct figure){.source = NULL}, &tree, &err),
		STATUS_BAD_INPUT, "$.valeu: unknown member");
	assert_string_equal(err.hint, "did you mean \"value\"?");
	json_free(tree);
	tree = json_new_string("gren");
	assert_int_equal(
		record_name_from_json(&(struct json_at){.node = tree}, colours, &index, &err),
		STATUS_BAD_INPUT);
	assert_string_equal(err.hint, "did you mean \"green\"?");
	json_free(tree);
	assert_fails(read_as(&point_record, "[1]", &point, &tree, &err), STATUS_BAD_INPUT,
		"$: expected an object, found [1]");
	json_free(tree);
}

/* a newer version has added members */
struct older {
	int32_t a, b;
};
static const struct record_member older_members[] = {
	RECORD_VALUE(struct older, a, "a"),
	RECORD_VALUE(struct older, b, "b", .flags = RECORD_OPTIONAL | RECORD_KEPT, .absent = -1),
};
static RECORD_DEFINE(struct older, open_record, older_members, .name = "open", .open = true);
static RECORD_DEFINE(struct older, closed_record, older_members, .name = "closed");

TEST(open_records_pass_over_what_they_do_not_know)
{
	static const char text[] = "{\"z\":[1],\"a\":1,\"c\":{\"d\":2}}";
	struct older older = {0};
	struct error err = {0};
	struct json *tree;

	assert_ok(read_as(&open_record, text, &older, &tree, &err));
	assert_json(&open_record, &older, "{\"a\":1,\"b\":-1}");
	json_free(tree);
	assert_fails(read_as(&closed_record, text, &older, &tree, &err), STATUS_BAD_INPUT,
		"$.z: unknown member");
	json_free(tree);
}

static const struct record_member asked_members[] = {
	RECORD_VALUE(struct figure, value, "value", .low = 0, .high = INFINITY,
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE),
};
static RECORD_DEFINE(struct figure, asked_record, asked_members, .name = "measured");

static const struct record_member whole_members[] = {
	RECORD_VALUE(
		struct figure, value, "value", .low = 0, .high = INFINITY, .flags = RECORD_WHOLE),
};
static RECORD_DEFINE(struct figure, whole_record, whole_members, .name = "whole");

TEST(whole_numbers_may_be_large)
{
	struct figure figure = {.value = 6.23352375738793e+23}, again = {.value = 0};
	struct json *json = record_to_json(&whole_record, &figure);
	struct json_at at = json_root(json, "");
	struct error err;

	assert_ok(record_from_json(&whole_record, &at, &again, NULL, &err));
	assert_true(again.value == figure.value);
	json_put_double(json, "value", 1.5);
	assert_fails(record_from_json(&whole_record, &at, &again, NULL, &err), STATUS_BAD_INPUT,
		"$.value: expected a number of at least 0, found 1.5");
	json_free(json);
}

/* null differs from an absent number: it was measured but is unknown. */
TEST(null_is_not_a_number)
{
	static const char *const texts[] = {"{}", "{\"value\":null}", "{\"value\":2}"};
	struct error err = {0};
	struct json *tree;

	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct figure figure = {.value = 0}, copy = {.value = 0};

		assert_ok(read_as(&asked_record, texts[i], &figure, &tree, &err));
		json_free(tree);
		record_copy(&asked_record, &figure, &copy);
		assert_json(&asked_record, &copy, texts[i]);
	}
}

/* these lists share one count */
struct columns {
	int32_t *a;
	double *b;
	size_t count;
	uint32_t dims[3], box[3];
	size_t rank;
};
static const struct record_member columns_members[] = {
	RECORD_VALUES(struct columns, a, count, "a"),
	RECORD_VALUES(struct columns, b, count, "b", .flags = RECORD_OPTIONAL),
};
static const struct record_member box_members[] = {
	RECORD_ARRAY_COUNTED(struct columns, dims, rank, "dims"),
	RECORD_ARRAY_COUNTED(struct columns, box, rank, "box"),
};
static RECORD_DEFINE(struct columns, box_record, box_members, .name = "box");
static RECORD_DEFINE(struct columns, columns_record, columns_members, .name = "columns");

TEST(lists_that_share_a_count_agree)
{
	struct columns columns = {0}, copy = {0};
	struct error err = {0};
	struct json *tree;

	assert_fails(read_as(&columns_record, "{\"a\":[1,2],\"b\":[3]}", &columns, &tree, &err),
		STATUS_BAD_INPUT, "$.b: expected as many elements");
	json_free(tree);
	assert_fails(read_as(&box_record, "{\"dims\":[1,2],\"box\":[3]}", &columns, &tree, &err),
		STATUS_BAD_INPUT, "$.box: expected as many elements");
	json_free(tree);
	assert_fails(read_as(&box_record, "{\"dims\":[1,2,3,4],\"box\":[]}", &columns, &tree, &err),
		STATUS_BAD_INPUT, "$.dims: expected at most 3 elements");
	json_free(tree);
	assert_ok(read_as(&columns_record, "{\"a\":[1,2]}", &columns, &tree, &err));
	record_copy(&columns_record, &columns, &copy);
	assert_true(copy.count == 2 && copy.a[1] == 2 && !copy.b);
	assert_json(&columns_record, &copy, "{\"a\":[1,2]}");
	record_release(&columns_record, &columns);
	record_release(&columns_record, &copy);
	json_free(tree);
}

/* ---- copies ---- */
TEST(a_copy_is_the_same_struct)
{
	struct all all, copy = {0};
	struct json *tree;

	read_all(&all, &tree);
	assert_int_equal(all.blob.length, 3);
	assert_memory_equal(all.blob.data, "\0\1\2", 3);
	record_copy(&all_record, &all, &copy);
	assert_true(record_equal(&all_record, &all, &copy));
	assert_ptr_equal(copy.borrowed, all.borrowed);
	assert_ptr_not_equal(copy.text, all.text);
	assert_ptr_not_equal(copy.any, all.any);
	record_release(&all_record, &all);
	json_free(tree);
	copy.borrowed = "kept";
	assert_json(&all_record, &copy, all_text);
	record_release(&all_record, &copy);
}

struct blob {
	struct text bytes;
};
static const struct record_member blob_members[] = {
	RECORD_VALUE(struct blob, bytes, "bytes"),
};
static RECORD_DEFINE(struct blob, blob_record, blob_members, .name = "blob");

TEST(bytes_are_base64)
{
	static const struct {
		const char *json, *bytes; /* bytes NULL: the string is refused */
	} cases[] = {
		{"{\"bytes\":\"\"}", ""},
		{"{\"bytes\":\"Zg==\"}", "f"},
		{"{\"bytes\":\"Zm8=\"}", "fo"},
		{"{\"bytes\":\"Zm9v\"}", "foo"},
		{"{\"bytes\":\"Pz8/+w==\"}", "\x3f\x3f\x3f\xfb"},
		{"{\"bytes\":\"Zg=\"}", NULL},
		{"{\"bytes\":\"Zh==\"}", NULL},
		{"{\"bytes\":\"Zg==Zm9v\"}", NULL},
		{"{\"bytes\":\"Z===\"}", NULL},
		{"{\"bytes\":\"====\"}", NULL},
		{"{\"bytes\":\"Zm9-\"}", NULL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct blob blob = {{0}};
		struct json *tree;
		struct error err = {0};

		if (!cases[i].bytes) {
			assert_fails(read_as(&blob_record, cases[i].json, &blob, &tree, &err),
				STATUS_BAD_INPUT, "$.bytes: expected base64");
			json_free(tree);
			continue;
		}
		assert_ok(read_as(&blob_record, cases[i].json, &blob, &tree, &err));
		json_free(tree);
		assert_string_equal(text_string(&blob.bytes), cases[i].bytes);
		assert_json(&blob_record, &blob, cases[i].json);
		record_release(&blob_record, &blob);
	}
}
