/* SPDX-License-Identifier: MIT
 *
 * The expression language: every case of tests/data/space/ and of tests/tools/expression_cases.py
 * is evaluated with no name, with all names, and with every other name replaced by constants.
 * Limits and the functions of expression.h follow.
 */
#include <math.h>
#include <time.h>

#include "unit/unit.h"
#include "base/file.h"
#include "base/random.h"
#include "unit/expression_cases.h"

static void expect_result(const char *file, int line, const struct expression_case *parsed,
	uint32_t put_in, const char *how)
{
	struct text found = {0};
	case_run(parsed, put_in, &found);
	if (strcmp(text_string(&found), parsed->result) != 0)
		fail_msg("%s:%d: %s, %s\n  expected %s\n  found    %s", file, line,
			parsed->expression, how, parsed->result, text_string(&found));
	text_release(&found);
}

/* Runs the cases in content, and checks that there are at least `least`. */
static void run_cases(const char *name, struct text content, int least)
{
	int line_number = 0, count = 0;
	char *rest = content.data;
	for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
		struct expression_case parsed;
		line_number++;
		if (!case_parse(line, &parsed))
			continue;
		count++;
		expect_result(name, line_number, &parsed, 0, "names as they are");
		expect_result(name, line_number, &parsed, UINT32_MAX, "all names put in");
		expect_result(name, line_number, &parsed, 0x55555555, "some names put in");
		expect_result(name, line_number, &parsed, 0xaaaaaaaa, "the other names put in");
		name_table_release(&parsed.names);
	}
	text_release(&content);
	assert_true(count >= least);
}

