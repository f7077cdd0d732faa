/* SPDX-License-Identifier: MIT
 *
 * Problems near a requested one.
 */
#include "unit/unit.h"
#include "family/catalogue.h"
#include "advise/variant.h"
#include "unit/kernel_fixture.h"

static const struct advice_axis *axis_of(const struct fixture *fixture, const char *key)
{
	const struct advice_list *advice = &fixture->operation->advice;

	for (size_t i = 0; i < advice->count; i++)
		if (strcmp(fixture->operation->keys[advice->items[i].key].name, key) == 0)
			return &advice->items[i];
	fail_msg("no advice on %s", key);
	return NULL;
}

TEST(axes_have_multiples_padding_and_pitches)
{
	static const int64_t expected[] = {8, 32, 64, 128, 256};
	struct fixture fixture;
	int64_t *multiples;
	size_t count;
	struct error err = {0};

	fixture_open(&fixture, "templates", "gemm", NULL, "M=10,N=20,K=30,dtype=bf16", "", NULL);
	assert_ok(advice_multiples(
		fixture.problems.items[0], axis_of(&fixture, "N"), &multiples, &count, &err));
	assert_int_equal(count, 5);
	assert_memory_equal(multiples, expected, sizeof(expected));
	free(multiples);
	assert_true(axis_of(&fixture, "K")->is_padding);
	assert_true(axis_of(&fixture, "ldb")->is_pitch);
	fixture_close(&fixture);
	fixture_open(&fixture, "templates", "attention", NULL, NULL, "", NULL);
	assert_non_null(strstr(fixture.operation->advice.sweep, "dtype="));
	/* a padding key of zeros would get a softmax weight */
	assert_false(axis_of(&fixture, "seq_k")->is_padding);
	fixture_close(&fixture);
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

TEST(variants_are_larger_sizes_and_pitches)
{
	struct variant_list list;
	const struct variant *variant;
	struct fixture fixture;
	struct error err = {0};

	fixture_open(&fixture, "templates", "gemm", NULL,
		"M=4096,N=1793,K=4096,dtype=bf16,b_layout=kn", "", NULL);
	assert_ok(variants_make(fixture.problems.items[0],
		"M=4096,N=1793,K=4096,dtype=bf16,b_layout=kn", &list, &err));
	variant = find(&list, "N 1793 -> 1800");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_PAD);
	assert_int_equal(value_of(variant, "ldb"), 1800); /* the packed pitch follows the size */
	assert_int_equal(value_of(variant, "ldc"), 1800);
	variant = find(&list, "N 1793 -> 1792");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_SHRINK);
	variant = find(&list, "ldb 1793 -> 1800, ldc 1793 -> 1800");
	assert_non_null(variant);
	assert_int_equal(variant->kind, VARIANT_PITCH);
	assert_int_equal(value_of(variant, "N"), 1793);
	/* coarse multiples: the next one and those beyond it */
	assert_non_null(find(&list, "N 1793 -> 1920"));
	assert_null(find(&list, "N 1793 -> 1808")); /* fine multiples: only the next one */
	assert_null(find(&list, "N 1793 -> 2304")); /* the size grows by more than a quarter */
	assert_null(find(&list, "M 4096 -> 4096"));
	for (size_t i = 0; i < list.count; i++)
		for (size_t k = i + 1; k < list.count; k++)
			assert_string_not_equal(
				list.items[i].problem->text, list.items[k].problem->text);
	variant_list_release(&list);
	fixture_close(&fixture);
}

TEST(a_given_pitch_is_respected)
{
	struct variant_list list;
	struct fixture fixture;
	struct error err = {0};

	fixture_open(&fixture, "templates", "gemm", NULL, "M=512,N=513,K=512,dtype=fp32,ldc=520",
		"", NULL);
	assert_ok(variants_make(
		fixture.problems.items[0], "M=512,N=513,K=512,dtype=fp32,ldc=520", &list, &err));
	/* the rows of C have room for 520 elements, not for 544 */
	assert_non_null(find(&list, "N 513 -> 516"));
	assert_int_equal(value_of(find(&list, "N 513 -> 516"), "ldc"), 520);
	assert_null(find(&list, "N 513 -> 544"));
	variant_list_release(&list);
	fixture_close(&fixture);
}

TEST(given_keys_are_found)
{
	struct fixture fixture;
	bool given[64] = {false};
	size_t count = 0;

	fixture_open(&fixture, "templates", "gemm", NULL, NULL, "", NULL);
	variant_find_given(fixture.operation, "M = N=5,K=1,16,dtype=bf16", given);
	for (size_t i = 0; i < fixture.operation->key_count; i++)
		count += given[i];
	assert_int_equal(count, 4);
	assert_true(given[0] && given[1] && given[2]);
	fixture_close(&fixture);
}
