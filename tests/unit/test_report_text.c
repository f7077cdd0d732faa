/* layer: export */
/* How a report writes numbers, and the columns that its table is made of. */
#include <math.h>
#include <string.h>

#include "unit/unit.h"

#include "figure/canvas.h"
#include "figure/figure.h"
#include "html/html_data.h"
#include "report/format.h"

static void check(struct format_text (*format)(double value), double value, const char *wanted)
{
	assert_string_equal(format(value).text, wanted);
}

static void check_canvas_number(double value, const char *wanted)
{
	struct text text = {0};

	canvas_number(&text, value);
	assert_string_equal(text_string(&text), wanted);
	text_release(&text);
}

static void test_numbers(void **state)
{
	(void)state;
	check(format_number, 193.744, "193.7");
	check(format_number, 4096, "4096");
	check(format_number, 1071.4, "1071");
	check(format_number, 12.345, "12.35");
	check(format_number, 0.012345, "0.0123");
	check(format_number, 0.5, "0.500");
	check(format_number, 0, "0");
	check(format_number, INFINITY, "never");
	check(format_time, 25.649, "25.65 µs");
	check(format_time, 14684.16, "14.68 ms");
	check(format_time, 2.5e7, "25 s");
	check(format_bytes, 229456, "224 KiB");
	check(format_bytes, 84, "84 B");
	check_canvas_number(-0.04, "0");
	check_canvas_number(12.25, "12.2");
	check_canvas_number(12, "12");
}

static void check_column(struct html_column *column, bool wanted, const char *json)
{
	struct text text = {0};

	assert_int_equal(html_column_write(column, "x", &text), wanted);
	assert_string_equal(text_string(&text), json);
	text_release(&text);
}

static void test_columns(void **state)
{
	struct html_column column = {0};

	(void)state;
	for (int i = 0; i < 6; i++)
		html_column_number(&column, i % 2 ? 256 : 128);
	check_column(&column, true, "\"x\":{\"d\":[128,256],\"w\":1,\"s\":\"#$#$#$\"}");
	/* one value: no codes at all */
	for (int i = 0; i < 6; i++)
		html_column_string(&column, "tensor");
	check_column(&column, true, "\"x\":{\"d\":[\"tensor\"],\"w\":0,\"s\":\"\"}");
	/* values that do not repeat */
	for (int i = 0; i < 6; i++)
		html_column_number(&column, i == 3 ? NAN : i + 0.5);
	check_column(&column, true, "\"x\":[0.5,1.5,2.5,null,4.5,5.5]");
	for (int i = 0; i < 6; i++)
		html_column_string(&column, NULL);
	check_column(&column, false, "");
	html_column_release(&column);
}

static void test_two_characters_where_one_is_too_few(void **state)
{
	struct html_column column = {0};
	struct text json = {0};
	const char *codes;

	(void)state;
	for (int i = 0; i < 600; i++)
		html_column_number(&column, 1000 + i % 200);
	assert_true(html_column_write(&column, "x", &json));
	assert_non_null(strstr(json.data, "\"w\":2"));
	codes = strstr(json.data, "\"s\":\"") + 5;
	assert_int_equal(strlen(codes), 2 * 600 + 2);
	assert_memory_equal(codes, "###$#%", 6);
	text_release(&json);
	html_column_release(&column);
}

static void test_strings_cannot_end_the_script(void **state)
{
	struct text json = {0};

	(void)state;
	html_json_string(&json, "</script>\n\"\\&");
	assert_string_equal(json.data, "\"\\u003c/script>\\u000a\\\"\\\\\\u0026\"");
	text_release(&json);
}

static void test_axes(void **state)
{
	struct figure_axis line = figure_axis_new(false, 0, 100, 50, 450, "x");
	struct figure_axis log = figure_axis_new(true, 10, 1000, 50, 450, "x");
	struct canvas canvas = {.width = 480, .height = 320};

	(void)state;
	assert_true(fabs(figure_axis_at(&line, 25) - 150) < 1e-9);
	assert_true(fabs(figure_axis_at(&log, 100) - 250) < 1e-9);
	assert_true(figure_axis_at(&log, 10) > 50); /* a margin */
	figure_axis_bottom(&canvas, &line, 0, 300);
	assert_non_null(strstr(canvas.body.data, ">20</text>"));
	assert_non_null(strstr(canvas.body.data, ">100</text>"));
	canvas_release(&canvas);
}

static void test_points_that_coincide_are_drawn_once(void **state)
{
	struct canvas_points *points = canvas_points_new(480, 320, false);

	(void)state;
	assert_true(canvas_points_take(points, 100, 100));
	assert_false(canvas_points_take(points, 100.2, 100.1));
	assert_true(canvas_points_take(points, 104, 100));
	assert_false(canvas_points_take(points, -5, 100)); /* outside */
	assert_false(canvas_points_take(points, NAN, 100));
	canvas_points_free(points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_two_characters_where_one_is_too_few),
		cmocka_unit_test(test_strings_cannot_end_the_script),
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_points_that_coincide_are_drawn_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
