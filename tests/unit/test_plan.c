/* SPDX-License-Identifier: MIT
 *
 * Plans: limits of launches, the driver's rules for tensor maps, references.
 * tests/checks/grids.py tests the plans of families, tests/rules/test_records.py their JSON.
 */
#include <math.h>

#include "unit/unit.h"
#include "record/record_write.h"
#include "record/record_read.h"
#include "candidate/problem_reference.h"
#include "family/buffer.h"
#include "family/operation.h"
#include "unit/kernel_fixture.h"
#include "candidate/candidate_work.h"
#include "candidate/candidate.h"

/* Makes one change to the widget and expects that its plan and work are refused, where no
 * constraint removes the configuration first. tests/errors/family.txt has more limits. */
static void expect_refusal(const char *from, const char *to, const char *message)
{
	struct changed changed;
	struct plan plan = {0};
	struct work work;
	struct error err = {0};

	changed_open(&changed, from, to);
	assert_fails(candidate_plan(changed.bound, changed.values, &plan, &err), STATUS_BAD_INPUT,
		message);
	assert_null(plan.buffers);
	assert_fails(candidate_work(changed.bound, changed.values, &work, &err), STATUS_BAD_INPUT,
		message);
	changed_close(&changed);
}

TEST(blocks_beyond_the_limits_are_refused)
{
	static const char block[] = "\"block\": [\"THREADS\", 1, 1]";

	expect_refusal(block, "\"block\": [\"THREADS\", 1, \"64 + BM//BM\"]",
		"$.launches[0].block[2] (block of launch 1, widget_main): expected a number from 1 "
		"to 64");
	expect_refusal(block, "\"block\": [128, 16, 1]",
		"$.launches[0].block[0]: expected at most 1024 threads in a block, found 2048");
}

/* Tensors too large for any machine, and pitches that the constraints allow. */
static const struct record_member tensors_members[] = {
	RECORD_MAP(struct operation, tensors, tensor_count, tensor_record, "tensors"),
};
static RECORD_DEFINE(struct operation, tensors_record, tensors_members, .name = "tensors");

TEST(wrong_tensors_are_refused)
{
	const char *configs[] = {NULL};
	struct operation operation = {0};
	struct name_table *names = &operation.key_names;
	struct expression_reading reading = {.operation = &operation, .names = names};
	struct device_spec *device;
	struct tensor *tensor;
	struct plan_buffer buffer;
	struct json *tree;
	struct json_at at;
	struct error err = {0};
	static const char text[] =
		"{\"tensors\": {\"T\": {\"shape\": [\"a\", \"a\", \"a\"], \"ld\": \"b\", "
		"\"dtype\": \"fp16\", \"role\": \"in\"}, \"U\": {\"shape\": [\"a\", \"b\"], "
		"\"when\": \"a > 0\", \"contents\": \"permutation\", \"dtype\": \"i32\", "
		"\"role\": \"in\"}, \"V\": {\"shape\": [\"a + 1\"], \"contents\": \"offsets\", "
		"\"of\": \"b\", \"skew\": \"a / 2\", \"dtype\": \"i32\", \"role\": \"in\"}, "
		"\"W\": {\"shape\": [\"a\"], \"contents\": \"counts\", \"of\": \"b\", "
		"\"dtype\": \"i32\", \"role\": \"in\"}}}";
	struct value values[2];

	name_table_add(names, "a");
	name_table_add(names, "b");
	assert_ok(device_spec_load("", configs, &device, &err));
	assert_ok(json_parse(text, strlen(text), "t", &tree, &err));
	at = json_root(tree, "t");
	assert_ok(record_from_json_computed(
		&tensors_record, &at, &operation, family_computed_read, &reading, &err));
	tensor = &operation.tensors[0];
	values[0] = value_int(3);
	values[1] = value_int(5);
	assert_ok(tensor_evaluate(tensor, values, &buffer, &err));
	assert_int_equal(buffer.rows, 9);
	assert_int_equal(buffer.columns, 3);
	assert_int_equal(buffer.ld, 5);
	assert_int_equal(buffer.bytes, (8 * 5 + 3) * 2); /* the buffer ends with the last element */
	values[1] = value_int(2);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"t: $.tensors.T.ld: expected a pitch of at least 3 elements (one row), found 2");
	values[0] = value_int(0);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"t: $.tensors.T.shape[0]: expected a dimension of at least 1, found 0");
	values[0] = values[1] = value_int((int64_t)1 << 32);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"tensor T: it has 2^63 bytes or more");
	values[0] = values[1] = value_int((int64_t)1 << 31);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"tensor T: it has 2^63 bytes or more");
	tensor = &operation.tensors[1];
	values[0] = values[1] = value_int(5);
	assert_ok(tensor_evaluate(tensor, values, &buffer, &err));
	assert_int_equal(buffer.contents, CONTENTS_PERMUTATION);
	assert_int_equal(buffer.bytes, 5 * 5 * 4);
	values[0] = values[1] = value_int(46341);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"tensor U: a permutation has at most 2^31 - 1 numbers");
	values[0] = value_int(0);
	assert_ok(tensor_evaluate(tensor, values, &buffer, &err));
	assert_int_equal(buffer.bytes, 0);
	tensor = &operation.tensors[2];
	values[0] = value_int(3);
	values[1] = value_int(100);
	assert_ok(tensor_evaluate(tensor, values, &buffer, &err));
	assert_int_equal(buffer.contents, CONTENTS_OFFSETS);
	assert_int_equal(buffer.columns, 4);
	assert_true(buffer.fill_low == 100 && buffer.fill_high == 1.5);
	values[0] = value_int(65537);
	assert_fails(tensor_evaluate(tensor, values, &buffer, &err), STATUS_BAD_INPUT,
		"tensor V: expected 2 to 65537 offsets, found 1 rows of 65538");
	tensor = &operation.tensors[3];
	values[0] = value_int(1);
	assert_ok(tensor_evaluate(tensor, values, &buffer, &err));
	assert_int_equal(buffer.contents, CONTENTS_COUNTS);
	assert_int_equal(buffer.columns, 1);
	assert_true(buffer.fill_low == 100 && buffer.fill_high == 0);
	record_release(&tensors_record, &operation);
	name_table_release(names);
	json_free(tree);
	device_spec_free(device);
}

