/* SPDX-License-Identifier: MIT
 *
 * Problems: text with lists, ranges and groups; defaults; bad input; JSON.
 */
#include "unit/unit.h"
#include "problem_json.h"
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

/* Checks the canonical texts of the problems, in order, separated by blanks. */
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

static void expect_title(struct fixture *fixture, const char *text, const char *expected)
{
	struct problem_list list = {0};
	struct error err = {0};

	assert_ok(problem_parse(fixture->operation, text, &list, &err));
	assert_string_equal(list.items[0]->title, expected);
	problem_list_release(&list);
}

TEST(titles_leave_out_what_follows_from_the_rest)
{
	struct fixture *fixture = *state;

	expect_title(fixture, "M=4,N=16,dtype=fp16", "M=4,N=16,dtype=fp16");
	expect_title(fixture, "M=4,N=16,dtype=fp16,H=8,ld=16,layout=nk", "M=4,N=16,dtype=fp16");
	expect_title(fixture, "ld=20,M=4,N=16,dtype=fp32,out_dtype=bf16,H=0",
		"M=4,N=16,H=0,out_dtype=bf16,dtype=fp32,ld=20");
	catalogue_show_defaults(&fixture->catalogue, true);
	expect_title(fixture, "M=4,N=16,dtype=fp16",
		"M=4,N=16,H=8,out_dtype=fp16,dtype=fp16,layout=nk,ld=16");
	catalogue_show_defaults(&fixture->catalogue, false);
}

/* After a failure the list is unchanged. */
TEST(a_failed_append_leaves_the_list_unchanged)
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

TEST(problems_survive_json)
{
	const char *full = "{\"M\":4,\"N\":16,\"H\":8,\"out_dtype\":\"fp16\",\"dtype\":\"fp16\","
			   "\"layout\":\"nk\",\"ld\":16}";

	expect_json(*state, full, full);
	expect_json(*state, "{\"dtype\":\"fp16\",\"N\":16,\"M\":4}", full);
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":16,\"MM\":4}", "widget has no key \"MM\"");
	refuse_json(*state, "{\"dtype\":\"fp17\",\"N\":16,\"M\":4}",
		"dtype: expected one of fp32, fp16, bf16, found \"fp17\"");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":0,\"M\":4}",
		"N: expected an integer from 1 to 2147483647, found \"0\"");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":1.5,\"M\":4}", "N: expected an integer");
	refuse_json(*state, "{\"dtype\":\"fp16\",\"N\":\"16\",\"M\":4}", "N: expected");
	refuse_json(*state, "{\"dtype\":3,\"N\":16,\"M\":4}", "dtype: expected one of");
	refuse_json(*state, "{\"N\":16,\"M\":4}", "the key dtype is missing; it takes one of");
}

/* Real-valued keys of gemm: a whole number is written as an integer, in whatever form it was
 * given. */
TEST(whole_numbers_are_written_as_integers)
{
	struct fixture gemm;
	char *old = string_copy("M=4,N=8,K=16,dtype=bf16,b_layout=nk,lda=16,ldb=16,ldc=8,"
				"out_dtype=bf16,act=none,accum=fast");

	fixture_open(&gemm, "templates", "gemm", NULL, NULL, "", NULL);
#define GEMM                                                                                       \
	"M=4,N=8,K=16,dtype=bf16,b_layout=nk,lda=16,ldb=16,ldc=8,out_dtype=bf16,act=none,accum="   \
	"fast,"
#define ONE ",batch=1,rows_a=4,rows_b=8"
	expect(&gemm, "batch=2,M=4,N=8,K=16,dtype=bf16",
		GEMM "scale=none,bias=none,alpha=1,beta=0,residual=0,batch=2,rows_a=4,rows_b=8");
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
	/* the text is older than these keys */
	problem_text_complete(gemm.operation, &old);
	assert_string_equal(old, GEMM "scale=none,bias=none,alpha=1,beta=0,residual=0" ONE);
	free(old);
	fixture_close(&gemm);
}

TEST_GROUP(setup, teardown)
