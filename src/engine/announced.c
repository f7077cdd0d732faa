/* SPDX-License-Identifier: MIT */
#include "engine/announced.h"

#include "candidate/problem_reference.h"
#include "engine/kernel_check.h"

/* The names that the code of a unit has for its entries; whether they get what they take. */
static enum status take_entries(const struct compile_result *kernel, size_t unit,
	struct reference_plan *reference, struct error *err)
{
	for (size_t i = 0; i < reference->output_count; i++) {
		struct plan_launch *launch = reference->outputs[i].launch;

		if (!launch || launch->unit != unit)
			continue;
		(void)kernel_take_entry(kernel, launch);
		if (kernel_arguments_check(kernel, launch, reference->tensors, NULL, err) !=
			STATUS_OK)
			return error_context(err, "the reference");
	}
	for (size_t i = 0; reference->trusted && i < reference->trusted->launch_count; i++)
		if (reference->trusted->launches[i].unit == unit)
			(void)kernel_take_entry(kernel, &reference->trusted->launches[i]);
	return STATUS_OK;
}

static enum status announce(struct context *context, struct announced *announced, struct error *err)
{
	const struct problem *problem = announced->problem;
	const bool runs = context->store && device_measures(context->device);
	struct build *build = &announced->build;

	TRY(problem_reference(problem, runs ? &context->catalogue : NULL,
		device_spec(context->device), build, &announced->reference, err));
	announced->cubins = memory_zeroed(build->unit_count + 1, sizeof(*announced->cubins));
	for (size_t i = 0; runs && i < build->unit_count; i++) {
		const struct compile_result *kernel;

		TRY(kernel_store_wait(context->store, &build->units[i], &kernel, err));
		announced->cubins[i] = kernel->cubin;
		TRY(take_entries(kernel, i, &announced->reference, err));
	}
	announced->told = (struct device_problem){.operation = problem->operation->name,
		.text = problem->text,
		.reference = &announced->reference,
		.cubins = announced->cubins,
		.cubin_count = runs ? build->unit_count : 0};
	return STATUS_OK;
}

enum status announced_make(struct context *context, const struct problem *problem,
	struct announced **announced, struct error *err)
{
	struct announced *made = memory_zeroed(1, sizeof(*made));
	enum status status;

	made->problem = problem;
	status = announce(context, made, err);
	if (status == STATUS_OK)
		*announced = made;
	else
		announced_free(made);
	return status;
}

void announced_free(struct announced *announced)
{
	build_release(&announced->build);
	reference_plan_release(&announced->reference);
	free(announced->cubins);
	free(announced);
}
