/* SPDX-License-Identifier: MIT
 *
 * Compares the computed blocks per SM (from the compiler's report and the sheet) with the driver's,
 * for every configuration loaded in the journals on the command line. The journals contain the
 * driver's values; the computed ones come from kernels in the cache.
 */
#include "gpu/bench_test.h"
#include "unit/space_builder.h"
#include "candidate/candidate.h"
#include "format/journal.h"
#include "score/score.h"

enum {
	MISMATCHES_SHOWN = 10,
};

struct occupancy_test {
	struct bench_test *test;
	struct context context;
	size_t configurations, launches, changed, mismatches;
};

static bool was_loaded(const struct result *result)
{
	return result->resources && result->verification.done;
}

/* Returns all values of a configuration given as text. */
static enum status values_of(const struct bound_family *bound, const char *configuration,
	struct value **values, struct error *err)
{
	bool *given = memory_zeroed(bound->space->parameter_count + 1, sizeof(*given));
	enum status status;

	*values = memory_zeroed(bound->space->names->count + 1, sizeof(**values));
	space_fixed(bound->space, *values);
	status = configuration_parse(
		bound, configuration, *values + bound->space->fixed_count, given, err);
	if (status == STATUS_OK)
		status = builder_derive(bound->space, *values, err);
	free(given);
	return status;
}

static enum status launch_compare(struct occupancy_test *run, const struct plan_launch *launch,
	const struct build_unit *unit, const struct kernel_resources *driver, const char *title,
	struct error *err)
{
	const struct compile_result *kernel;
	const struct kernel_resources *ours = NULL;
	enum occupancy_limiter limiter;
	enum status status = kernel_store_wait(run->context.store, unit, &kernel, err);
	int blocks;

	for (size_t i = 0; status == STATUS_OK && i < kernel->entry_count; i++)
		if (strcmp(kernel->entries[i].name, launch->entry) == 0)
			ours = &kernel->entries[i].resources;
	if (status != STATUS_OK)
		return status;
	if (!ours)
		return error_set(
			err, STATUS_FAILED, "%s: the compiler reports no %s", title, launch->entry);
	blocks = occupancy_blocks_per_sm(run->context.device->spec,
		launch_threads(&launch->shape, ours), ours->regs_per_thread,
		ours->smem_static_bytes, launch->shape.smem_dynamic_bytes, &limiter);
	run->launches++;
	if (blocks == driver->blocks_per_sm && ours->regs_per_thread == driver->regs_per_thread &&
		ours->smem_static_bytes == driver->smem_static_bytes)
		return STATUS_OK;
	if (run->mismatches++ < MISMATCHES_SHOWN)
		printf("FAIL  %s %s: ours %d blocks (%s), %d registers, %d bytes; driver %d, %d, "
		       "%d\n",
			title, launch->entry, blocks, occupancy_limiter_names[limiter],
			ours->regs_per_thread, ours->smem_static_bytes, driver->blocks_per_sm,
			driver->regs_per_thread, driver->smem_static_bytes);
	return STATUS_OK;
}

static enum status result_compare(struct occupancy_test *run, const struct bound_family *bound,
	const struct result *result, struct error *err)
{
	struct value *values = NULL;
	struct plan plan = {0};
	struct build build = {0};
	enum status status = values_of(bound, result->configuration, &values, err);

	if (status == STATUS_OK)
		status = candidate_plan(bound, values, &plan, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, values, &build, err);
	if (status == STATUS_OK && (strcmp(build.kernel_hash, result->kernel_hash) != 0 ||
					   plan.launch_count != result->launch_count)) {
		run->changed++;
	} else if (status == STATUS_OK) {
		run->configurations++;
		for (size_t i = 0; status == STATUS_OK && i < plan.launch_count; i++)
			status = launch_compare(run, &plan.launches[i],
				&build.units[plan.launches[i].unit], &result->resources[i],
				result->configuration, err);
	}
	free(values);
	plan_release(&plan);
	build_release(&build);
	return status == STATUS_OK
		       ? STATUS_OK
		       : error_context(err, "%s %s", result->family, result->configuration);
}

static enum status problem_compare(
	struct occupancy_test *run, const struct journal_problem *journal, struct error *err)
{
	const struct catalogue *catalogue = &run->context.catalogue;
	const struct operation *operation;
	struct problem_list problems = {0};
	struct bound_family *bound = NULL;
	enum status status = catalogue_operation(catalogue, journal->operation, &operation, err);

	if (status == STATUS_OK)
		status = problem_parse(operation, journal->problem, &problems, err);
	for (size_t i = 0; status == STATUS_OK && i < journal->result_count; i++) {
		const struct result *result = &journal->results[i];
		const struct family *family;

		if (!was_loaded(result))
			continue;
		status = catalogue_family(catalogue, operation, result->family, &family, err);
		if (status == STATUS_OK && (!bound || bound->family != family)) {
			bound_family_free(bound);
			bound = NULL;
			status = family_bind(family, problems.items[0], run->context.device->spec,
				NULL, &bound, err);
		}
		if (status == STATUS_OK)
			status = result_compare(run, bound, result, err);
	}
	bound_family_free(bound);
	problem_list_release(&problems);
	return status;
}

static enum status journal_compare(struct occupancy_test *run, const char *path, struct error *err)
{
	struct journal_record record = {0};
	enum status status = journal_read(path, &record, err);

	for (size_t i = 0; status == STATUS_OK && i < record.run_count; i++)
		for (size_t k = 0; status == STATUS_OK && k < record.runs[i].problem_count; k++)
			status = problem_compare(run, &record.runs[i].problems[k], err);
	journal_record_release(&record);
	return status == STATUS_OK ? STATUS_OK : error_context(err, "%s", path);
}

int main(int argc, char **argv)
{
	struct bench_test test;
	struct occupancy_test run = {.test = &test};
	struct error err = {0};
	enum status status;

	bench_test_options(&test, argc, argv);
	status = context_open(&test.options, &run.context, &err);
	for (int i = 0; status == STATUS_OK && i < test.file_count; i++)
		status = journal_compare(&run, test.files[i], &err);
	if (status != STATUS_OK)
		printf("FAIL  %s\n", err.message);
	bench_test_check(&test,
		status == STATUS_OK && run.mismatches == 0 && run.configurations > 0,
		"occupancy: %zu configurations, %zu launches, %zu unlike the driver, %zu of other "
		"sources",
		run.configurations, run.launches, run.mismatches, run.changed);
	context_release(&run.context);
	free(test.files);
	return status != STATUS_OK || test.failures ? 1 : 0;
}
