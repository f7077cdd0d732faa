/* SPDX-License-Identifier: MIT */
#include "tune/run.h"

#include "candidate/problem_reference.h"

static enum status request_kernels(
	struct kernel_store *store, const struct build *build, struct error *err)
{
	for (size_t i = 0; i < build->unit_count; i++) {
		const struct compile_result *kernel;

		TRY(kernel_store_request(store, &build->units[i], &kernel, err));
	}
	return STATUS_OK;
}

static enum status request_helpers(const struct context *context, struct error *err)
{
	CLEANUP(build_release) struct build build = {0};

	TRY(plain_build(
		(const char *const *)context->template_folders, "common/helpers.cu", &build, err));
	return request_kernels(context->store, &build, err);
}

static enum status request_reference(
	const struct context *context, const struct problem *problem, struct error *err)
{
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(reference_plan_release) struct reference_plan reference = {0};

	TRY(problem_reference(
		problem, &context->catalogue, context->device->spec, &build, &reference, err));
	return request_kernels(context->store, &build, err);
}

enum status precompile_run(struct tune_run *run, struct error *err)
{
	const struct context *context = run->context;
	enum status status;

	TRY(request_helpers(context, err));
	for (size_t i = 0; i < run->problems->count; i++)
		TRY(request_reference(context, run->problems->items[i], err));
	status = tune_problems(run, err);
	while (compiler_pending(context->compiler) && !*run->options->interrupted)
		compiler_poll(context->compiler, 0.2);
	return status;
}
