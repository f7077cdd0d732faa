/* SPDX-License-Identifier: MIT
 *
 * Tests the reader of family JSON (for the operation in tests/data/kernel), and all computations
 * about a candidate: the first configuration of its space, legal or not.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/candidate.h"
#include "candidate/candidate_work.h"
#include "family/family.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char operation_path[] = "tests/data/kernel/templates/widget/operation.json";

static void compute_all(const struct bound_family *bound)
{
	struct value *values = memory_zeroed(bound->space->names->count, sizeof(*values));
	choice choices[SPACE_PARAMETERS_MAX] = {0};
	struct kernel_resources resources = {.blocks_per_sm = 1};
	struct build build;
	struct plan plan;
	struct work work;
	struct fact_list facts;
	struct error err = {0};
	const char *why;
	int rule;

	if (space_values(bound->space, choices, values, &err) == STATUS_OK) {
		if (candidate_build(bound, values, &build, &err) == STATUS_OK)
			build_release(&build);
		if (candidate_plan(bound, values, &plan, &err) == STATUS_OK)
			plan_release(&plan);
		if (candidate_work(bound, values, &work, &err) == STATUS_OK)
			work_release(&work);
		if (candidate_facts(bound, values, 1, 1, &facts, &err) == STATUS_OK)
			fact_list_release(&facts);
		(void)candidate_prune(bound, values, &resources, 1, 0, 1, &rule, &why, &err);
	}
	free(values);
}

static void bind_family(const struct operation *operation, const struct family *family)
{
	struct problem_list problems = {0};
	struct device_spec *device;
	struct bound_family *bound;
	struct error err = {0};
	bool applies, is_empty = false;

	if (problem_parse(operation, "M=100,N=33,ld=37,H=3,dtype=bf16", &problems, &err) !=
			STATUS_OK ||
		device_spec_load("", NULL, &device, &err) != STATUS_OK)
		abort();
	(void)family_applies(family, problems.items[0], device, &applies, NULL, &err);
	if (family_bind(family, problems.items[0], device, NULL, &bound, &err) == STATUS_OK) {
		for (size_t i = 0; i < bound->space->parameter_count; i++)
			is_empty = is_empty || bound->space->parameters[i].values.count == 0;
		if (!is_empty)
			compute_all(bound);
		bound_family_free(bound);
	}
	device_spec_free(device);
	problem_list_release(&problems);
}

static struct operation *load_operation(void)
{
	struct operation *operation;
	struct json *tree;
	struct error err = {0};

	if (json_load(operation_path, &tree, &err) != STATUS_OK ||
		operation_load(tree, operation_path, NULL, NULL, NULL, &operation, &err) !=
			STATUS_OK)
		abort();
	return operation;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct operation *operation;
	struct family *family;
	struct json *tree;
	struct error err = {0};

	if (json_parse((const char *)data, size, "family.json", &tree, &err) != STATUS_OK)
		return -1;
	operation = load_operation();
	if (family_load(tree, "family.json", NULL, "full", operation, NULL, &family, &err) ==
		STATUS_OK)
		bind_family(operation, family);
	else if (family || !*err.message)
		abort();
	family_free(family);
	operation_free(operation);
	return *err.message ? -1 : 0;
}
