/* SPDX-License-Identifier: MIT */
#include "candidate/reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"

static enum status evaluate_bounded(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, uint32_t *result, struct error *err)
{
	int64_t number = 0;
	const enum status status =
		expression_int_within(expression, values, least, most, &number, err);

	*result = (uint32_t)number;
	return status;
}

static enum status plan_launch(const struct operation *operation, const struct value *values,
	const struct device_spec *device, struct reference_plan *plan, struct error *err)
{
	const struct reference *reference = &operation->reference;
	struct plan_launch *launch = &plan->launch;
	enum status status;

	*launch = (struct plan_launch){.entry = string_copy(reference->entry),
		.grid = {1, 1, 1},
		.block = {1, 1, 1},
		.cluster = {1, 1, 1},
		.repeat = 1};
	status = evaluate_bounded(
		reference->units_per_block, values, 1, INT32_MAX, &plan->units_per_block, err);
	if (status == STATUS_OK)
		status = evaluate_bounded(reference->block, values, 1,
			device->max_threads_per_block, &launch->block[0], err);
	if (status == STATUS_OK && reference->smem_bytes)
		status = evaluate_bounded(reference->smem_bytes, values, 0,
			device->smem_per_block_bytes, &launch->smem_dynamic_bytes, err);
	launch->argument_count = reference->arguments.count;
	launch->arguments =
		memory_zeroed(reference->arguments.count + 1, sizeof(*launch->arguments));
	for (size_t i = 0; i < reference->arguments.count && status == STATUS_OK; i++)
		status = argument_evaluate(
			&reference->arguments.items[i], values, &launch->arguments[i], err);
	return status;
}

static enum status plan_tolerance(const struct operation *operation, const struct value *values,
	struct reference_plan *plan, struct error *err)
{
	enum status status =
		expression_real(operation->tolerance.abs, values, &plan->tolerance_abs, err);

	if (status == STATUS_OK)
		status = expression_real(
			operation->tolerance.rel, values, &plan->tolerance_rel, err);
	if (status != STATUS_OK)
		return status;
	if (!(plan->tolerance_abs >= 0 && plan->tolerance_rel >= 0) ||
		!isfinite(plan->tolerance_abs) || !isfinite(plan->tolerance_rel))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: $.tolerance: expected tolerances of at least 0, found %g and %g",
			operation->file, plan->tolerance_abs, plan->tolerance_rel);
	return STATUS_OK;
}

static enum status make_build(const struct operation *operation, const struct value *values,
	struct build *build, struct error *err)
{
	const struct reference *reference = &operation->reference;
	struct define_list defines = {0};
	enum status status = operation_defines(operation, values, &defines, err);

	if (status == STATUS_OK) {
		define_list_sort(&defines);
		build->units = memory_zeroed(1, sizeof(*build->units));
		build->unit_count = 1;
		build_unit_make(&build->units[0],
			reference->source_name ? reference->source_name : reference->entry,
			reference->source ? reference->source : "", &defines);
		build_unit_add_entry(&build->units[0], reference->entry);
		build_finish(build);
	}
	define_list_release(&defines);
	return status;
}

enum status problem_reference(const struct catalogue *catalogue, const struct problem *problem,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err)
{
	const struct operation *operation = problem->operation;
	size_t keys = operation->key_count, names = device_spec_name_count();
	struct value *values = memory_zeroed(keys + names, sizeof(*values));
	enum status status;

	(void)catalogue; /* sources were expanded when it was loaded */
	memcpy(values, problem->values, keys * sizeof(*values));
	for (size_t i = 0; i < names; i++)
		values[keys + i] = device_spec_value(device, i);
	*build = (struct build){0};
	*reference = (struct reference_plan){.unit_is_row = operation->reference.unit_is_row,
		.tensor_count = operation->tensor_count,
		.output = (uint32_t)operation->output};
	reference->tensors = memory_zeroed(operation->tensor_count, sizeof(*reference->tensors));
	status = operation_tensors_evaluate(operation, values, reference->tensors, err);
	if (status == STATUS_OK)
		status = plan_launch(operation, values, device, reference, err);
	if (status == STATUS_OK)
		status = plan_tolerance(operation, values, reference, err);
	if (status == STATUS_OK)
		status = make_build(operation, values, build, err);
	if (status != STATUS_OK) {
		reference_plan_release(reference);
		build_release(build);
	}
	free(values);
	return status;
}
