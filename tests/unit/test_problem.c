/* layer: candidate */
/* SPDX-License-Identifier: MIT
 *
 * Problems: text with lists, ranges, groups and aliases, defaults, bad input, JSON.
 */
#include <math.h>

#include "unit/kernel_fixture.h"

static int setup(void **state)
{
	static struct fixture fixture;

	fixture_open(&fixture, KERNEL_TEMPLATES, "widget", NULL, NULL, "", NULL);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

/* The canonical texts, in order, of what the text stands for; separated by blanks. */
static void expect(const struct fixture *fixture, const char *text, const char *expected)
{
	struct problem_list list = {0};
	struct text found = {0};
	struct error err = {0};

	assert_ok(problem_parse(fixture->operation, text, &list, &err));
	for (size_t i = 0; i < list.count; i++)
		text_appendf(&found, "%s%s", i ? " " : "", list.items[i]->text);
	assert_string_equal(text_string(&found), expected);
	text_release(&found);
	problem_list_release(&list);
}

static void test_defaults(void **state)
{
	expect(*state, "M=4,N=16,dtype=fp16",
		"M=4,N=16,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=16");
	/* the order of the text does not matter; a default may read a key that comes after it */
	expect(*state, "ld=20,layout=kn,dtype=bf16,N=16,M=4,H=0",
		"M=4,N=16,H=0,out_dtype=bf16,dtype=bf16,layout=kn,ld=20");
	expect(*state, " M = 4 , N=16 ,dtype= fp32 ,out_dtype=bf16",
		"M=4,N=16,H=8,out_dtype=bf16,dtype=fp32,layout=nk,ld=16");
}

static void test_lists(void **state)
{
	expect(*state, "M=1,2,N=16,dtype=fp16,fp32",
		"M=1,N=16,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=16 "
		"M=1,N=16,H=8,out_dtype=fp32,dtype=fp32,layout=nk,ld=16 "
		"M=2,N=16,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=16 "
		"M=2,N=16,H=8,out_dtype=fp32,dtype=fp32,layout=nk,ld=16");
	expect(*state, "M=1:3,7,N=5:6,dtype=fp16",
		"M=1,N=5,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=5 "
		"M=1,N=6,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=6 "
		"M=2,N=5,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=5 "
		"M=2,N=6,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=6 "
		"M=3,N=5,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=5 "
		"M=3,N=6,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=6 "
		"M=7,N=5,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=5 "
		"M=7,N=6,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=6");
	/* a range ends at or before its last value */
	expect(*state, "M=1:10:4,N=1,dtype=fp16",
		"M=1,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1 "
		"M=5,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1 "
		"M=9,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1");
	expect(*state, "M=N=8:16:8,3,dtype=fp16",
		"M=8,N=8,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=8 "
		"M=16,N=16,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=16 "
		"M=3,N=3,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=3");
}

static void test_aliases(void **state)
{
	expect(*state, "batch=4,seq=8,16,N=1,dtype=fp16",
		"M=32,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1 "
		"M=64,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1");
	expect(*state, "batch=seq=3:4,N=1,dtype=fp16",
		"M=9,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1 "
		"M=16,N=1,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=1");
}

static void test_bad_input(void **state)
{
	static const struct {
		const char *text, *message, *hint;
	} cases[] = {
		{"", "expected KEY=VALUE between commas, found nothing", ""},
		{"M=4,N=4", "dtype: expected one of fp32, fp16, bf16, found no value",
			"widget needs M, N, dtype"},
		{"M=4,N=4,,dtype=fp16", "expected KEY=VALUE between commas, found nothing", ""},
		{"M=4,N=4,dtype=fp16,", "expected KEY=VALUE between commas, found nothing", ""},
		{"4,N=4,dtype=fp16", "expected KEY=VALUE, found \"4\"", ""},
		{"=4,N=4,dtype=fp16", "found \"\"", ""},
		{"M=,N=4,dtype=fp16", "M: expected a value, found nothing", ""},
		{"M=0,N=4,dtype=fp16", "M: expected an integer from 1 to 65536, found \"0\"", ""},
		{"M=-3,N=4,dtype=fp16", "M: expected an integer from 1 to 65536, found \"-3\"", ""},
		{"M=65537,N=4,dtype=fp16",
			"M: expected an integer from 1 to 65536, found \"65537\"", ""},
		{"M=99999999999999999999,N=4,dtype=fp16", "found \"99999999999999999999\"", ""},
		{"N=2147483648,M=4,dtype=fp16",
			"N: expected an integer from 1 to 2147483647, found \"2147483648\"", ""},
		{"M=4k,N=4,dtype=fp16", "M: expected an integer from 1 to 65536, found \"4k\"", ""},
		{"M=4.0,N=4,dtype=fp16", "found \"4.0\"", ""},
		{"M=0x10,N=4,dtype=fp16", "found \"0x10\"", ""},
		{"M=4,N=4,dtype=fp61", "dtype: expected one of fp32, fp16, bf16, found \"fp61\"",
			"did you mean \"fp16\"?"},
		{"M=4,N=4,dtyp=fp16",
			"expected a key of widget (M, N, H, out_dtype, dtype, layout, "
			"ld), found \"dtyp\"",
			"did you mean \"dtype\"?"},
		{"M=4,N=4,dtype=fp16,M=5", "M: expected one value or list, found a second", ""},
		{"M=M=5,N=4,dtype=fp16", "M: expected one value or list, found a second", ""},
		{"M=5:4,N=4,dtype=fp16", "M: expected a range", ""},
		{"M=1:4:0,N=4,dtype=fp16", "M: expected a range", ""},
		{"M=1:4:1:1,N=4,dtype=fp16", "M: expected a range", ""},
		{"M=:4,N=4,dtype=fp16", "M: expected a range", ""},
		{"M=1:,N=4,dtype=fp16", "M: expected a range", ""},
		{"M=0:4,N=4,dtype=fp16", "M: expected an integer from 1 to 65536, found \"0\"", ""},
		{"M=1:9223372036854775807,N=4,dtype=fp16", "M: expected at most 100000 values", ""},
		{"M=1:1000,N=1:1000,dtype=fp16", "expected at most 100000 problems", ""},
		{"M=4,N=8,ld=7,dtype=fp16",
			"widget: expected ld >= N (a row has N elements), found "
			"M=4,N=8,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=7",
			""},
		{"M=4,N=8,layout=nk,kn,dtype=fp32", "no fp32 the other way", ""},
		{"batch=4,N=4,dtype=fp16", "batch: expected seq too (M = batch*seq), found none",
			""},
		{"batch=4,seq=4,M=16,N=4,dtype=fp16",
			"M: expected one value, found a second as batch*seq", ""},
		{"batch=65536,seq=65536,N=4,dtype=fp16",
			"M: expected an integer from 1 to 65536, found \"4294967296\"", ""},
		{"batch=0,seq=4,N=4,dtype=fp16", "batch: expected an integer from 1", ""},
	};
	const struct fixture *fixture = *state;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct problem_list list = {0};
		char *start = string_format("problem \"%s\": ", cases[i].text);

		assert_fails(problem_parse(fixture->operation, cases[i].text, &list, &err),
			STATUS_BAD_INPUT, cases[i].message);
		assert_true(string_starts_with(err.message, start));
		assert_string_equal(err.hint, cases[i].hint);
		assert_int_equal(list.count, 0);
		problem_list_release(&list);
		free(start);
	}
}

