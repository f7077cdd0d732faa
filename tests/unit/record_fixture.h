/* SPDX-License-Identifier: MIT
 *
 * A record with one member of every kind, for the tests of src/record.
 */
#ifndef TESTS_RECORD_FIXTURE_H
#define TESTS_RECORD_FIXTURE_H

#include "unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"
#include "record/record_read.h"
#include "base/text.h"

enum colour {
	RED,
	GREEN,
	BLUE
};
static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const units[] = {"element", "row", NULL};
static const char *const flags[] = {"spills", "throttled", NULL};
static const char *const pipes[] = {"tensor", "fp32", NULL};

struct point {
	int32_t x;
	double y;
};
static const struct record_member point_members[] = {
	RECORD_VALUE(struct point, x, "x"),
	RECORD_VALUE(struct point, y, "y", .flags = RECORD_NULLABLE, .absent = NAN),
};
static RECORD_DEFINE(struct point, point_record, point_members, .name = "point");

struct setting {
	char *name;
	int64_t value;
};
static const struct record_member setting_members[] = {
	RECORD_VALUE(struct setting, name, "name"),
	RECORD_VALUE(struct setting, value, ""),
};
static RECORD_DEFINE(struct setting, setting_record, setting_members, .name = "setting");

struct figure {
	char name[8];
	double value;
	char *source;
};
static const struct record_member figure_members[] = {
	RECORD_TEXT(struct figure, name, "name"),
	RECORD_VALUE(struct figure, value, "value", .low = 0, .high = INFINITY),
	RECORD_VALUE(struct figure, source, "source",
		.rule = &(const struct record_rule){.expected = "where the figure is from"}),
};
static RECORD_DEFINE(struct figure, figure_record, figure_members, .name = "figure");

/* an expression: a string, or a number as a constant expression */
static enum status expression_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	char *text;

	(void)context;
	if (json_type(at) == JSON_STRING) {
		const char *string;

		json_get_string(at, &string, err);
		text = string_copy(string);
	} else if (json_is_int(at)) {
		int64_t number;

		json_get_int(at, &number, err);
		text = string_format("%lld", (long long)number);
	} else {
		return json_error(at, err, "an expression");
	}
	memcpy(field, &text, sizeof(text));
	return STATUS_OK;
}

static struct json *expression_write(const void *field)
{
	char *text;

	memcpy(&text, field, sizeof(text));
	return text ? json_new_string(text) : NULL;
}

static void expression_release(void *field)
{
	char *text;

	memcpy(&text, field, sizeof(text));
	free(text);
	memset(field, 0, sizeof(text));
}

static const struct record_custom expression_custom = {
	expression_read, expression_write, expression_release};

struct expression {
	char *text;
};
static const struct record_member expression_members[] = {
	RECORD_VALUE(struct expression, text, "text"),
};
static RECORD_DEFINE(struct expression, expression_record, expression_members);

struct all {
	bool yes, is_row, has_last;
	int32_t small;
	uint32_t positive, bits;
	int64_t wide;
	uint64_t seed;
	size_t bytes;
	double single;
	double time_us;
	char *text;
	const char *borrowed;
	char digits[5];
	enum colour colour;
	struct json *any;
	struct text blob;
	struct point at, last, *middle, flat;
	double *samples;
	size_t sample_count;
	struct point *points;
	size_t point_count;
	char **names;
	struct setting *settings;
	size_t setting_count;
	struct figure *figures;
	size_t figure_count;
	uint32_t grid[3], dims[4];
	size_t dim_count;
	double rates[2];
	char *expression, *amounts[2];
	struct json *unknown;
};

static enum status all_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct all *all = value;

	(void)context;
	return all->small == 13 ? json_error(at, err, "another number than 13") : STATUS_OK;
}