static const struct plan_tensor_map good_map = {.name = "m",
	.dtype = DTYPE_BF16,
	.rank = 3,
	.dims = {64, 4096, 2},
	.stride_count = 2,
	.strides = {8192, 33554432},
	.box = {64, 128, 1},
	.swizzle_bytes = 128,
	.l2_promotion_bytes = 256};

static void expect_map_refused(struct plan_tensor_map map, const char *message)
{
	struct error err = {0};

	assert_fails(plan_tensor_map_check(&map, &err), STATUS_BAD_INPUT, message);
	assert_true(string_starts_with(err.message, "tensor map m: "));
}

TEST(wrong_tensor_maps_are_refused)
{
	struct plan_tensor_map map = good_map;
	struct error err = {0};

	assert_ok(plan_tensor_map_check(&map, &err));
	map.rank = 6;
	expect_map_refused(map, "expected at most 5 dimensions, found 6");
	map = good_map, map.dims[1] = 0;
	expect_map_refused(map, "dims[1]: expected 1 to 2^32, found 0");
	map.dims[1] = ((uint64_t)1 << 32) + 1;
	expect_map_refused(map, "dims[1]: expected 1 to 2^32");
	map.dims[1] = (uint64_t)1 << 32;
	assert_ok(plan_tensor_map_check(&map, &err));
	map = good_map, map.box[1] = 257;
	expect_map_refused(map, "box[1]: expected 1 to 256, found 257");
	map.box[1] = 0;
	expect_map_refused(map, "box[1]: expected 1 to 256, found 0");
	map = good_map, map.box[0] = 60;
	expect_map_refused(map, "box[0]: expected a multiple of 16 bytes, found 120");
	map = good_map, map.swizzle_bytes = 64;
	expect_map_refused(map, "box[0]: expected at most the swizzle's 64 bytes, found 128");
	map.swizzle_bytes = 0, map.box[0] = 256, map.dims[0] = 256;
	assert_ok(plan_tensor_map_check(&map, &err));
	map = good_map, map.swizzle_bytes = 16;
	expect_map_refused(map, "swizzle: expected 0, 32, 64 or 128, found 16");
	map = good_map, map.l2_promotion_bytes = 32;
	expect_map_refused(map, "l2_promotion: expected 0, 64, 128 or 256, found 32");
	map = good_map, map.strides[0] = 8200;
	expect_map_refused(
		map, "strides[0]: expected a multiple of 16 bytes below 2^40, found 8200");
	map = good_map, map.strides[1] = (uint64_t)1 << 40;
	expect_map_refused(map, "strides[1]: expected a multiple of 16 bytes below 2^40");
	map = good_map, map.strides[0] = 112;
	expect_map_refused(map, "strides[0]: expected at least the 128 bytes of a row, found 112");
	map = good_map, map.rank = 1, map.stride_count = 0; /* one dimension needs no pitch */
	map.dims[1] = map.dims[2] = map.box[1] = map.box[2] = 0;
	assert_ok(plan_tensor_map_check(&map, &err));
	map = (struct plan_tensor_map){.name = "absent"};
	assert_ok(plan_tensor_map_check(&map, &err));
}

