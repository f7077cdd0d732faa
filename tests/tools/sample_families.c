/* SPDX-License-Identifier: MIT
 *
 * Compiles a sample of every family for every device sheet that it applies to: each value of each
 * parameter that becomes a -D constant at least once, for each of the problems that the family's
 * examples name (dtypes, layouts, alignments). Nothing may fail to compile.
 *
 *	sample_families ROOT CACHE WORKER LIMIT DEVICE...
 *
 * LIMIT: at most so many configurations per problem; those with most values not seen yet first.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "family/family.h"
#include "engine/candidates.h"
#include "engine/context.h"
#include "candidate/candidate_work.h"
#include "space/enumerate.h"
#include "candidate/bound_family.h"

/* What one family and problem still has to show. */
struct sample {
	struct bound_family *bound;
	bool **seen;            /* parameter x value */
	choice *configurations; /* legal ones, a reservoir */
	size_t count, capacity, visited;
	struct random_state random;
};

enum {
	RESERVOIR = 4000
};

static bool keep(const choice *configuration, const struct value *slots, void *context)
{
	struct sample *sample = context;
	size_t parameters = sample->bound->space->parameter_count;
	size_t place = sample->count;

	(void)slots;
	if (sample->count == RESERVOIR) {
		place = (size_t)random_below(&sample->random, ++sample->visited);
		if (place >= RESERVOIR)
			return true;
	} else {
		sample->count++;
		sample->visited++;
	}
	memcpy(sample->configurations + place * parameters, configuration,
		parameters * sizeof(choice));
	return true;
}

/* How many values a configuration would show for the first time. */
static size_t news(const struct sample *sample, const choice *configuration)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->bound->space->parameter_count; i++)
		count += !sample->seen[i][configuration[i]];
	return count;
}

static void mark(struct sample *sample, const choice *configuration)
{
	for (size_t i = 0; i < sample->bound->space->parameter_count; i++)
		sample->seen[i][configuration[i]] = true;
}

/* The configuration with most news, or NULL when all were seen. */
static const choice *most_news(const struct sample *sample)
{
	size_t parameters = sample->bound->space->parameter_count, best = 0;
	const choice *found = NULL;

	for (size_t i = 0; i < sample->count; i++) {
		const choice *configuration = sample->configurations + i * parameters;
		size_t count = news(sample, configuration);

		if (count > best) {
			best = count;
			found = configuration;
		}
	}
	return found;
}

struct totals {
	size_t units, failed;
	const struct compile_result **kernels;
	char **labels;
	size_t count, capacity, labels_capacity;
};

