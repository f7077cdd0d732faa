/* Formatted numbers, escaped strings, and lists as in journals. */
#include <math.h>
#include <string.h>

#include "unit/unit.h"

#include "base/format_text.h"

static void check(struct format_text (*format)(double value), double value, const char *wanted)
{
	assert_string_equal(format(value).text, wanted);
}

TEST(numbers_have_four_digits)
{
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
}

static void check_escape(format_escape *escape, const char *string, const char *wanted)
{
	struct text text = {0};

	escape(&text, string);
	assert_string_equal(text_string(&text), wanted);
	text_release(&text);
}

TEST(special_characters_are_escaped)
{
	check_escape(format_xml, "<a href=\"x\">&\nµ", "&lt;a href=&quot;x&quot;&gt;&amp;&#10;µ");
	/* XML forbids these: control characters, incomplete UTF-8, U+FFFE */
	check_escape(format_xml, "\x01\tz\xc3|\xef\xbf\xbe", "?\tz?|?");
	check_escape(
		format_markdown, "a|b `c` *d* @e <f>&", "a\\|b 'c' \\*d\\* &#64;e &lt;f>&amp;");
	check_escape(format_shown, "a\x1b[0m", "a\\x1b[0m");
	/* CI systems read these as workflow commands */
	check_escape(format_shown, "::error::a::b", "\\x3a:error::a::b");
	check_escape(format_shown, "a ##[error]#[ ##vso[b]", "a \\x23#[error]#[ \\x23#vso[b]");
}

TEST(only_strings_are_escaped)
{
	struct text text = {0};

	format_put(&text, format_xml, "<b>%s</b> %d %zu %.2f %.*s%%", "<&>", -3, (size_t)7, 1.5, 2,
		"<x");
	assert_string_equal(text.data, "<b>&lt;&amp;&gt;</b> -3 7 1.50 &lt;x%");
	text_release(&text);
}

TEST(all_conversions_agree_with_printf)
{
	struct text text = {0};

	format_put(&text, format_shown, "%-6s|%6s|%.0s|%*.1f|%+.1f|%02x|%-8zu|%20llu|%c|%.*g",
		"a\n", "b", "gone", 8, 2.25, -0.5, 7u, (size_t)12, 1ull << 40, 'c', 3, 0.1234567);
	assert_string_equal(text.data,
		"a\\x0a |     b||     2.2|-0.5|07|12      |       1099511627776|c|0.123");
	text_release(&text);
}

TEST(a_name_stays_on_its_line_of_an_error)
{
	struct error err = {0};

	error_set(&err, STATUS_FAILED, "%s: a", "x\ny");
	error_lines(&err, "\n  log");
	error_context(&err, "%s", "f\x1b");
	error_hint(&err, "%s", "\r");
	assert_string_equal(err.message, "f\\x1b: x\\x0ay: a\n  log");
	assert_string_equal(err.hint, "\\x0d");
}

TEST(pairs_are_found_by_name)
{
	const char *at = "BM=128,dtype=bf16,flag,EMPTY=";
	struct pair pair;

	assert_true(pair_find(at, "dtype", &pair));
	assert_int_equal(pair.value_length, 4);
	assert_memory_equal(pair.value, "bf16", 4);
	assert_true(pair_find(at, "EMPTY", &pair));
	assert_int_equal(pair.value_length, 0);
	assert_true(pair_find(at, "flag", &pair));
	assert_false(pair_find(at, "B", &pair));
	for (int i = 0; i < 4; i++)
		assert_true(pair_next(&at, &pair));
	assert_false(pair_next(&at, &pair));
}