#define ALL(field, ...) RECORD_VALUE(struct all, field, #field, ##__VA_ARGS__)
static const struct record_member all_members[] = {
	RECORD_CONSTANT("format", "test.all/1"),
	ALL(yes),
	ALL(small, .low = -5, .high = 100),
	ALL(positive),
	ALL(wide),
	ALL(seed),
	ALL(bytes, .flags = RECORD_OPTIONAL, .absent = 7),
	ALL(single),
	ALL(time_us, .flags = RECORD_NULLABLE, .absent = INFINITY, .low = 0, .high = INFINITY),
	ALL(text),
	ALL(borrowed, .flags = RECORD_OPTIONAL),
	RECORD_TEXT(struct all, digits, "digits"),
	RECORD_ENUM(struct all, colour, colours, "colour"),
	RECORD_ENUM(struct all, is_row, units, "unit"),
	RECORD_FLAGS(struct all, bits, flags, "flags"),
	ALL(any, .flags = RECORD_OPTIONAL),
	ALL(blob),
	RECORD_NESTED(struct all, at, point_record, "at"),
	RECORD_NESTED(struct all, last, point_record, "last", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct all, has_last)),
	RECORD_POINTER(struct all, middle, point_record, "middle", .flags = RECORD_OPTIONAL),
	RECORD_FLAT(struct all, flat, point_record),
	RECORD_VALUES(struct all, samples, sample_count, "samples", .low = 0, .high = INFINITY,
		.flags = RECORD_OPTIONAL, .count_max = 6),
	RECORD_RECORDS(struct all, points, point_count, point_record, "points", .count_min = 1),
	RECORD_STRINGS(struct all, names, "names"),
	RECORD_MAP(struct all, settings, setting_count, setting_record, "settings"),
	RECORD_MAP(struct all, figures, figure_count, figure_record, "figures"),
	RECORD_ARRAY(struct all, grid, "grid"),
	RECORD_ARRAY_COUNTED(struct all, dims, dim_count, "dims"),
	RECORD_NAMED(struct all, rates, pipes, "rates"),
	RECORD_CUSTOM(struct all, expression, &expression_custom, "expression"),
	RECORD_NAMED_CUSTOM(struct all, amounts, pipes, &expression_custom, "amounts",
		.flags = RECORD_OPTIONAL, .record = &expression_record),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(struct all, all_record, all_members, .name = "all", .check = all_check);

static const char all_text[] =
	"{\"format\":\"test.all/1\",\"yes\":true,\"small\":-5,\"positive\":4294967295,"
	"\"wide\":-9007199254740993,\"seed\":18446744073709551615,\"single\":0.5,\"time_us\":null,"
	"\"text\":\"a \\\"b\\\"\",\"borrowed\":\"kept\",\"digits\":\"1234\",\"colour\":\"blue\","
	"\"unit\":\"row\",\"flags\":[\"throttled\"],\"any\":{\"deep\":[1,null]},"
	"\"blob\":\"AAEC\","
	"\"at\":{\"x\":1,\"y\":0.1},\"last\":{\"x\":-2147483648,\"y\":null},\"middle\":{\"x\":3,"
	"\"y\":4},\"x\":9,\"y\":8.25,"
	"\"samples\":[1.5,2],\"points\":[{\"x\":5,\"y\":6}],\"names\":[\"ann\",\"bob\"],"
	"\"settings\":{\"BM\":128,\"BN\":64},\"figures\":{\"sms\":{"
	"\"value\":132,\"source\":\"manual\"}},\"grid\":[1,2,3],\"dims\":[7,8],"
	"\"rates\":{\"fp32\":256},\"expression\":\"BM * 2\",\"amounts\":{\"tensor\":\"12\"}}";

static enum status read_as(const struct record *record, const char *text, void *value,
	struct json **tree, struct error *err)
{
	struct json_at root;
	enum status status = json_parse(text, strlen(text), "t.json", tree, err);

	if (status != STATUS_OK)
		fail_msg("%s", err->message);
	root = json_root(*tree, "t.json");
	return record_from_json(record, &root, value, NULL, err);
}

static void read_all(struct all *all, struct json **tree)
{
	struct error err = {0};

	*all = (struct all){0};
	assert_ok(read_as(&all_record, all_text, all, tree, &err));
}

#endif
