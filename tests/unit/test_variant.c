/* layer: advise */
/* SPDX-License-Identifier: MIT
 *
 * Problems near an asked one, and the texts that they are made of.
 */
#include "family/catalogue.h"
#include "advise/variant.h"
#include "unit/kernel_fixture.h"

static void open_operation(struct fixture *fixture, const char *operation, const char *problem)
{
	static const char *const folders[] = {"templates", NULL};
	struct error err = {0};

	*fixture = (struct fixture){0};
	assert_ok(catalogue_load(folders, operation, &fixture->catalogue, &err));
	assert_ok(catalogue_operation(&fixture->catalogue, operation, &fixture->operation, &err));
	if (problem)
		assert_ok(problem_parse(fixture->operation, problem, &fixture->problems, &err));
}

static const struct advice_axis *axis_of(const struct fixture *fixture, const char *key)
{
	const struct advice_list *advice = &fixture->operation->advice;

	for (size_t i = 0; i < advice->count; i++)
		if (strcmp(fixture->operation->keys[advice->items[i].key].name, key) == 0)
			return &advice->items[i];
	fail_msg("no advice on %s", key);
	return NULL;
}

static void test_axes(void **state)
{
	static const int64_t expected[] = {8, 32, 64, 128, 256};
	struct fixture fixture;
	int64_t *multiples;
	size_t count;
	struct error err = {0};

	(void)state;
	open_operation(&fixture, "gemm", "M=10,N=20,K=30,dtype=bf16");
	assert_ok(advice_multiples(
		fixture.problems.items[0], axis_of(&fixture, "N"), &multiples, &count, &err));
	assert_int_equal(count, 5);
	assert_memory_equal(multiples, expected, sizeof(expected));
	free(multiples);
	assert_true(axis_of(&fixture, "K")->is_padding);
	assert_true(axis_of(&fixture, "ldb")->is_pitch);
	assert_string_equal(advice_alias_parts(fixture.operation, 0, &count)[1], "seq");
	assert_int_equal(count, 2);
	assert_null(advice_alias_parts(fixture.operation, 1, &count));
	fixture_close(&fixture);
	open_operation(&fixture, "attention", NULL);
	assert_non_null(strstr(fixture.operation->advice.sweep, "dtype="));
	assert_false(axis_of(&fixture, "seq_k")->is_padding); /* a key of zeros has a weight */
	fixture_close(&fixture);
}

static void test_broken(void **state)
{
	static const struct {
		const char *advise, *message;
	} cases[] = {
		{"[]", "$.advise: expected an object"},
		{"{\"sweep\": 5}", "$.advise.sweep: expected a string"},
		{"{\"sises\": {}}", "$.advise.sises: expected a known member"},
		{"{\"sizes\": {\"M\": [8]}}", "$.advise.sizes.M: expected an object"},
		{"{\"sizes\": {\"M\": {}}}", "multiples"},
		{"{\"sizes\": {\"O\": {\"multiples\": [8]}}}",
			"$.advise.sizes.O: expected the name of a key that is an integer"},
		{"{\"pitches\": {\"dtype\": {\"multiples\": [8]}}}",
			"$.advise.pitches.dtype: expected the name of a key that is an integer"},
		{"{\"pitches\": {\"lda\": {\"multiples\": \"[K +]\"}}}",
			"$.advise.pitches.lda.multiples"},
		{"{\"pitches\": {\"lda\": {\"multiples\": [8], \"padding\": true}}}",
			"$.advise.pitches.lda.padding: expected a known member"},
		{"{\"sizes\": {\"M\": {\"multiples\": [8], \"padding\": 1}}}",
			"$.advise.sizes.M.padding: expected"},
	};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct operation *operation;
		struct json *tree, *advise;

		assert_ok(json_load("templates/gemm/operation.json", &tree, &err));
		assert_ok(json_parse(
			cases[i].advise, strlen(cases[i].advise), "f.json", &advise, &err));
		json_put(tree, "advise", advise);
		assert_fails(operation_from_json(tree, "f.json", "gemm", &operation, &err),
			STATUS_BAD_INPUT, cases[i].message);
	}
}

static const struct variant *find(const struct variant_list *list, const char *description)
{
	for (size_t i = 0; i < list->count; i++) {
		struct text text = {0};
		bool same;

		variant_describe(&list->items[i], &text);
		same = strcmp(text_string(&text), description) == 0;
		text_release(&text);
		if (same)
			return &list->items[i];
	}
	return NULL;
}

