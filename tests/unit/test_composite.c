/* SPDX-License-Identifier: MIT
 *
 * Composite families: the whole's plan, build and work from those of its steps.
 */
#include <math.h>

#include "unit/unit.h"
#include "record/record_write.h"
#include "record/record_read.h"
#include "candidate/composite.h"
#include "unit/kernel_fixture.h"
#include "candidate/candidate_work.h"

static void bind_pair(struct fixture *fixture, const char *problem, struct bound_family **bound)
{
	const struct family *pair;
	struct error err = {0};

	fixture_open(fixture, KERNEL_TEMPLATES, "widget", NULL, problem, "", NULL);
	assert_ok(catalogue_family(&fixture->catalogue, fixture->operation, "pair", &pair, &err));
	assert_ok(
		family_bind(pair, fixture->problems.items[0], fixture->device, NULL, bound, &err));
}

/* {"family": ..., "configuration": {...}} of a step, from text. */
struct list {
	struct named_values values;
};
static const struct record_member list_members[] = {
	RECORD_NAMED_VALUES(struct list, values, "values"),
};
static RECORD_DEFINE(struct list, list_record, list_members);

static enum status choose(struct fixture *fixture, struct bound_family *bound, size_t step,
	const char *family, const char *configuration, struct error *err)
{
	struct list list = {0};
	char *text = string_format("{\"values\":%s}", configuration);
	struct json *json;
	struct json_at at;
	enum status status;

	assert_int_equal(json_parse(text, strlen(text), "test", &json, err), STATUS_OK);
	at = json_root(json, "test");
	assert_int_equal(record_from_json(&list_record, &at, &list, NULL, err), STATUS_OK);
	status = composite_choose(&fixture->catalogue, bound, step, family, &list.values, err);
	named_values_release(&list.values);
	free(text);
	json_free(json);
	return status;
}

TEST(test_plain_steps)
{
	struct fixture fixture;
	struct bound_family *bound;
	struct plan plan;
	struct build build;
	struct work work;
	struct value *values;
	choice none[1];
	struct error err = {0};

	bind_pair(&fixture, "M=128,N=64,dtype=fp32", &bound);
	assert_int_equal(bound->space->parameter_count, 0);
	assert_int_equal(bound->composite->step_count, 2);
	assert_string_equal(bound->composite->steps[1].problem->text, "size=8192,kind=two");
	assert_ok(choose(&fixture, bound, 0, "plain", "{}", &err));
	assert_ok(choose(&fixture, bound, 1, "gadget/plain", "{}", &err));

	values = memory_zeroed(bound->space->names->count, sizeof(*values));
	assert_ok(space_values(bound->space, none, values, &err));
	assert_ok(candidate_plan(bound, values, &plan, &err));
	/* X, W, Y, middle */
	assert_int_equal(plan.tensor_count, 3);
	assert_int_equal(plan.buffer_count, 4);
	assert_string_equal(plan.buffers[3].name, "middle");
	assert_int_equal(plan.workspace_bytes, 128 * 64 * 4);
	assert_int_equal(plan.launch_count, 2);
	assert_int_equal(plan.launches[0].arguments[0].index, 0);
	assert_int_equal(plan.launches[0].arguments[1].index, 3);
	assert_int_equal(plan.launches[0].arguments[2].integer, 8192);
	assert_int_equal(plan.launches[1].arguments[0].index, 3);
	assert_int_equal(plan.launches[1].arguments[1].index, 2);
	assert_int_equal(plan.launches[0].unit, 0);
	assert_int_equal(plan.launches[1].unit, 1);
	plan_release(&plan);

	assert_ok(candidate_build(bound, values, &build, &err));
	assert_int_equal(build.unit_count, 2);
	assert_string_not_equal(build.units[0].hash, build.units[1].hash); /* kind is a -D */
	build_release(&build);

	assert_ok(candidate_work(bound, values, &work, &err));
	assert_int_equal(work.launch_count, 2);
	assert_true(work.flop == 3 * 128 * 64); /* the whole's */
	assert_int_equal(work.workspace_bytes, 128 * 64 * 4);
	work_release(&work);
	free(values);
	bound_family_free(bound);
	fixture_close(&fixture);
}

