/* SPDX-License-Identifier: MIT
 *
 * Compiles a sample of every family for every device sheet that it applies to. Every compilation
 * must succeed.
 *
 *	sample_families ROOT CACHE WORKER LIMIT DEVICE...
 *
 * LIMIT 0 selects few configurations that cover everything. On the first device these have each
 * problem of the family's examples and each value of each parameter that becomes a -D constant
 * (four values of long lists). Every other device has one, and together these have each dtype.
 * Prints a line of JSON for each compiled source with its options (tests/checks/families.py). LIMIT
 * N selects on each device for each problem each of these values, in up to N configurations.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "family/family.h"
#include "engine/candidates.h"
#include "engine/context.h"
#include "candidate/candidate_work.h"
#include "space/enumerate.h"
#include "candidate/bound_family.h"

/* Hashes of the features that are covered, over all devices and problems. */
struct shown {
	uint64_t *items;
	size_t count, capacity;
};

static bool was_shown(const struct shown *shown, uint64_t what)
{
	for (size_t i = 0; i < shown->count; i++)
		if (shown->items[i] == what)
			return true;
	return false;
}

static void show(struct shown *shown, uint64_t what)
{
	if (was_shown(shown, what))
		return;
	ARRAY_GROW(shown->items, shown->count, shown->capacity);
	shown->items[shown->count++] = what;
}

/* Features that one family and problem must still cover. */
struct sample {
	struct bound_family *bound;
	bool **seen; /* by parameter and value */
	bool problem_seen;
	choice *configurations; /* a random sample of the legal configurations */
	size_t count, capacity, visited;
	struct random_state random;
};

enum {
	RESERVOIR = 4000
};