static enum status submit(struct context *bench, const struct bound_family *bound,
	const choice *configuration, struct totals *totals, struct error *err)
{
	struct value *slots = memory_zeroed(bound->space->names.count, sizeof(*slots));
	struct build build = {0};
	struct plan plan = {0};
	struct work work = {0};
	struct text label = {0};
	enum status status = space_values(bound->space, configuration, slots, err);

	/* plan and model must hold too */
	if (status == STATUS_OK)
		status = candidate_plan(bound, slots, &plan, err);
	if (status == STATUS_OK)
		status = candidate_work(bound, slots, &work, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	configuration_format(bound, configuration, &label);
	for (size_t i = 0; i < build.unit_count && status == STATUS_OK; i++) {
		const struct compile_result *kernel;

		status = kernel_store_request(bench->store, &build.units[i], &kernel, err);
		ARRAY_GROW(totals->kernels, totals->count, totals->capacity);
		ARRAY_GROW(totals->labels, totals->count, totals->labels_capacity);
		totals->labels[totals->count] =
			string_format("%s on %s: %s {%s}", bound->family->name, bound->device->name,
				bound->problem->text, text_string(&label));
		totals->kernels[totals->count++] = kernel;
	}
	build_release(&build);
	plan_release(&plan);
	work_release(&work);
	text_release(&label);
	free(slots);
	return status;
}

static enum status sample_problem(struct context *bench, const struct family *family,
	const struct problem *problem, size_t limit, struct totals *totals, struct error *err)
{
	struct sample sample = {0};
	bool applies;
	size_t parameters;
	enum status status =
		family_applies(family, problem, device_spec(bench->device), &applies, NULL, err);

	if (status != STATUS_OK || !applies)
		return status;
	status = family_bind(family, problem, device_spec(bench->device), NULL, &sample.bound, err);
	if (status != STATUS_OK)
		return status;
	parameters = sample.bound->space->parameter_count;
	sample.seen = memory_zeroed(parameters, sizeof(*sample.seen));
	for (size_t i = 0; i < parameters; i++)
		sample.seen[i] = memory_zeroed(
			sample.bound->space->parameters[i].values.count, sizeof(bool));
	sample.configurations = memory_zeroed(RESERVOIR, parameters * sizeof(choice));
	random_seed(&sample.random, 1);
	status = space_enumerate(sample.bound->space, keep, &sample, NULL, err);
	for (size_t i = 0; i < limit && status == STATUS_OK; i++) {
		const choice *configuration = most_news(&sample);

		if (!configuration)
			break;
		mark(&sample, configuration);
		status = submit(bench, sample.bound, configuration, totals, err);
	}
	for (size_t i = 0; i < parameters; i++)
		free(sample.seen[i]);
	free(sample.seen);
	free(sample.configurations);
	bound_family_free(sample.bound);
	return status;
}

static enum status sample_family(struct context *bench, const struct family *family, size_t limit,
	struct totals *totals, struct error *err)
{
	enum status status = family_examples_check(family, device_spec(bench->device), err);

	for (size_t i = 0; i < family->examples.legal_count && status == STATUS_OK; i++) {
		struct problem_list problems = {0};

		status = problem_parse(
			family->operation, family->examples.legal[i].problem, &problems, err);
		for (size_t k = 0; k < problems.count && status == STATUS_OK; k++)
			status = sample_problem(
				bench, family, problems.items[k], limit, totals, err);
		problem_list_release(&problems);
	}
	return status == STATUS_OK ? status : error_context(err, "%s", family->name);
}

static void wait_for_all(struct context *bench, struct totals *totals)
{
	while (kernel_store_pending(bench->store))
		kernel_store_poll(bench->store, 1.0);
	for (size_t i = 0; i < totals->count; i++) {
		totals->units++;
		if (totals->kernels[i]->outcome == OUTCOME_OK)
			continue;
		totals->failed++;
		printf("%s: %s: %s\n", totals->labels[i], outcome_name(totals->kernels[i]->outcome),
			totals->kernels[i]->log ? totals->kernels[i]->log : "");
	}
}

static enum status sample_device(const char *root, const char *device, const char *cache,
	const char *worker, size_t limit, struct totals *sum, struct error *err)
{
	const char *roots[] = {root, NULL};
	struct context_options options = {.roots = roots,
		.device = device,
		.need_compiler = true,
		.worker_path = worker,
		.cache_folder = cache};
	struct context bench;
	struct totals totals = {0};
	enum status status = context_open(&options, &bench, err);

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < bench.catalogue.family_count && status == STATUS_OK; i++)
		if (!bench.catalogue.families[i]->step_count)
			status = sample_family(
				&bench, bench.catalogue.families[i], limit, &totals, err);
	wait_for_all(&bench, &totals);
	printf("%s: %zu kernels of %zu families, %zu failed\n", device, totals.units,
		bench.catalogue.family_count, totals.failed);
	sum->units += totals.units;
	sum->failed += totals.failed;
	for (size_t i = 0; i < totals.count; i++)
		free(totals.labels[i]);
	free(totals.labels);
	free(totals.kernels);
	context_release(&bench);
	return status;
}

int main(int count, char **arguments)
{
	struct totals sum = {0};
	struct error err = {0};
	enum status status = STATUS_OK;
	size_t limit;

	if (count < 6 || atoi(arguments[4]) < 1) {
		fprintf(stderr, "usage: sample_families ROOT CACHE WORKER LIMIT DEVICE...\n");
		return STATUS_BAD_INPUT;
	}
	signal(SIGPIPE, SIG_IGN);
	limit = (size_t)atoi(arguments[4]);
	for (int i = 5; i < count && status == STATUS_OK; i++)
		status = sample_device(
			arguments[1], arguments[i], arguments[2], arguments[3], limit, &sum, &err);
	if (status != STATUS_OK) {
		printf("%s\n", err.message);
		return (int)status;
	}
	return sum.failed || !sum.units ? STATUS_FAILED : STATUS_OK;
}