TEST(test_errors)
{
	struct fixture fixture;
	struct bound_family *bound;
	struct plan plan;
	struct value *values;
	struct error err = {0};

	/* a tensor of 16 bits cannot be a step's of 32 */
	bind_pair(&fixture, "M=128,N=64,dtype=fp16", &bound);
	assert_ok(choose(&fixture, bound, 0, "plain", "{}", &err));
	assert_ok(choose(&fixture, bound, 1, "plain", "{}", &err));
	values = memory_zeroed(bound->space->names->count, sizeof(*values));
	space_fixed(bound->space, values);
	assert_fails(candidate_plan(bound, values, &plan, &err), STATUS_BAD_INPUT,
		"pair.json: $.steps[0].tensors.A: expected a buffer that holds the step's tensor");
	free(values);
	assert_fails(choose(&fixture, bound, 0, "plian", "{}", &err), STATUS_BAD_INPUT, "plian");
	assert_fails(
		choose(&fixture, bound, 0, "plain", "{\"BM\": 1}", &err), STATUS_BAD_INPUT, "BM");
	bound_family_free(bound);
	fixture_close(&fixture);
}

/* The real thing: tensor maps, a split sum with its workspace, an intermediate. */
static void bind_chain(struct fixture *fixture, const char *problem, struct bound_family **bound)
{
	static const char *const folders[] = {"templates", NULL}, *const configs[] = {
									  "configs", NULL};
	const struct family *separate;
	struct error err = {0};

	*fixture = (struct fixture){0};
	assert_ok(catalogue_load(folders, "gemm_chain", &fixture->catalogue, &err));
	assert_ok(device_spec_load("h200-sxm", configs, &fixture->device, &err));
	assert_ok(
		catalogue_operation(&fixture->catalogue, "gemm_chain", &fixture->operation, &err));
	assert_ok(problem_parse(fixture->operation, problem, &fixture->problems, &err));
	assert_ok(catalogue_family(
		&fixture->catalogue, fixture->operation, "separate", &separate, &err));
	assert_ok(family_bind(
		separate, fixture->problems.items[0], fixture->device, NULL, bound, &err));
}

static const char split[] =
	"{\"BM\": 128, \"WM\": 64, \"BN\": 64, \"WN\": 32, \"BK\": 32, \"STAGES\": "
	"3, \"MIN_BLOCKS\": 1, \"GROUP_M\": 1, \"SPLIT_K\": 4}";
static const char whole[] = "{\"BM\": 128, \"WM\": 64, \"BN\": 128, \"WN\": 64, \"BK\": 32, "
			    "\"STAGES\": 3, \"MIN_BLOCKS\": 1, \"GROUP_M\": 1, \"SPLIT_K\": 1}";

static void check_chain_plan(const struct plan *plan)
{
	/* A, B, C, Y, the intermediate, each step's partial sums */
	assert_int_equal(plan->buffer_count, 7);
	assert_string_equal(plan->buffers[4].name, "intermediate");
	assert_string_equal(plan->buffers[5].name, "step1_partial");
	assert_int_equal(plan->buffers[5].bytes, 0);
	assert_string_equal(plan->buffers[6].name, "step2_partial");
	assert_int_equal(plan->buffers[6].bytes, 4 * 1024 * 64 * 4);
	assert_int_equal(plan->workspace_bytes, 1024 * 2048 * 2 + 4 * 1024 * 64 * 4);
	assert_int_equal(plan->launch_count, 3);
	assert_string_equal(plan->launches[2].entry, "gemm_split_k_reduce");
	/* A, B -> intermediate; intermediate, C -> Y */
	assert_int_equal(plan->launches[0].arguments[0].index, 0);
	assert_int_equal(plan->launches[0].arguments[1].index, 1);
	assert_int_equal(plan->launches[0].arguments[2].index, 4);
	assert_int_equal(plan->launches[1].arguments[0].index, 4);
	assert_int_equal(plan->launches[1].arguments[1].index, 2);
	assert_int_equal(plan->launches[1].arguments[2].index, 3);
	assert_int_equal(plan->launches[1].arguments[3].index, 6);
	assert_int_equal(plan->launches[2].arguments[0].index, 6);
	assert_int_equal(plan->launches[2].arguments[1].index, 3);
	assert_int_equal(plan->launches[2].unit, plan->launches[1].unit);
}

static double dram_bytes(const struct work *work)
{
	double bytes = 0;

	for (size_t i = 0; i < work->launch_count; i++)
		bytes += work->launches[i].dram_read_bytes + work->launches[i].dram_write_bytes;
	return bytes;
}