/* A failure leaves what was in the list before. */
static void test_append(void **state)
{
	const struct fixture *fixture = *state;
	struct problem_list list = {0};
	struct error err = {0};

	assert_ok(problem_parse(fixture->operation, "M=1,N=1,dtype=fp16", &list, &err));
	assert_fails(problem_parse(fixture->operation, "M=1,N=5,6,ld=5,dtype=fp16", &list, &err),
		STATUS_BAD_INPUT, "a row has N elements");
	assert_int_equal(list.count, 1);
	assert_ok(problem_parse(fixture->operation, "M=2,N=1,dtype=fp16", &list, &err));
	assert_int_equal(list.count, 2);
	assert_int_equal(list.items[1]->values[0].integer, 2);
	problem_list_release(&list);
}

static void expect_json(const struct fixture *fixture, const char *json, const char *expected)
{
	struct problem *problem;
	struct json *tree, *again;
	struct json_at at;
	struct error err = {0};
	char *text;

	assert_ok(json_parse(json, strlen(json), "p.json", &tree, &err));
	at = json_root(tree, "p.json");
	assert_ok(problem_from_json(fixture->operation, &at, &problem, &err));
	again = problem_to_json(problem);
	text = json_print(again, false);
	assert_string_equal(text, expected);
	free(text);
	json_free(again);
	json_free(tree);
	problem_free(problem);
}

static void refuse_json(const struct fixture *fixture, const char *json, const char *message)
{
	struct problem *problem;
	struct json *tree;
	struct json_at at;
	struct error err = {0};

	assert_ok(json_parse(json, strlen(json), "p.json", &tree, &err));
	at = json_root(tree, "p.json");
	assert_fails(problem_from_json(fixture->operation, &at, &problem, &err), STATUS_BAD_INPUT,
		message);
	assert_null(problem);
	json_free(tree);
}