static int64_t value_of(const struct variant *variant, const char *key)
{
	const struct operation *operation = variant->problem->operation;

	for (size_t i = 0; i < operation->key_count; i++)
		if (strcmp(operation->keys[i].name, key) == 0)
			return variant->problem->values[i].integer;
	fail_msg("no key %s", key);
	return 0;
}

static void test_sizes(void **state)
{
	struct variant_list list;
	const struct variant *variant;
	struct fixture fixture;
	struct error err = {0};

	(void)state;
	open_operation(&fixture, "gemm", NULL);
	assert_ok(variants_make(
		fixture.operation, "M=4096,N=1793,K=4096,dtype=bf16,b_layout=kn", &list, &err));
	variant = find(&list, "N 1793 -> 1800");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_PAD);
	assert_int_equal(value_of(variant, "ldb"), 1800); /* a packed pitch follows */
	assert_int_equal(value_of(variant, "ldc"), 1800);
	variant = find(&list, "N 1793 -> 1792");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_SHRINK);
	variant = find(&list, "ldb 1793 -> 1800, ldc 1793 -> 1800");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_PITCH);
	assert_int_equal(value_of(variant, "N"), 1793);
	assert_non_null(find(&list, "N 1793 -> 1920")); /* coarse multiples: more than the next */
	assert_null(find(&list, "N 1793 -> 1808"));     /* fine ones: the next alone */
	assert_null(find(&list, "N 1793 -> 2304"));     /* more than a quarter */
	assert_null(find(&list, "M 4096 -> 4096"));
	for (size_t i = 0; i < list.count; i++)
		for (size_t k = i + 1; k < list.count; k++)
			assert_string_not_equal(
				list.items[i].problem->text, list.items[k].problem->text);
	variant_list_release(&list);
	fixture_close(&fixture);
}

static void test_given_pitch(void **state)
{
	struct variant_list list;
	struct fixture fixture;
	struct error err = {0};

	(void)state;
	open_operation(&fixture, "gemm", NULL);
	assert_ok(variants_make(
		fixture.operation, "M=512,N=513,K=512,dtype=fp32,ldc=520", &list, &err));
	/* C's rows have room for 520, not for 544 */
	assert_non_null(find(&list, "N 513 -> 516"));
	assert_int_equal(value_of(find(&list, "N 513 -> 516"), "ldc"), 520);
	assert_null(find(&list, "N 513 -> 544"));
	variant_list_release(&list);
	fixture_close(&fixture);
}

static void test_alias(void **state)
{
	struct variant_list list;
	const struct variant *variant;
	struct fixture fixture;
	struct error err = {0};

	(void)state;
	open_operation(&fixture, "gemm", NULL);
	assert_ok(variants_make(
		fixture.operation, "batch=16,seq=1000,N=4096,K=4096,dtype=bf16", &list, &err));
	variant = find(&list, "seq 1000 -> 1024");
	assert_non_null(variant);
	assert_int_equal(value_of(variant, "M"), 16 * 1024);
	assert_null(find(&list, "batch 16 -> 32")); /* twice the work */
	assert_null(find(&list, "M 16000 -> 16128"));
	variant_list_release(&list);
	assert_fails(variants_make(fixture.operation, "M=1,2,N=4,K=4,dtype=bf16", &list, &err),
		STATUS_BAD_INPUT, "expected one problem, found 2");
	fixture_close(&fixture);
}

static void test_settings(void **state)
{
	struct setting_list list, copy;
	int64_t value;
	char *text;

	(void)state;
	setting_list_parse("M=N=5,K=1,16,dtype=bf16", &list);
	assert_int_equal(list.count, 4);
	assert_true(setting_list_integer(&list, "N", &value));
	assert_int_equal(value, 5);
	assert_false(setting_list_integer(&list, "K", &value));
	assert_false(setting_list_integer(&list, "dtype", &value));
	setting_list_copy(&list, &copy);
	setting_list_set(&copy, "N", 7);
	setting_list_set(&copy, "lda", 8);
	setting_list_remove(&copy, "M");
	text = setting_list_text(&copy);
	assert_string_equal(text, "lda=8,N=7,K=1,16,dtype=bf16");
	free(text);
	text = setting_list_text(&list);
	assert_string_equal(text, "M=5,N=5,K=1,16,dtype=bf16");
	free(text);
	setting_list_release(&list);
	setting_list_release(&copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_given_pitch),
		cmocka_unit_test(test_alias),
		cmocka_unit_test(test_settings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