TEST(test_chain)
{
	struct fixture fixture;
	struct bound_family *bound;
	struct plan plan, copy = {0};
	struct work work, first, second;
	struct value *values;
	struct json *json;
	struct json_at at;
	struct error err = {0};
	double parts;

	bind_chain(&fixture, "m=1024,k=64,n=2048,p=64,dtype=fp16", &bound);
	assert_ok(choose(&fixture, bound, 0, "mma", whole, &err));
	assert_ok(choose(&fixture, bound, 1, "mma", whole, &err));
	assert_ok(choose(&fixture, bound, 1, "mma", split, &err)); /* replaces the first choice */
	values = memory_zeroed(bound->space->names->count, sizeof(*values));
	space_fixed(bound->space, values);
	assert_ok(candidate_plan(bound, values, &plan, &err));
	check_chain_plan(&plan);
	json = record_to_json(&plan_record, &plan);
	at = json_root(json, "plan");
	assert_ok(record_from_json(&plan_record, &at, &copy, NULL, &err)); /* its names pass */
	plan_release(&copy);
	json_free(json);
	plan_release(&plan);

	/* the intermediate of 4 MiB is written and read in L2, not in DRAM */
	assert_ok(candidate_work(bound, values, &work, &err));
	assert_int_equal(work.launch_count, 3);
	for (size_t i = 0; i < 2; i++)
		assert_ok(candidate_work(bound->composite->steps[i].candidate.bound,
			bound->composite->steps[i].values, i ? &second : &first, &err));
	parts = dram_bytes(&first) + dram_bytes(&second);
	assert_true(fabs(parts - dram_bytes(&work) - 2.0 * 1024 * 2048 * 2) < 1);
	work_release(&first);
	work_release(&second);
	work_release(&work);
	free(values);
	bound_family_free(bound);
	fixture_close(&fixture);
}

/* A family's defaults, bound by hand. */
static void choose_default(
	struct fixture *fixture, struct bound_family *bound, size_t step, const char *name)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	const struct family *family;
	struct candidate chosen = {0};
	struct named_values values;
	struct error err = {0};
	bool found;

	assert_ok(catalogue_family(&fixture->catalogue, problem->operation, name, &family, &err));
	assert_ok(family_bind(family, problem, fixture->device, NULL, &chosen.bound, &err));
	assert_ok(configuration_default(chosen.bound, chosen.choices, &found, &err));
	assert_true(found);
	values = configuration_named_values(chosen.bound, chosen.choices);
	assert_ok(composite_choose(&fixture->catalogue, bound, step, name, &values, &err));
	named_values_release(&values);
	candidate_release(&chosen);
}

TEST(test_tensor_maps)
{
	struct fixture fixture;
	struct bound_family *bound;
	struct plan plan;
	struct value *values;
	struct error err = {0};

	bind_chain(&fixture, "m=16384,k=64,n=2048,p=64,dtype=fp16", &bound);
	choose_default(&fixture, bound, 0, "wgmma");
	choose_default(&fixture, bound, 1, "wgmma");
	values = memory_zeroed(bound->space->names->count, sizeof(*values));
	space_fixed(bound->space, values);
	assert_ok(candidate_plan(bound, values, &plan, &err));
	assert_true(plan.tensor_map_count > 0 && plan.tensor_map_count % 2 == 0);
	for (size_t i = 0; i < plan.tensor_map_count; i++) {
		const struct plan_tensor_map *map = &plan.tensor_maps[i];
		bool second = i >= plan.tensor_map_count / 2;

		assert_memory_equal(map->name, second ? "step2_" : "step1_", 6);
		assert_true(map->buffer < plan.buffer_count);
		/* A and B of the first step, the intermediate (4) and C of the second */
		assert_true(second ? map->buffer >= 2 : map->buffer != 2 && map->buffer != 3);
	}
	for (size_t l = 0; l < plan.launch_count; l++)
		for (size_t a = 0; a < plan.launches[l].argument_count; a++) {
			const struct plan_argument *argument = &plan.launches[l].arguments[a];

			if (argument->kind == ARGUMENT_TENSOR_MAP)
				assert_int_equal(argument->index >= plan.tensor_map_count / 2,
					l >= plan.launch_count / 2);
		}
	plan_release(&plan);
	free(values);
	bound_family_free(bound);
	fixture_close(&fixture);
}
