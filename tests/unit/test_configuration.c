/* SPDX-License-Identifier: MIT
 *
 * Configurations: text, JSON, defaults, and the nearest legal ones.
 */
#include "unit/unit.h"
#include "unit/kernel_fixture.h"

static void open_widget(struct fixture *fixture, const char *problem, const char *configuration)
{
	fixture_open(fixture, KERNEL_TEMPLATES, "widget", "full", problem, configuration, NULL);
}

TEST(bad_configurations_are_refused)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"BM", "configuration \"BM\": expected NAME=VALUE, found \"BM\""},
		{"BM=64,", "expected NAME=VALUE, found \"\""},
		{"BN=64", "widget/full has no parameter \"BN\""},
		{"BM=64,BM=64", "BM: the parameter is given twice"},
		{"BM=x", "BM: expected one of 16, 32, 48, 64, 80, 96, 112, 128, found \"x\""},
		{"MODE=plan", "MODE: expected one of plain, fancy, found \"plan\""},
	};
	struct fixture fixture;
	struct text text = {0};
	struct error err = {0};
	struct named_values values;
	choice again[SPACE_PARAMETERS_MAX] = {0};
	bool given[SPACE_PARAMETERS_MAX];
	struct value parsed[128];

	open_widget(&fixture, small, "");
	configuration_format(fixture.bound, fixture.choices, &text);
	assert_string_equal(text.data, "BM=64,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true");
	values = configuration_named_values(fixture.bound, fixture.choices);
	assert_ok(configuration_from_named_values(fixture.bound, &values, again, &err));
	assert_memory_equal(again, fixture.choices, 5 * sizeof(choice));
	named_values_put(&values, 0, "BM", value_int(65));
	assert_fails(configuration_from_named_values(fixture.bound, &values, again, &err),
		STATUS_BAD_INPUT, "BM: expected one of ");
	named_values_put(&values, 0, "BN", value_int(64));
	assert_fails(configuration_from_named_values(fixture.bound, &values, again, &err),
		STATUS_BAD_INPUT, "has no parameter");
	named_values_release(&values);
	assert_fails(configuration_from_named_values(fixture.bound, &values, again, &err),
		STATUS_BAD_INPUT, "the configuration gives no value of BM");
	/* the file is older than the family's parameter REPEATS */
	values = configuration_named_values(fixture.bound, fixture.choices);
	free(values.items[4].name);
	values.count = 4;
	named_values_put(&values, 3, "ALIGNED", value_bool(true));
	assert_ok(configuration_from_named_values(fixture.bound, &values, again, &err));
	assert_int_equal(again[3], 1);
	again[3] = 0;
	assert_true(
		configuration_read(fixture.bound, "BM=64,MODE=plain,STAGES=2,ALIGNED=true", again));
	assert_int_equal(again[3], 1);
	assert_false(configuration_read(
		fixture.bound, "BM=64,MODE=plain,REPEATS=1,ALIGNED=true", again));
	assert_false(configuration_read(
		fixture.bound, "BM=64,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true,", again));
	named_values_release(&values);
	assert_ok(configuration_parse(
		fixture.bound, "MODE=fancy,ALIGNED=false,BM=20", parsed, given, &err));
	assert_true(given[0] && given[1] && !given[2] && !given[3] && given[4]);
	assert_int_equal(parsed[0].integer, 20);
	assert_string_equal(parsed[1].string, "fancy");
	assert_false(parsed[4].boolean);
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++)
		assert_fails(configuration_parse(fixture.bound, bad[i].text, parsed, given, &err),
			STATUS_BAD_INPUT, bad[i].message);
	text_release(&text);
	fixture_close(&fixture);
}

static void expect_default(const char *problem, const char *where, const char *expected)
{
	struct fixture fixture;
	struct bound_family *bound;
	struct text text = {0};
	struct error err = {0};
	choice choices[SPACE_PARAMETERS_MAX];
	bool found;

	open_widget(&fixture, problem, "");
	assert_ok(family_bind(fixture.bound->family, fixture.problems.items[0], fixture.device,
		where, &bound, &err));
	assert_ok(configuration_default(bound, choices, &found, &err));
	if (found)
		configuration_format(bound, choices, &text);
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
	bound_family_free(bound);
	fixture_close(&fixture);
}

/* Legal defaults are used; otherwise the configuration nearest in factors of two. */
TEST(the_nearest_legal_configuration_is_the_default)
{
	expect_default(small, NULL, "BM=64,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true");
	expect_default(
		"M=8,N=9,dtype=fp16", NULL, "BM=16,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=false");
	expect_default(small, "BM != 64 and STAGES != 2",
		"BM=80,MODE=plain,STAGES=3,REPEATS=1,ALIGNED=true");
	expect_default(small, "BM > 100 and MODE == 'fancy'",
		"BM=128,MODE=fancy,STAGES=2,REPEATS=1,ALIGNED=true");
	expect_default(small, "BM > 128", "");
}
