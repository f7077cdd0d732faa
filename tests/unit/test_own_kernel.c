/* layer: candidate */
/* SPDX-License-Identifier: MIT
 *
 * What a kernel of one's own may leave out, and what is assumed then.
 */
#include <math.h>

#include "candidate/bound_family.h"
#include "candidate/candidate_work.h"
#include "unit/kernel_fixture.h"

static void assert_near(double found, double expected)
{
	if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
		fail_msg("expected %.17g, found %.17g", expected, found);
}

/* An operation and a family that say what must be said and no more. */
static void test_no_model(void **state)
{
	static const char operation_text[] =
		"{\"format\": \"tiletune.operation/1\", \"name\": \"add\", \"summary\": \"\","
		"\"keys\": {\"n\": {\"type\": \"int\", \"min\": 1}, "
		"\"dtype\": {\"enum\": [\"float\", \"half\"], \"default\": \"'float'\"}},"
		"\"tensors\": {\"A\": {\"shape\": [\"n\"], \"dtype\": \"fp32\", \"role\": \"in\"},"
		"\"B\": {\"shape\": [2, \"n\"], \"dtype\": \"fp16\", \"role\": \"out\"}},"
		"\"reference\": {\"source\": \"reference.cu\", \"entry\": \"r\", \"unit\": "
		"\"element\","
		"\"units_per_block\": 1, \"block\": 1, \"args\": []},"
		"\"tolerance\": {\"abs\": 0, \"rel\": 0}}";
	static const char family_text[] =
		"{\"format\": \"tiletune.family/1\", \"operation\": \"add\", \"summary\": \"\","
		"\"source\": \"add.cu\", \"launches\": [{\"entry\": \"add\", \"grid\": [\"n\", 2, "
		"1],"
		"\"block\": [64, 1, 1], \"args\": [\"A\", \"B\"]},"
		"{\"entry\": \"add\", \"grid\": [1, 1, 1], \"block\": [32, 1, 1], \"repeat\": 3,"
		"\"args\": []}]}";
	struct fixture fixture;
	struct operation *operation;
	struct family *family;
	struct problem_list problems = {0};
	struct bound_family *bound;
	struct value slots[64] = {0};
	struct json *tree;
	struct work work;
	struct error err = {0};
	double flop, bytes;

	(void)state;
	fixture_open(
		&fixture, KERNEL_TEMPLATES, "widget", NULL, NULL, "", NULL); /* for its device */
	assert_ok(json_parse(operation_text, strlen(operation_text), "o", &tree, &err));
	assert_ok(operation_from_json(tree, "o", "add", &operation, &err));
	assert_ok(json_parse(family_text, strlen(family_text), "f", &tree, &err));
	assert_ok(family_from_json(tree, "f", "plain", operation, &family, &err));
	assert_ok(problem_parse(operation, "n=1000", &problems, &err));
	assert_ok(problem_flop(problems.items[0], &flop, &err));
	assert_ok(problem_min_bytes(problems.items[0], &bytes, &err));
	assert_near(flop, 0);
	assert_near(bytes, 1000 * 4 + 2 * 1000 * 2);
	assert_ok(family_bind(family, problems.items[0], fixture.device, NULL, &bound, &err));
	assert_ok(space_values(bound->space, (const choice[]){0}, slots, &err));
	bound->model.flop = 6000;
	assert_ok(candidate_work(bound, slots, &work, &err));
	assert_int_equal(work.launch_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct launch_work *launch = &work.launches[i];

		/* the two share what there is to do; tensor cores might do it */
		assert_false(launch->has_model);
		assert_near(launch->units, i ? 1 : 2000);
		assert_near(
			launch->prologue[PIPE_TENSOR_WGMMA] * launch->units * (i ? 3 : 1), 3000);
		assert_near(launch->dram_read_bytes * (i ? 3 : 1), bytes / 2);
		assert_int_equal(launch->dtype, DTYPE_FP16);
	}
	work_release(&work);
	bound_family_free(bound);
	problem_list_release(&problems);
	family_free(family);
	operation_free(operation);
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
