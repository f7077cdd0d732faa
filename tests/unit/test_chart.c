/* layer: export */
/* SPDX-License-Identifier: MIT
 *
 * Line charts, in a terminal and as SVG.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figure/chart.h"
#include "figure/canvas.h"
#include "unit.h"

static void test_ticks(void **state)
{
	(void)state;
	assert_true(figure_axis_step(0, 100, 10) == 10);
	assert_true(figure_axis_step(0, 110, 10) == 20);
	assert_true(figure_axis_step(1700, 1900, 10) == 20);
	assert_true(figure_axis_step(0, 0.4, 10) < 0.0500001);
	assert_true(figure_axis_step(5, 5, 10) == 1);
}

static void test_range(void **state)
{
	static const double x[] = {1, 2, 3}, low[] = {1, NAN, 100}, high[] = {80, 90, 100};
	static const double nothing[] = {NAN, NAN, INFINITY};
	struct chart_series series = {.name = "s", .y = low};
	struct chart chart = {.x = x, .count = 3, .series = &series, .series_count = 1};
	double from, to;

	(void)state;
	assert_true(chart_range(&chart, &from, &to));
	assert_true(from == 0 && to > 100 && to < 110);
	series.y = high;
	assert_true(chart_range(&chart, &from, &to));
	assert_true(from > 60 && from < 80);
	series.y = nothing;
	assert_false(chart_range(&chart, &from, &to));
}

static const double sizes[] = {0, 1, 2, 3, 4};
static const double saw[] = {0, 2, 4, 2, 4};
static const double other[] = {1, NAN, 1, 1, NAN};
static const struct chart_series both[] = {
	{.name = "saw", .y = saw}, {.name = "a<b & \"c\"", .y = other, .style = CHART_THIN}};
static const struct chart_mark marks[] = {{3, 2}};
static const struct chart chart = {.title = "title",
	.x_label = "N",
	.y_label = "height",
	.x = sizes,
	.count = 5,
	.series = both,
	.series_count = 2,
	.marks = marks,
	.mark_count = 1,
	.mark_label = "a wave"};

static void test_plot(void **state)
{
	struct text text = {0};

	(void)state;
	chart_plot(&chart, 9, 5, &text);
	assert_string_equal(text_string(&text), "title\n"
						"  height\n"
						"       4.2 |    * | *\n"
						"           |      |\n"
						"           |  *   *\n"
						"           |o   o o\n"
						"         0 |*     |\n"
						"           +---------\n"
						"            0   2   4\n"
						"         N  * saw\n"
						"            o a<b & \"c\"\n"
						"            | a wave\n");
	text_release(&text);
	chart_plot(&(struct chart){.title = "empty"}, 9, 5, &text);
	assert_string_equal(text_string(&text), "empty\n  nothing to draw\n");
	text_release(&text);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (; (text = strstr(text, part)) != NULL; text += strlen(part))
		count++;
	return count;
}

static void test_svg(void **state)
{
	struct text svg = {0};

	(void)state;
	chart_svg(&chart, &svg);
	assert_memory_equal(svg.data, "<svg ", 5);
	assert_string_equal(svg.data + svg.length - 7, "</svg>\n");
	assert_non_null(strstr(svg.data, "a&lt;b &amp; &quot;c&quot;"));
	assert_int_equal(count_of(svg.data, "<path class=\"l0\""), 2); /* and in the legend */
	assert_int_equal(count_of(svg.data, "<path class=\"l1 thin\""), 2);
	assert_int_equal(count_of(svg.data, "<circle "), 8); /* points that are there */
	assert_int_equal(count_of(svg.data, "<text"), count_of(svg.data, "</text>"));
	assert_null(strstr(svg.data, "nan"));
	assert_int_equal(count_of(svg.data, "http"), 1); /* the name space: nothing is loaded */
	text_release(&svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_range),
		cmocka_unit_test(test_plot),
		cmocka_unit_test(test_svg),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
