/* SPDX-License-Identifier: MIT
 *
 * Values: Python's equality, order and truth, exact comparison of integers and reals, and
 * formatting.
 */
#include <math.h>
#include <string.h>

#include "unit/unit.h"
#include "base/memory.h"
#include "expr/value.h"

static void expect_format(struct value value, const char *expected)
{
	struct text text = {0};
	value_format(value, &text);
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
}

TEST(values_are_formatted_like_python)
{
	expect_format((struct value){0}, "none");
	expect_format(value_bool(true), "true");
	expect_format(value_bool(false), "false");
	expect_format(value_int(128), "128");
	expect_format(value_int(INT64_MIN), "-9223372036854775808");
	expect_format(value_real(0.5), "0.5");
	expect_format(value_real(2), "2.0");
	expect_format(value_real(0.1), "0.1");
	expect_format(value_real(1.0 / 3), "0.3333333333333333");
	expect_format(value_real(0.1 + 0.2), "0.30000000000000004");
	expect_format(value_real(1e300), "1e+300");
	expect_format(value_string("bf16"), "bf16");
	struct value items[] = {value_int(16), value_string("a"), value_real(0.25)};
	const struct value_list list = {.items = items, .count = ARRAY_COUNT(items)}, empty = {0};
	expect_format((struct value){.type = VALUE_LIST, .list = &list}, "[16, a, 0.25]");
	expect_format((struct value){.type = VALUE_LIST, .list = &empty}, "[]");
}

TEST(equal_numbers_of_any_type_are_equal)
{
	char copy[] = "bf16"; /* an equal string at another address */
	assert_true(value_equal(value_int(1), value_real(1)));
	assert_true(value_equal(value_int(1), value_bool(true)));
	assert_true(value_equal(value_real(0), value_bool(false)));
	assert_true(value_equal(value_real(0.0), value_real(-0.0)));
	assert_true(value_equal(value_string("bf16"), value_string(copy)));
	assert_false(value_equal(value_string("bf16"), value_string("fp16")));
	assert_false(value_equal(value_string("1"), value_int(1)));
	assert_false(value_equal(value_real(NAN), value_real(NAN)));
	assert_false(value_equal(value_int((1LL << 53) + 1), value_real(0x1p53)));
	struct value one[] = {value_int(1)}, same[] = {value_real(1)}, other[] = {value_int(2)};
	const struct value_list lists[] = {{.items = one, .count = 1}, {.items = same, .count = 1},
		{.items = other, .count = 1}, {.items = one}};
	struct value values[4];
	for (size_t i = 0; i < 4; i++)
		values[i] = (struct value){.type = VALUE_LIST, .list = &lists[i]};
	assert_true(value_equal(values[0], values[1]));
	assert_false(value_equal(values[0], values[2]));
	assert_false(value_equal(values[0], values[3]));
	assert_false(value_equal(values[0], value_int(1)));
}

TEST(only_comparable_values_are_ordered)
{
	assert_int_equal(value_compare(value_int(1), value_int(2)), VALUE_LESS);
	assert_int_equal(value_compare(value_int(2), value_bool(true)), VALUE_GREATER);
	assert_int_equal(value_compare(value_real(1.5), value_int(1)), VALUE_GREATER);
	assert_int_equal(value_compare(value_real(-1.5), value_int(-1)), VALUE_LESS);
	assert_int_equal(value_compare(value_int(INT64_MAX), value_real(0x1p63)), VALUE_LESS);
	assert_int_equal(value_compare(value_int(INT64_MIN), value_real(-0x1p63)), VALUE_EQUAL);
	assert_int_equal(
		value_compare(value_int((1LL << 53) + 1), value_real(0x1p53)), VALUE_GREATER);
	assert_int_equal(value_compare(value_int(0), value_real(INFINITY)), VALUE_LESS);
	assert_int_equal(value_compare(value_int(0), value_real(-INFINITY)), VALUE_GREATER);
	assert_int_equal(value_compare(value_int(0), value_real(NAN)), VALUE_UNORDERED);
	assert_int_equal(value_compare(value_string("a"), value_string("b")), VALUE_UNORDERED);
}

TEST(truth_is_that_of_python)
{
	struct value item[] = {value_int(0)};
	const struct value_list list = {.items = item, .count = 1}, empty = {0};
	assert_true(value_truth(value_int(-1)));
	assert_true(value_truth(value_real(0.1)));
	assert_true(value_truth(value_string("0")));
	assert_true(value_truth(value_bool(true)));
	assert_true(value_truth((struct value){.type = VALUE_LIST, .list = &list}));
	assert_false(value_truth(value_int(0)));
	assert_false(value_truth(value_real(-0.0)));
	assert_false(value_truth(value_string("")));
	assert_false(value_truth(value_bool(false)));
	assert_false(value_truth((struct value){.type = VALUE_LIST, .list = &empty}));
	assert_false(value_truth((struct value){0}));
}

TEST(numbers_are_converted_only_if_exact)
{
	int64_t integer = 0;
	double real = 0;
	assert_true(value_as_int(value_bool(true), &integer) && integer == 1);
	assert_true(value_as_int(value_int(-5), &integer) && integer == -5);
	assert_false(value_as_int(value_real(1), &integer));
	assert_true(value_as_real(value_int(3), &real) && real == 3);
	assert_true(value_as_real(value_real(0.5), &real) && real == 0.5);
	assert_false(value_as_real(value_string("1"), &real));
}

TEST(types_have_readable_names)
{
	assert_string_equal(value_type_name(VALUE_NONE), "nothing");
	assert_string_equal(value_type_name(VALUE_BOOL), "a boolean");
	assert_string_equal(value_type_name(VALUE_INT), "an integer");
	assert_string_equal(value_type_name(VALUE_REAL), "a real number");
	assert_string_equal(value_type_name(VALUE_STRING), "a string");
	assert_string_equal(value_type_name(VALUE_LIST), "a list");
}
