/* SPDX-License-Identifier: MIT */
#include "engine/announce.h"

#include "candidate/candidate.h"

enum status problem_announce(
	struct context *bench, const struct problem *problem, uint32_t *number, struct error *err)
{
	struct reference_plan reference = {0};
	struct build build = {0};
	const struct stored_kernel *kernel = NULL;
	enum status status = problem_reference(
		&bench->catalogue, problem, device_spec(bench->device), &build, &reference, err);

	if (status == STATUS_OK && bench->store && device_measures(bench->device))
		status = kernel_store_wait(bench->store, &build.units[0], &kernel, err);
	if (status == STATUS_OK)
		status = device_problem(bench->device, operation_name(problem->operation),
			problem->text, &reference, kernel ? &kernel->cubin : NULL, number, err);
	reference_plan_release(&reference);
	build_release(&build);
	return status;
}
