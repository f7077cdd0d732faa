/* SPDX-License-Identifier: MIT
 *
 * Prints what candidates execute: sources, defines, launches, the reference and its tolerances, as
 * one line of JSON each.
 *
 *	kernel_text ROOT DEVICE [ROOT]	lines of stdin: OPERATION FAMILY PROBLEM CONFIGURATION
 *
 * CONFIGURATION may be partial (the family's defaults complete it), `-` for all defaults, or `@N`
 * for N legal ones drawn with a fixed seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record_write.h"
#include "base/memory.h"
#include "base/random.h"
#include "candidate/problem_reference.h"
#include "candidate/candidate.h"
#include "candidate/candidate_work.h"
#include "candidate/configuration.h"
#include "engine/context.h"
#include "family/family.h"
#include "space/enumerate.h"
#include "../problem_json.h"

enum {
	DRAWN_MAX = 64
};

struct request {
	struct context *context;
	const struct problem *problem;
	struct bound_family *bound;
};

static struct json *strings(char *const *items, size_t count)
{
	struct json *array = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(array, json_new_string(items[i]));
	return array;
}

static struct json *build_json(const struct build *build)
{
	struct json *units = json_new_array();

	for (size_t i = 0; i < build->unit_count; i++) {
		const struct build_unit *unit = &build->units[i];
		struct json *json = json_new_object();

		json_put_string(json, "name", unit->name);
		json_put_string(json, "source", unit->source);
		json_put(json, "options", strings(unit->options, unit->option_count));
		json_put(json, "entries", strings(unit->entries, unit->entry_count));
		json_push(units, json);
	}
	return units;
}

static struct json *pipes_json(const double amounts[PIPE_COUNT])
{
	struct json *json = json_new_object();

	for (int i = 0; i < PIPE_COUNT; i++)
		if (amounts[i] != 0)
			json_put_double(json, pipe_names[i], amounts[i]);
	return json;
}

/* Writes the score's inputs from a launch's model. */
static struct json *work_json(const struct launch_work *work)
{
	struct json *json = json_new_object(), *tiles = json_new_array(),
		    *accesses = json_new_array();

	json_put_double(json, "units", work->units);
	json_put_double(json, "useful", work->useful_ratio);
	json_put_double(json, "steps", work->steps_mean);
	json_put_double(json, "steps_max", work->steps_max);
	json_put_double(json, "stages", work->stages);
	json_put_string(json, "schedule", schedule_names[work->schedule]);
	json_put(json, "per_step", pipes_json(work->per_step));
	json_put(json, "prologue", pipes_json(work->prologue));
	json_put(json, "epilogue", pipes_json(work->epilogue));
	json_put_double(json, "overlap", work->epilogue_overlap_ratio);
	json_put_double(json, "dram_read_bytes", work->dram_read_bytes);
	json_put_double(json, "dram_write_bytes", work->dram_write_bytes);
	for (size_t i = 0; i < work->smem_access_count; i++) {
		const struct work_smem_access *access = &work->smem_accesses[i];
		double sum = 0;

		if (!access->when)
			continue;
		for (int lane = 0; lane < WORK_LANES; lane++)
			sum += (double)access->address[lane] * (lane + 1);
		json_push(accesses, json_new_double(access->width_bytes));
		json_push(accesses, json_new_double(access->bytes_per_step));
		json_push(accesses, json_new_double(sum));
	}
	json_put(json, "accesses", accesses);
	for (size_t i = 0; i < work->tile_count; i++) {
		if (!work->tiles[i].when)
			continue;
		json_push(tiles, json_new_double(work->tiles[i].rows));
		json_push(tiles, json_new_double(work->tiles[i].row_bytes));
		json_push(tiles, json_new_double(work->tiles[i].row_offset_bytes));
		json_push(tiles, json_new_double((double)work->tiles[i].pitch_bytes));
	}
	json_put(json, "tiles", tiles);
	return json;
}

static struct json *works_json(const struct work *work)
{
	struct json *launches = json_new_array();

	for (size_t i = 0; i < work->launch_count; i++)
		if (work->launches[i].has_model)
			json_push(launches, work_json(&work->launches[i]));
	return launches;
}

/* legal: number of legal configurations of the space; 0 if they were not counted. */
static enum status print_candidate(
	const struct request *request, const choice *choices, size_t legal, struct error *err)
{
	const struct bound_family *bound = request->bound;
	struct value *values = memory_zeroed(bound->space->names->count, sizeof(*values));
	struct json *json = json_new_object();
	struct build build = {0}, reference_build = {0};
	struct reference_plan reference = {0};
	struct plan plan = {0};
	struct work work = {0};
	struct text label = {0};
	char *line;
	enum status status = configuration_expect_legal(bound, choices, err);

	if (status == STATUS_OK)
		status = space_values(bound->space, choices, values, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, values, &build, err);
	if (status == STATUS_OK)
		status = candidate_plan(bound, values, &plan, err);
	if (status == STATUS_OK)
		status = candidate_work(bound, values, &work, err);
	if (status == STATUS_OK)
		status = problem_reference(
			request->problem, NULL, bound->device, &reference_build, &reference, err);
	if (status == STATUS_OK) {
		configuration_format(bound, choices, &label);
		json_put_string(json, "family", bound->family->name);
		json_put(json, "problem", problem_to_json(request->problem));
		json_put_string(json, "label", text_string(&label));
		json_put_double(json, "legal", (double)legal);
		json_put_double(json, "flop", work.flop);
		json_put(json, "work", works_json(&work));
		json_put(json, "units", build_json(&build));
		json_put(json, "plan", record_to_json(&plan_record, &plan));
		json_put(json, "reference", record_to_json(&reference_plan_record, &reference));
		json_put(json, "reference_units", build_json(&reference_build));
		line = json_print(json, false);
		puts(line);
		free(line);
	}
	build_release(&build);
	build_release(&reference_build);
	plan_release(&plan);
	work_release(&work);
	reference_plan_release(&reference);
	text_release(&label);
	json_free(json);
	free(values);
	return status;
}