static bool keep(const choice *configuration, void *context)
{
	struct sample *sample = context;
	size_t parameters = sample->bound->space->parameter_count;
	size_t place = sample->count;

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

/* Number of values that a configuration would cover for the first time. */
static size_t news(const struct sample *sample, const choice *configuration)
{
	size_t count = !sample->problem_seen;

	for (size_t i = 0; i < sample->bound->space->parameter_count; i++)
		count += !sample->seen[i][configuration[i]];
	return count;
}

static void mark(struct sample *sample, const choice *configuration)
{
	sample->problem_seen = true;
	for (size_t i = 0; i < sample->bound->space->parameter_count; i++)
		sample->seen[i][configuration[i]] = true;
}

static bool all_seen(const struct sample *sample)
{
	for (size_t i = 0; i < sample->bound->space->parameter_count; i++)
		for (size_t k = 0; k < sample->bound->space->parameters[i].values.count; k++)
			if (!sample->seen[i][k])
				return false;
	return sample->problem_seen;
}

/* Estimates the code size by the work of one thread in one step, because compile time grows with
 * the code size. */
static double code_size(const struct sample *sample, const choice *configuration)
{
	const struct bound_family *bound = sample->bound;
	struct value *values = memory_zeroed(bound->space->names->count, sizeof(*values));
	struct work work = {0};
	double size = INFINITY;

	if (space_values(bound->space, configuration, values, NULL) == STATUS_OK &&
		candidate_work(bound, values, &work, NULL) == STATUS_OK)
		size = 0;
	for (size_t i = 0; i < work.launch_count; i++) {
		const struct launch_work *launch = &work.launches[i];
		const double threads = (double)launch->shape.block[0] * launch->shape.block[1] *
				       launch->shape.block[2];

		for (size_t pipe = 0; pipe < PIPE_COUNT; pipe++)
			size += (launch->per_step[pipe] + launch->epilogue[pipe]) / threads;
	}
	work_release(&work);
	free(values);
	return size;
}

/* Selects the configuration with the least code among those with the most new values; compares at
 * most LOOKED_AT of them. Returns NULL if all values are covered. */
static const choice *most_news(const struct sample *sample)
{
	enum {
		LOOKED_AT = 48
	};
	size_t parameters = sample->bound->space->parameter_count, best = 0, count_of_best = 0;
	double size_of_best = INFINITY;
	const choice *found = NULL;

	for (size_t i = 0; i < sample->count; i++) {
		const size_t count = news(sample, sample->configurations + i * parameters);

		count_of_best = count > best ? 1 : count_of_best + (count == best);
		best = count > best ? count : best;
	}
	for (size_t i = 0, number = 0; i < sample->count && best; i++) {
		const choice *configuration = sample->configurations + i * parameters;
		double size;

		if (news(sample, configuration) < best ||
			number++ % (count_of_best / LOOKED_AT + 1) != 0)
			continue;
		size = code_size(sample, configuration);
		if (!found || size < size_of_best) {
			size_of_best = size;
			found = configuration;
		}
	}
	return found;
}

struct totals {
	struct shown *shown; /* NULL if each problem must cover everything itself */
	size_t device;       /* index of the device */
	size_t units, failed;
	const struct compile_result **kernels;
	char **labels;
	size_t count, capacity, labels_capacity;
};

static void print_unit(const struct build_unit *unit, int compute_capability)
{
	struct json *json = json_new_object(), *options = json_new_array();
	char *line;

	for (size_t i = 0; i < unit->option_count; i++)
		json_push(options, json_new_string(unit->options[i]));
	json_put_int(json, "compute_capability", compute_capability);
	json_put_string(json, "source", unit->source);
	json_put(json, "options", options);
	line = json_print(json, false);
	puts(line);
	free(line);
	json_free(json);
}

static uint64_t hash_text(char *text)
{
	uint64_t hash = hash_bytes(text, strlen(text), 0);

	free(text);
	return hash;
}

/* Whether one of the configuration's constants has a value that no kernel of the family had. */
static bool show_options(
	struct shown *shown, const struct bound_family *bound, const struct build_unit *unit)
{
	const size_t before = shown->count;

	for (size_t i = 0; i < unit->option_count; i++)
		show(shown,
			hash_text(string_format("%s %s", bound->family->name, unit->options[i])));
	return shown->count > before;
}

/* is_needed: the configuration has a new parameter value; otherwise it is compiled only for a new
 * constant. */
static enum status submit(struct context *context, const struct bound_family *bound,
	const choice *configuration, bool is_needed, struct totals *totals, struct error *err)
{
	struct value *values = memory_zeroed(bound->space->names->count, sizeof(*values));
	struct build build = {0};
	struct plan plan = {0};
	struct work work = {0};
	struct text label = {0};
	enum status status = space_values(bound->space, configuration, values, err);

	/* plan and model must be valid, too */
	if (status == STATUS_OK)
		status = candidate_plan(bound, values, &plan, err);
	if (status == STATUS_OK)
		status = candidate_work(bound, values, &work, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, values, &build, err);
	configuration_format(bound, configuration, &label);
	for (size_t i = 0; i < build.unit_count && status == STATUS_OK; i++) {
		const struct compile_result *kernel;

		if (totals->shown && !show_options(totals->shown, bound, &build.units[i]) &&
			!is_needed)
			continue;
		if (totals->shown)
			print_unit(&build.units[i], bound->device->compute_capability);
		status = kernel_store_request(context->store, &build.units[i], &kernel, err);
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
	free(values);
	return status;
}

/* Returns "dtype=bf16" from a problem's text, or the whole text if the problem has no dtype. */
static const char *dtype_of(const struct problem *problem, int *length)
{
	const char *dtype = strstr(problem->text, "dtype=");

	*length = (int)(dtype ? strcspn(dtype, ",") : strlen(problem->text));
	return dtype ? dtype : problem->text;
}

/* Hashes a parameter value. The hash of a switch includes the dtype, because templates have
 * branches that depend on both. */
static uint64_t hash_value(const struct bound_family *bound, size_t parameter, size_t value)
{
	const struct value_list *values = &bound->space->parameters[parameter].values;
	CLEANUP(text_release) struct text text = {0};
	int length;
	const char *dtype = dtype_of(bound->problem, &length);

	value_format(values->items[value], &text);
	return hash_text(string_format("%s %s=%s %.*s", bound->family->name,
		space_parameter_name(bound->space, parameter), text_string(&text),
		values->count == 2 ? length : 0, dtype));
}

/* Of a long list, LOOKED_AT values are covered, including the first and the last. */
static bool is_looked_at(size_t value, size_t count)
{
	enum {
		LOOKED_AT = 4
	};

	for (size_t i = 0; i < LOOKED_AT && count > LOOKED_AT; i++)
		if (value == i * (count - 1) / (LOOKED_AT - 1))
			return true;
	return count <= LOOKED_AT;
}

/* Hashes the use of the family on a device: with this problem on the first device, and only with
 * its dtype on the others. */
static uint64_t hash_device(const struct bound_family *bound, size_t device)
{
	return hash_text(string_format("%s on %zu", bound->family->name, device));
}

static uint64_t hash_problem(const struct bound_family *bound, size_t device)
{
	const struct problem *problem = bound->problem;
	int length = (int)strlen(problem->text);
	const char *text = device ? dtype_of(problem, &length) : problem->text;

	return hash_text(
		string_format("%s %d %.*s", bound->family->name, device > 0, length, text));
}

static enum status sample_problem(struct context *context, const struct family *family,
	const struct problem *problem, size_t limit, struct totals *totals, struct error *err)
{
	struct sample sample = {0};
	struct shown *shown = totals->shown;
	bool applies;
	size_t parameters;
	enum status status = STATUS_OK;

	TRY(family_applies(family, problem, context->device->spec, &applies, NULL, err));
	if (!applies)
		return STATUS_OK;
	TRY(family_bind(family, problem, context->device->spec, NULL, &sample.bound, err));
	parameters = sample.bound->space->parameter_count;
	sample.problem_seen =
		!shown || (was_shown(shown, hash_problem(sample.bound, totals->device)) &&
				  was_shown(shown, hash_device(sample.bound, totals->device)));
	sample.seen = memory_zeroed(parameters, sizeof(*sample.seen));
	for (size_t i = 0; i < parameters; i++) {
		size_t count = sample.bound->space->parameters[i].values.count;

		sample.seen[i] = memory_zeroed(count, sizeof(bool));
		for (size_t k = 0; k < count; k++)
			sample.seen[i][k] =
				family->parameters[i].is_argument ||
				(shown &&
					(totals->device > 0 || !is_looked_at(k, count) ||
						was_shown(shown, hash_value(sample.bound, i, k))));
	}
	sample.configurations = memory_zeroed(RESERVOIR, parameters * sizeof(choice));
	random_seed(&sample.random, 1);
	if (!all_seen(&sample))
		status = space_enumerate(sample.bound->space, keep, &sample, NULL, err);
	for (size_t i = 0; (shown || i < limit) && status == STATUS_OK; i++) {
		const choice *configuration = most_news(&sample);
		bool is_needed;

		if (!configuration)
			break;
		is_needed = totals->device || news(&sample, configuration) > !sample.problem_seen;
		mark(&sample, configuration);
		status = submit(context, sample.bound, configuration, is_needed, totals, err);
	}
	if (shown && sample.problem_seen) {
		show(shown, hash_problem(sample.bound, totals->device));
		show(shown, hash_device(sample.bound, totals->device));
	}
	for (size_t i = 0; i < parameters; i++) {
		for (size_t k = 0; shown && k < sample.bound->space->parameters[i].values.count;
			k++)
			if (sample.seen[i][k])
				show(shown, hash_value(sample.bound, i, k));
		free(sample.seen[i]);
	}
	free(sample.seen);
	free(sample.configurations);
	bound_family_free(sample.bound);
	return status;
}

/* Orders problems by size, because small ones compile sooner. */
static int compare_sizes(const void *a, const void *b)
{
	const struct problem *const problems[] = {
		*(const struct problem *const *)a, *(const struct problem *const *)b};
	double sizes[] = {1, 1}, value;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < problems[i]->operation->key_count; k++)
			if (value_as_real(problems[i]->values[k], &value))
				sizes[i] *= fmax(value, 1);
	return sizes[0] < sizes[1]   ? -1
	       : sizes[0] > sizes[1] ? 1
				     : strcmp(problems[0]->text, problems[1]->text);
}

static enum status sample_family(struct context *context, const struct family *family, size_t limit,
	struct totals *totals, struct error *err)
{
	struct problem_list problems = {0};
	struct error missing = {0};
	enum status status = family_examples_check(family, context->device->spec, err);

	/* tile kernels have their own compiler; checks/tile.py compiles some */
	if (family->language == LANGUAGE_TILE &&
		compiler_find_tile(context->compiler, NULL, &missing) != STATUS_OK)
		return status;
	for (size_t i = 0; i < family->examples.legal_count && status == STATUS_OK; i++)
		status = problem_parse(
			family->operation, family->examples.legal[i].problem, &problems, err);
	if (problems.count)
		qsort(problems.items, problems.count, sizeof(*problems.items), compare_sizes);
	for (size_t k = 0; k < problems.count && status == STATUS_OK; k++)
		status = sample_problem(context, family, problems.items[k], limit, totals, err);
	problem_list_release(&problems);
	return status == STATUS_OK ? status : error_context(err, "%s", family->name);
}

static void wait_for_all(struct context *context, struct totals *totals)
{
	while (compiler_pending(context->compiler))
		compiler_poll(context->compiler, INFINITY);
	for (size_t i = 0; i < totals->count; i++) {
		totals->units++;
		if (totals->kernels[i]->outcome == OUTCOME_OK)
			continue;
		totals->failed++;
		fprintf(stderr, "%s: %s: %s\n", totals->labels[i],
			outcome_name(totals->kernels[i]->outcome),
			totals->kernels[i]->log ? totals->kernels[i]->log : "");
	}
}

static enum status sample_device(
	char **arguments, size_t number, struct shown *shown, struct totals *sum, struct error *err)
{
	const char *roots[] = {arguments[1], NULL}, *device = arguments[5 + number];
	const size_t limit = (size_t)atoi(arguments[4]);
	struct context_options options = {.roots = roots,
		.device = device,
		.need_compiler = true,
		.compiler = {.worker_path = arguments[3], .cache_folder = arguments[2]}};
	struct context context;
	struct totals totals = {.shown = limit ? NULL : shown, .device = number};
	enum status status = context_open(&options, &context, err);

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < context.catalogue.family_count && status == STATUS_OK; i++)
		status =
			sample_family(&context, context.catalogue.families[i], limit, &totals, err);
	wait_for_all(&context, &totals);
	fprintf(stderr, "%s: %zu kernels of %zu families, %zu failed\n", device, totals.units,
		context.catalogue.family_count, totals.failed);
	sum->units += totals.units;
	sum->failed += totals.failed;
	for (size_t i = 0; i < totals.count; i++)
		free(totals.labels[i]);
	free(totals.labels);
	free(totals.kernels);
	context_release(&context);
	return status;
}

int main(int count, char **arguments)
{
	struct shown shown = {0};
	struct totals sum = {0};
	struct error err = {0};
	enum status status = STATUS_OK;

	if (count < 6) {
		fprintf(stderr, "usage: sample_families ROOT CACHE WORKER LIMIT DEVICE...\n");
		return STATUS_BAD_INPUT;
	}
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i + 5 < (size_t)count && status == STATUS_OK; i++)
		status = sample_device(arguments, i, &shown, &sum, &err);
	free(shown.items);
	if (status != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		return (int)status;
	}
	return sum.failed || !sum.units ? STATUS_FAILED : STATUS_OK;
}