static void test_json(void **state)
{
	const char *full = "{\"M\":4,\"N\":16,\"H\":8,\"out_dtype\":\"fp16\",\"dtype\":\"fp16\","
			   "\"layout\":\"nk\",\"ld\":16}";

	expect_json(*state, full, full);
	expect_json(*state, "{\"dtype\":\"fp16\",\"N\":16,\"M\":4}", full);
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":16,\"MM\":4}", "p.json: $.MM: expected");
	refuse_json(*state, "{\"dtype\":\"fp17\",\"N\":16,\"M\":4}",
		"p.json: $.dtype: expected one of fp32, fp16, bf16, found \"fp17\"");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":0,\"M\":4}",
		"p.json: $.N: expected an integer from 1 to 2147483647, found 0");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":1.5,\"M\":4}",
		"p.json: $.N: expected an integer");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":\"16\",\"M\":4}", "p.json: $.N: expected");
	refuse_json(*state, "{\"dtype\":3,\"N\":16,\"M\":4}", "p.json: $.dtype: expected one of");
	refuse_json(*state, "[]", "p.json: $: expected an object");
	refuse_json(*state, "{\"N\":16,\"M\":4}", "dtype: expected one of");
}

/* Real numbers, of gemm: a whole one is written as an integer, however it was given. */
static void test_real_numbers(void **state)
{
	struct fixture gemm;
	struct problem_list list = {0};
	struct error err = {0};
	char *old = string_copy("M=4,N=8,K=16,dtype=bf16,b_layout=nk,lda=16,ldb=16,ldc=8,"
				"out_dtype=bf16,act=none,accum=fast");

	(void)state;
	fixture_open(&gemm, "templates", "gemm", NULL, NULL, "", NULL);
#define GEMM                                                                                       \
	"M=4,N=8,K=16,dtype=bf16,b_layout=nk,lda=16,ldb=16,ldc=8,out_dtype=bf16,act=none,accum="   \
	"fast,"
#define ONE ",batch=1,rows_a=4,rows_b=8"
	/* a part of an alias that is a key, too */
	expect(&gemm, "batch=2,seq=2,N=8,K=16,dtype=bf16",
		GEMM "scale=none,bias=none,alpha=1,beta=0,residual=0" ONE);
	expect(&gemm, "batch=2,M=4,N=8,K=16,dtype=bf16",
		GEMM "scale=none,bias=none,alpha=1,beta=0,residual=0,batch=2,rows_a=4,rows_b=8");
	assert_fails(problem_parse(gemm.operation, "seq=2,N=8,K=16,dtype=bf16", &list, &err),
		STATUS_BAD_INPUT, "seq: expected batch too");
	assert_fails(
		problem_parse(gemm.operation, "batch=2,seq=2,M=4,N=8,K=16,dtype=bf16", &list, &err),
		STATUS_BAD_INPUT, "M: expected one value, found a second");
	expect(&gemm, "M=4,N=8,K=16,dtype=bf16,alpha=1.0,beta=-2e0",
		GEMM "scale=none,bias=none,alpha=1,beta=-2,residual=0" ONE);
	expect(&gemm, "M=4,N=8,K=16,dtype=bf16,alpha=-0.1,beta=0.5,1",
		GEMM "scale=none,bias=none,alpha=-0.1,beta=0.5,residual=0" ONE " " GEMM
		     "scale=none,bias=none,alpha=-0.1,beta=1,residual=0" ONE);
	expect_json(&gemm,
		"{\"M\":4,\"N\":8,\"K\":16,\"dtype\":\"bf16\",\"alpha\":2.5,\"beta\":1.0}",
		"{\"M\":4,\"N\":8,\"K\":16,\"dtype\":\"bf16\",\"b_layout\":\"nk\",\"lda\":16,"
		"\"ldb\":16,"
		"\"ldc\":8,\"out_dtype\":\"bf16\",\"act\":\"none\",\"accum\":\"fast\",\"scale\":"
		"\"none\","
		"\"bias\":\"none\",\"alpha\":2.5,\"beta\":1,\"residual\":0,"
		"\"batch\":1,\"rows_a\":4,\"rows_b\":8}");
	for (size_t i = 0; i < 4; i++) {
		static const char *const wrong[] = {
			"alpha=x", "alpha=1e999", "alpha=nan", "alpha=0x1"};
		CLEANUP(memory_free)
		char *text = string_format("M=4,N=8,K=16,dtype=bf16,%s", wrong[i]);

		assert_fails(problem_parse(gemm.operation, text, &list, &err), STATUS_BAD_INPUT,
			"alpha: expected a number, found");
	}
	/* a text from before the keys existed */
	problem_text_complete(gemm.operation, &old);
	assert_string_equal(old, GEMM "scale=none,bias=none,alpha=1,beta=0,residual=0" ONE);
	free(old);
	fixture_close(&gemm);
}

static void test_amounts(void **state)
{
	const struct fixture *fixture = *state;
	struct problem_list list = {0};
	struct error err = {0};
	double flop, bytes;

	assert_ok(problem_parse(
		fixture->operation, "M=4,N=16,dtype=fp16,out_dtype=fp32", &list, &err));
	assert_ok(problem_flop(list.items[0], &flop, &err));
	assert_ok(problem_min_bytes(list.items[0], &bytes, &err));
	assert_true(fabs(flop - 192) < 1e-9);
	assert_true(fabs(bytes - 64 * 6) < 1e-9);
	problem_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_real_numbers),
		cmocka_unit_test(test_amounts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