/* Tolerances of real operations, computed by hand from their "why" texts. */
TEST(tolerances_are_those_computed_by_hand)
{
	static const struct {
		const char *operation, *problem;
		double abs, rel;
	} cases[] = {
		/* abs: 2^-24 K (1 + sqrt(K)/16) + 2^-20, rel: 1.01 2^-8 + 2^-24 (4 + K/8), K = 4096
		 */
		{"gemm", "M=64,N=64,K=4096,dtype=bf16", 0.00122165679931640625,
			0.0039760828018188478},
		/* 2^-24 K 4 + 2^-20; 1.01 2^-23 + 2^-22 */
		{"gemm", "M=64,N=64,K=1024,dtype=fp32", 0.000245094299316406, 3.5882e-7},
		/* 2^-8 4/sqrt(1024); 2^-7 */
		{"attention", "batch=1,heads=2,seq_q=64,seq_k=1024,head_dim=64,dtype=bf16",
			0.00048828125, 0.0078125},
		/* the row with the fewest keys has one: 2^-11; 2^-10 */
		{"attention", "batch=1,heads=2,seq_q=64,seq_k=64,head_dim=64,dtype=fp16,causal=1",
			0.00048828125, 0.0009765625},
		/* 2^-7 8 (1 + 0.5 sqrt(256 64 2^-19)) + 2^-24 256 2 8 + 2^-20; 1.01 2^-8 + 2^-24 36
		 */
		{"gemm_chain", "m=64,n=256,k=64,p=64,dtype=bf16", 0.068269804, 0.003947458},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct fixture fixture;
		struct reference_plan plan;
		struct build build;
		struct error err = {0};

		fixture_open(&fixture, "templates", cases[i].operation, NULL, cases[i].problem, "",
			NULL);
		assert_ok(problem_reference(
			fixture.problems.items[0], NULL, fixture.device, &build, &plan, &err));
		if (!(fabs(plan.outputs[0].tolerance_abs / cases[i].abs - 1) < 1e-4) ||
			!(fabs(plan.outputs[0].tolerance_rel / cases[i].rel - 1) < 1e-4))
			fail_msg("%s: expected tolerances of %.9g and %.9g, found %.9g and %.9g",
				cases[i].problem, cases[i].abs, cases[i].rel,
				plan.outputs[0].tolerance_abs, plan.outputs[0].tolerance_rel);
		reference_plan_release(&plan);
		build_release(&build);
		fixture_close(&fixture);
	}
}

TEST(a_reference_plan_survives_json)
{
	struct fixture fixture;
	struct reference_plan plan, again = {0};
	struct build build;
	struct json *tree, *back;
	char *text, *text_again;
	struct json_at at;
	struct error err = {0};

	fixture_open(&fixture, KERNEL_TEMPLATES, "widget", NULL,
		"M=100,N=33,ld=37,H=3,dtype=bf16,out_dtype=fp32", "", NULL);
	assert_ok(problem_reference(
		fixture.problems.items[0], NULL, fixture.device, &build, &plan, &err));
	assert_int_equal(build.unit_count, 1);
	assert_string_equal(build.units[0].name, "widget/reference.cu");
	assert_string_equal(build.units[0].entries[0], "widget_reference");
	tree = record_to_json(&reference_plan_record, &plan);
	at = json_root(tree, "reference");
	assert_ok(record_from_json(&reference_plan_record, &at, &again, NULL, &err));
	back = record_to_json(&reference_plan_record, &again);
	text = json_print(tree, false);
	text_again = json_print(back, false);
	assert_string_equal(text_again, text);
	free(text);
	free(text_again);
	json_free(back);
	assert_true(fabs(again.outputs[0].tolerance_abs - 1.0 / 1024) < 1e-12);
	assert_int_equal(again.outputs[0].tensor, 2);
	assert_int_equal(again.outputs[0].units_per_block, 32);
	assert_false(again.outputs[0].unit_is_row);
	assert_int_equal(again.outputs[0].launch->shape.block[0], 256);
	assert_int_equal(again.outputs[0].launch->shape.smem_dynamic_bytes, 12);
	assert_int_equal(again.outputs[0].launch->arguments[5].integer, 33 * 37);
	reference_plan_release(&again);
	plan.outputs[0].tensor = 3;
	json_free(tree);
	tree = record_to_json(&reference_plan_record, &plan);
	at = json_root(tree, "reference");
	assert_fails(record_from_json(&reference_plan_record, &at, &again, NULL, &err),
		STATUS_BAD_INPUT, "reference: $: output 0 is not a tensor");
	json_free(tree);
	reference_plan_release(&plan);
	build_release(&build);
	fixture_close(&fixture);
}