static void run_file(const char *name, int least)
{
	struct text content = {0};
	struct error err = {0};
	char path[256];
	snprintf(path, sizeof(path), TEST_DATA "/space/%s", name);
	if (file_read(path, &content, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	run_cases(name, content, least);
}

/* Runs cases that Python generates and answers. */
static void run_generated(const char *kind, int least)
{
	struct text content = {0};
	char line[1024];
	snprintf(line, sizeof(line), "/usr/bin/python3 tests/tools/expression_cases.py %s", kind);
	FILE *pipe = popen(line, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		text_append(&content, line);
	assert_int_equal(pclose(pipe), 0);
	run_cases(kind, content, least);
}

TEST(arithmetic_agrees_with_python)
{
	run_generated("arithmetic", 20000);
}

TEST(the_grammar_is_as_documented)
{
	run_file("grammar.txt", 280);
}

TEST(random_expressions_agree_with_python)
{
	run_generated("random", 1000);
}

TEST(syntax_errors_name_their_column)
{
	run_file("syntax_errors.txt", 130);
}

TEST(run_errors_name_their_column)
{
	run_file("run_errors.txt", 100);
}

/* ---- values computed by hand ---- */
static struct expression *compiled(const char *text, const struct name_table *names)
{
	struct expression *expression;
	struct error err = {0};
	if (expression_compile(text, "here", names, &expression, &err) != STATUS_OK)
		fail_msg("%s: %s", text, err.message);
	return expression;
}

static void expect_indices(const struct name_table *names, const char *text, const char *indices)
{
	struct expression *expression = compiled(text, names);
	struct text found = {0};
	size_t count;
	const int *read = expression_indices(expression, &count);
	for (size_t i = 0; i < count; i++)
		text_appendf(&found, "%d ", read[i]);
	assert_string_equal(text_string(&found), indices);
	text_release(&found);
	expression_free(expression);
}

TEST(the_names_that_an_expression_reads_are_found)
{
	const char *names[] = {"a", "b", "c", "d"};
	const struct name_table table = {.names = names, .count = 4};
	expect_indices(&table, "1 + 2", "");
	expect_indices(&table, "d*b + d", "1 3 ");
	expect_indices(&table, "[c for b in [a, d]]", "0 2 3 ");
	expect_indices(&table, "[a for a in range(3)]", "");
	/* branches that cannot be reached are not read */
	expect_indices(&table, "a if 1 < 2 else b", "0 ");
	expect_indices(&table, "False and a or c", "2 ");
}

TEST(optional_values_may_be_absent)
{
	const char *names[] = {"a"};
	const struct name_table table = {.names = names, .count = 1};
	struct expression *expression;
	struct error err = {0};
	assert_int_equal(expression_compile_optional("a + WM", "here", &table, &expression, &err),
		STATUS_OK);
	assert_null(expression);
	assert_int_equal(
		expression_compile_optional("a + 1", "here", &table, &expression, &err), STATUS_OK);
	assert_non_null(expression);
	assert_string_equal(expression_text(expression), "a + 1");
	assert_string_equal(expression_where(expression), "here");
	expression_free(expression);
	assert_int_equal(expression_compile_optional("a +", "here", &table, &expression, &err),
		STATUS_BAD_INPUT);
	assert_string_equal(err.message, "here: column 4: expected a value, found the end");
}

TEST(values_are_converted_to_the_requested_type)
{
	const char *names[] = {"a"};
	const struct name_table table = {.names = names, .count = 1};
	struct expression *expression = compiled("a", &table);
	struct error err = {0};
	struct value a = value_real(64);
	int64_t integer = 0;
	double real = 0;
	const char *string = NULL;
	bool truth = false;
	assert_int_equal(expression_int(expression, &a, &integer, &err), STATUS_OK);
	assert_int_equal(integer, 64);
	a = value_bool(true);
	assert_int_equal(expression_int(expression, &a, &integer, &err), STATUS_OK);
	assert_int_equal(integer, 1);
	assert_int_equal(expression_real(expression, &a, &real, &err), STATUS_OK);
	assert_true(real == 1);
	a = value_string("bf16");
	assert_int_equal(expression_string(expression, &a, &string, &err), STATUS_OK);
	assert_string_equal(string, "bf16");
	assert_int_equal(expression_test(expression, &a, &truth, &err), STATUS_OK);
	assert_true(truth);
	assert_int_equal(expression_int(expression, &a, &integer, &err), STATUS_BAD_INPUT);
	assert_string_equal(err.message, "here: column 1: expected an integer, found a string");
	assert_int_equal(expression_real(expression, &a, &real, &err), STATUS_BAD_INPUT);
	assert_string_equal(err.message, "here: column 1: expected a number, found a string");
	for (size_t i = 0; i < 3; i++) {
		const double refused[] = {64.5, 0x1p63, -0x1.8p63};
		a = value_real(refused[i]);
		assert_int_equal(expression_int(expression, &a, &integer, &err), STATUS_BAD_INPUT);
	}
	a = value_int(3);
	assert_int_equal(expression_string(expression, &a, &string, &err), STATUS_BAD_INPUT);
	assert_string_equal(err.message, "here: column 1: expected a string, found 3");
	/* lists occur only as results of expressions */
	struct value_list list = {0};
	a = (struct value){.type = VALUE_LIST, .list = &list};
	assert_int_equal(expression_test(expression, &a, &truth, &err), STATUS_BAD_INPUT);
	expression_free(expression);
}

TEST(known_names_are_replaced_by_values)
{
	const char *names[] = {"dtype", "BM"};
	const struct name_table table = {.names = names, .count = 2};
	struct expression *expression =
		compiled("dtype == 'fp32' or BM % 16 == 0 and 1 // 0", &table);
	struct value known[2] = {value_string("fp32")}, value;
	struct expression *special = expression_specialise(expression, known);
	assert_true(expression_constant(special, &value));
	assert_true(value.type == VALUE_BOOL && value.boolean);
	expression_free(special);
	known[0] = value_string("bf16");
	special = expression_specialise(expression, known);
	assert_false(expression_constant(special, &value));
	/* an error in a constant part is delayed until the part is evaluated */
	struct error err = {0};
	bool truth;
	known[1] = value_int(8);
	assert_int_equal(expression_test(special, known, &truth, &err), STATUS_OK);
	assert_false(truth);
	known[1] = value_int(32);
	assert_int_equal(expression_test(special, known, &truth, &err), STATUS_BAD_INPUT);
	expression_free(special);
	expression_free(expression);
}

/* Evaluates text, then `repeats` count times, then rest. */
static char *repeated(const char *text, const char *repeats, int count, const char *rest)
{
	struct text whole = {0};
	text_append(&whole, text);
	for (int i = 0; i < count; i++)
		text_append(&whole, repeats);
	text_append(&whole, rest);
	return text_detach(&whole);
}

/* message is NULL if the text must compile */
static void expect_limit(char *text, const char *message)
{
	const struct name_table table = {0};
	struct expression *expression = NULL;
	struct error err = {0};
	enum status status = expression_compile(text, "here", &table, &expression, &err);
	assert_int_equal(status, message ? STATUS_BAD_INPUT : STATUS_OK);
	if (message)
		assert_string_equal(err.message, message);
	expression_free(expression);
	free(text);
}

TEST(limits_are_reported)
{
	expect_limit(repeated("1", " ", 65535, ""), NULL);
	expect_limit(repeated("1", " ", 65536, ""),
		"here: the expression has 65537 characters, more than the limit of 65536");
	expect_limit(repeated("", "(", 65000, ""),
		"here: column 101: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("", "[", 65000, ""),
		"here: column 101: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("", "-", 65000, "1"),
		"here: column 100: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("", "not ", 16000, "1"),
		"here: column 397: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("1", "**1", 20000, ""),
		"here: column 299: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("1", " if 1 else 1", 5000, ""),
		"here: column 1201: expected at most 100 levels of nesting, found more");
	expect_limit(repeated("1", "+1", 999, ""), NULL);
	expect_limit(repeated("1", "+1", 1000, ""),
		"here: column 2000: expected at most 1000 operators in a row, found more");
	/* chains are one node each, however long */
	expect_limit(repeated("1", " and 1", 10000, ""), NULL);
	expect_limit(repeated("1", "<1", 10000, ""), NULL);
	expect_limit(repeated("[1", ",1", 30000, "]"), NULL);
}

TEST(evaluation_takes_bounded_time)
{
	const char *const slow[] = {
		"[0 for i in range(65536) for j in range(65536) for k in range(65536) if 0]",
		"[0 for i in range(60000) if -1 in [j for j in range(60000)]]",
		"[1 for x in [[i for i in range(60000)]] for j in range(60000) if -1 in x]",
		"[1 for x in [[i for i in range(60000)]] for j in range(60000) if x == x if 0]",
		"[1 for x in [[i for i in range(60000)]] for j in range(60000) if max(x) < 0]",
		"[[a, a, a, a] for a in [[b, b, b, b] for b in [[c, c, c, c] for c in [[d, d, d, "
		"d] "
		"for d in [[e, e, e, e] for e in [[f, f, f, f] for f in [[1, 2, 3, 4]]]]]]]]",
	};
	const struct name_table table = {0};
	clock_t start = clock(); /* processor time, because other processes may use the machine */
	for (size_t i = 0; i < ARRAY_COUNT(slow); i++) {
		struct expression *expression;
		struct error err = {0};
		struct value_arena lists = {0};
		struct value value;
		if (expression_compile(slow[i], "here", &table, &expression, &err) != STATUS_OK)
			continue;
		/* evaluation ends, with or without an error, and can be repeated */
		for (int turn = 0; turn < 2; turn++)
			if (!expression_evaluate(expression, NULL, &lists, &value, &err))
				assert_int_equal(value.type, VALUE_LIST);
		value_arena_release(&lists);
		expression_free(expression);
	}
	assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 30);
}

TEST(valid_names_are_told_from_others)
{
	assert_true(name_is_valid("BM"));
	assert_true(name_is_valid("_x9"));
	assert_true(name_is_valid("min"));
	const char *const refused[] = {
		"", "9x", "a b", "a-b", "and", "True", "a ", " a", "\xc3\xbc", "a.b", "'a'", "1"};
	for (size_t i = 0; i < ARRAY_COUNT(refused); i++)
		assert_false(name_is_valid(refused[i]));
	struct name_table table = {0};
	assert_int_equal(name_table_find(&table, "a"), NAME_UNKNOWN);
	assert_int_equal(name_table_add(&table, "a"), 0);
	assert_int_equal(name_table_add(&table, "b"), 1);
	assert_int_equal(name_table_find(&table, "b"), 1);
	name_table_release(&table);
}

/* ---- bounds ---- */
struct box {
	struct value_range names[3];
};

static struct value_range find_in_box(int index, void *context)
{
	return ((const struct box *)context)->names[index];
}

/* Checks that the value at every point of the box is within the bounds. Returns whether the
 * bounds carry any information. */
static bool expect_within_bounds(
	const struct expression *expression, const int low[3], const int high[3])
{
	struct box box;
	struct value values[3];
	for (int i = 0; i < 3; i++)
		box.names[i] = (struct value_range){low[i], high[i]};
	const struct value_range range = expression_range(expression, find_in_box, &box);
	for (int a = low[0]; a <= high[0]; a++)
		for (int b = low[1]; b <= high[1]; b++)
			for (int c = low[2]; c <= high[2]; c++) {
				struct error err;
				double found;
				values[0] = value_int(a);
				values[1] = value_int(b);
				values[2] = value_int(c);
				if (expression_real(expression, values, &found, &err) ==
						STATUS_OK &&
					(found < range.low || found > range.high))
					fail_msg("%s: %g for a=%d, b=%d, c=%d is not in [%g, %g]",
						expression_text(expression), found, a, b, c,
						range.low, range.high);
			}
	return range.low > -INFINITY || range.high < INFINITY;
}

TEST(bounds_hold_for_every_value)
{
	static const char *const texts[] = {"a + b*c", "a - b - c", "-a*b + abs(c)", "a*b*c",
		"a / b", "a // b", "a % b", "a // b + c % 7", "ceil_div(a, b)", "round_up(a, b)",
		"min(a, b, c)", "max(a - b, c)", "a if b < c else -b", "a < b < c", "a == b",
		"a != b", "a <= b and b <= c", "a > 3 or b > 4", "not a", "a and b", "a or b",
		"a in (1, 2, 5)", "b not in [3, 4]", "a in range(3)", "a not in range(b, c)",
		"a in range(1, 9, b)", "int(a / 3)", "is_pow2(a)", "a << 2", "a & b", "2**a",
		"0.1*a + 0.7*b", "(a + 0.5) // 0.25", "a // 0.1", "a*0.3 % 0.2", "any([a, b])",
		"len([a])", "max([a, b])", "a in [b, c]", "a*9007199254740993 - b",
		"'x' == 'x' and a < b", "a < b in (False, True)"};
	const char *names[] = {"a", "b", "c"};
	const struct name_table table = {.names = names, .count = 3};
	struct random_state random;
	size_t informative = 0;
	random_seed(&random, 3);
	for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
		struct expression *expression = compiled(texts[i], &table);
		for (int turn = 0; turn < 100; turn++) {
			int low[3], high[3];
			for (int n = 0; n < 3; n++) {
				low[n] = (int)random_below(&random, 13) - 4;
				high[n] = low[n] + (int)random_below(&random, 5);
			}
			informative += expect_within_bounds(expression, low, high);
		}
		expression_free(expression);
	}
	assert_true(informative > ARRAY_COUNT(texts) * 50);
}