/* ---- drawing ---- */
struct drawn {
	size_t parameters, wanted, seen;
	choice *choices;
	struct random_state random;
};

static bool draw(const choice *choices, void *context)
{
	struct drawn *drawn = context;
	size_t place = drawn->seen++;

	if (place >= drawn->wanted)
		place = (size_t)random_below(&drawn->random, drawn->seen);
	if (place < drawn->wanted)
		memcpy(drawn->choices + place * drawn->parameters, choices,
			drawn->parameters * sizeof(*choices));
	return true;
}

static enum status print_drawn(const struct request *request, size_t wanted, struct error *err)
{
	struct drawn drawn = {.parameters = request->bound->space->parameter_count,
		.wanted = wanted < DRAWN_MAX ? wanted : DRAWN_MAX};
	enum status status;

	drawn.choices = memory_zeroed(DRAWN_MAX, (drawn.parameters + 1) * sizeof(choice));
	random_seed(&drawn.random, 1);
	status = space_enumerate(request->bound->space, draw, &drawn, NULL, err);
	for (size_t i = 0; i < drawn.wanted && i < drawn.seen && status == STATUS_OK; i++)
		status = print_candidate(
			request, drawn.choices + i * drawn.parameters, drawn.seen, err);
	free(drawn.choices);
	return status;
}

static enum status print_named(
	const struct request *request, const char *configuration, struct error *err)
{
	struct value values[SPACE_PARAMETERS_MAX], named[SPACE_PARAMETERS_MAX];
	choice choices[SPACE_PARAMETERS_MAX] = {0};
	bool given[SPACE_PARAMETERS_MAX], found = false;
	enum status status = configuration_defaults(request->bound, values, err);

	if (status == STATUS_OK)
		status = configuration_parse(request->bound,
			strcmp(configuration, "-") == 0 ? "" : configuration, named, given, err);
	for (size_t i = 0; i < request->bound->space->parameter_count && status == STATUS_OK; i++)
		if (given[i])
			values[i] = named[i];
	if (status == STATUS_OK)
		status = configuration_nearest(request->bound, values, given, choices, &found, err);
	if (status == STATUS_OK && !found)
		status = error_set(err, STATUS_BAD_INPUT, "{%s}: no legal configuration has that",
			configuration);
	if (status == STATUS_OK)
		status = print_candidate(request, choices, 0, err);
	return status;
}

static enum status answer(struct context *context, char *line, struct error *err)
{
	char *save = NULL;
	const char *operation_name = strtok_r(line, " \n", &save);
	const char *family_name = strtok_r(NULL, " \n", &save);
	const char *problem = strtok_r(NULL, " \n", &save);
	const char *configuration = strtok_r(NULL, " \n", &save);
	struct request request = {.context = context};
	const struct operation *operation;
	const struct family *family;
	struct problem_list problems = {0};
	bool applies = false;
	enum status status;

	if (!configuration)
		return error_set(err, STATUS_BAD_INPUT, "expected four words in a line");
	status = catalogue_operation(&context->catalogue, operation_name, &operation, err);
	if (status == STATUS_OK)
		status =
			catalogue_family(&context->catalogue, operation, family_name, &family, err);
	if (status == STATUS_OK)
		status = problem_parse(operation, problem, &problems, err);
	for (size_t i = 0; i < problems.count && status == STATUS_OK; i++) {
		request.problem = problems.items[i];
		status = family_applies(
			family, request.problem, context->device->spec, &applies, NULL, err);
		if (status != STATUS_OK || !applies)
			continue;
		status = family_bind(
			family, request.problem, context->device->spec, NULL, &request.bound, err);
		if (status != STATUS_OK)
			break;
		if (configuration[0] == '@')
			status = print_drawn(&request, (size_t)atoi(configuration + 1), err);
		else
			status = print_named(&request, configuration, err);
		bound_family_free(request.bound);
	}
	problem_list_release(&problems);
	return status;
}

int main(int count, char **arguments)
{
	struct context context;
	struct error err = {0};
	char line[2000];
	enum status status;

	if (count != 3 && count != 4) {
		fprintf(stderr, "usage: kernel_text ROOT DEVICE [ROOT] <LINES\n");
		return STATUS_BAD_INPUT;
	}
	const char *roots[] = {arguments[1], count == 4 ? arguments[3] : NULL, NULL};
	struct context_options options = {.roots = roots, .device = arguments[2]};

	status = context_open(&options, &context, &err);
	while (status == STATUS_OK && fgets(line, sizeof(line), stdin))
		status = answer(&context, line, &err);
	if (status == STATUS_OK)
		context_release(&context);
	else
		fprintf(stderr, "%s\n", err.message);
	return (int)status;
}
