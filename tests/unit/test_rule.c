/* layer: candidate */
/* SPDX-License-Identifier: MIT
 *
 * What operations and families say beside launches: facts, rules, steps, examples.
 */
#include <math.h>

#include "candidate/bound_family.h"
#include "candidate/rule_pick.h"
#include "unit/kernel_fixture.h"

static void open_widget(struct fixture *fixture, const char *problem, const char *configuration)
{
	fixture_open(fixture, KERNEL_TEMPLATES, "widget", "full", problem, configuration, NULL);
}

static void assert_near(double found, double expected)
{
	assert_true(fabs(found - expected) <= 1e-9 * (1 + fabs(expected)));
}

static void test_facts(void **state)
{
	struct fixture fixture;
	const struct device_spec *device;
	const struct value_list *rates;
	struct fact_list list;
	const struct fact *facts;
	struct error err = {0};

	(void)state;
	open_widget(&fixture, small, "BM=32,REPEATS=4");
	device = fixture.device;
	assert_ok(candidate_facts(fixture.bound, fixture.slots, 1000, 3, &list, &err));
	facts = list.items;
	assert_int_equal(list.count, 6);
	assert_string_equal(facts[0].name, "rows per block");
	assert_int_equal(facts[0].value.integer, 128);
	assert_string_equal(facts[1].name, "resident bytes");
	assert_string_equal(facts[1].unit, "bytes");
	assert_int_equal(facts[1].value.integer, 3000);
	/* a fact reads the one before it by name, and the sheet's rates */
	assert_int_equal(facts[2].value.integer, 2 * 128 * 64);
	assert_near(facts[3].value.real, 2 * 128 * 64 / device->dram_bytes_per_s * 1e6);
	rates = facts[4].value.list;
	assert_int_equal(rates->count, 4);
	assert_near(rates->items[0].real, device->l2_bytes_per_clock * device->clock_hz);
	assert_near(rates->items[1].real,
		device->rate[PIPE_TENSOR_MMA][DTYPE_FP16] * 132 * device->tensor_clock_hz);
	assert_near(rates->items[2].real,
		device->rate[PIPE_TENSOR_WGMMA][DTYPE_FP16] * 132 * device->tensor_clock_hz);
	assert_near(rates->items[3].real, device->launch_us);
	assert_string_equal(facts[5].value.string, "large");
	fact_list_release(&list);
	fixture_close(&fixture);
	open_widget(&fixture, "M=9,N=64,dtype=fp16", "BM=16");
	assert_ok(candidate_facts(fixture.bound, fixture.slots, 0, 1, &list, &err));
	facts = list.items;
	assert_int_equal(list.count, 7);
	assert_string_equal(facts[2].name, "when small");
	assert_string_equal(facts[6].value.string, "small");
	fact_list_release(&list);
	fixture_close(&fixture);
}

static void two_blocks(const struct bound_family *bound, const struct value *slots, void *context,
	int64_t *smem_bytes, int64_t *blocks_per_sm)
{
	(void)bound;
	(void)slots;
	*smem_bytes += *(const int64_t *)context;
	*blocks_per_sm = 2;
}

static void expect_rule(
	const struct fixture *fixture, size_t rule, int64_t more_smem_bytes, const char *expected)
{
	choice choices[SPACE_PARAMETERS_MAX];
	struct text text = {0};
	struct error err = {0};
	bool found;

	assert_ok(rule_pick(fixture->bound, &fixture->bound->family->rules[rule], two_blocks,
		&more_smem_bytes, choices, &found, &err));
	if (found)
		configuration_format(fixture->bound, choices, &text);
	assert_string_equal(text_string(&text), expected);
	text_release(&text);
}

static void test_rules(void **state)
{
	struct fixture fixture;

	(void)state;
	open_widget(&fixture, "M=100,N=64,dtype=fp16", "");
	assert_int_equal(fixture.operation->rule_count, 3);
	assert_string_equal(fixture.operation->rules[2].name, "not_ours");
	assert_int_equal(fixture.bound->family->rule_count, 3);
	/* 128 and 256 are more than M */
	expect_rule(&fixture, 0, 0, "BM=64,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true");
	/* of 50, 52, ... the first that is in the list */
	expect_rule(&fixture, 1, 0, "BM=64,MODE=plain,STAGES=2,REPEATS=1,ALIGNED=true");
	/* 256 bytes a row leave 78 of 20000 bytes; 10000 more leave 39, below all that is tried */
	expect_rule(&fixture, 1, 10000, "");
	expect_rule(&fixture, 2, 0, "");
	fixture_close(&fixture);
}

static void test_steps(void **state)
{
	const struct family *pair;
	struct problem *step;
	struct fixture fixture;
	struct error err = {0};

	(void)state;
	fixture_open(&fixture, KERNEL_TEMPLATES, "widget", NULL, small, "", NULL);
	assert_ok(catalogue_family(&fixture.catalogue, fixture.operation, "pair", &pair, &err));
	assert_int_equal(pair->step_count, 2);
	assert_ok(catalogue_step_problem(
		&fixture.catalogue, pair, 0, fixture.problems.items[0], &step, &err));
	assert_string_equal(step->text, "size=8192,kind=one");
	assert_string_equal(step->operation->name, "gadget");
	problem_free(step);
	assert_ok(catalogue_step_problem(
		&fixture.catalogue, pair, 1, fixture.problems.items[0], &step, &err));
	assert_string_equal(step->text, "size=8192,kind=two");
	problem_free(step);
	assert_string_equal(pair->steps[1].operation, "gadget");
	/* its tensors are those of the family, then the workspace "middle" */
	assert_int_equal(pair->steps[0].tensors[0].buffer, 0);
	assert_int_equal(pair->steps[0].tensors[1].buffer, fixture.operation->tensor_count);
	assert_string_equal(pair->steps[1].tensors[1].name, "B");
	assert_int_equal(pair->steps[1].tensors[1].buffer, fixture.operation->tensor_count - 1);
	fixture_close(&fixture);
}

static void test_examples(void **state)
{
	static const struct broken {
		const char *from, *to, *message;
	} cases[] = {
		{"\"BM\": 32, \"MODE\": \"fancy\"", "\"BM\": 48, \"MODE\": \"fancy\"",
			"$.examples.legal[0]: expected a legal configuration (violated: fancy "
			"needs pairs of warps)"},
		{"\"BM\": 17", "\"BM\": 16",
			"$.examples.illegal[1]: expected an illegal configuration"},
		{"\"BM\": 17", "\"BN\": 16", "$.examples.illegal[1].config.BN: expected a known"},
		{"{\"problem\": \"M=128,N=64,dtype=fp16\", \"config\": {\"BM\": 17}",
			"{\"problem\": \"M=128,dtype=fp16\", \"config\": {\"BM\": 17}",
			"N: expected an integer"},
	};
	struct fixture fixture;
	struct error err = {0};

	(void)state;
	open_widget(&fixture, small, "");
	assert_ok(family_examples_check(fixture.bound->family, fixture.device, &err));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		char *text =
			file_with(KERNEL_TEMPLATES "/widget/full.json", cases[i].from, cases[i].to);
		struct family *family;
		struct json *tree;

		assert_ok(json_parse(text, strlen(text), "f.json", &tree, &err));
		assert_ok(
			family_from_json(tree, "f.json", "full", fixture.operation, &family, &err));
		assert_fails(family_examples_check(family, fixture.device, &err), STATUS_BAD_INPUT,
			cases[i].message);
		family_free(family);
		free(text);
	}
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_facts),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_examples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
