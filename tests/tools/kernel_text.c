/* SPDX-License-Identifier: MIT
 *
 * What candidates run: sources, defines, launches, the reference and its tolerances, one line of
 * JSON for each.
 *
 *	kernel_text ROOT DEVICE		lines of stdin: OPERATION FAMILY PROBLEM CONFIGURATION
 *
 * CONFIGURATION may be partial (the family's defaults complete it), `-` for these alone, or `@N`: N
 * legal ones drawn with a fixed seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/record_write.h"
#include "base/memory.h"
#include "base/random.h"
#include "candidate/candidate.h"
#include "candidate/configuration.h"
#include "engine/context.h"
#include "family/family.h"
#include "space/enumerate.h"

enum {
	DRAWN_MAX = 64
};

struct question {
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

static enum status print_candidate(
	const struct question *question, const choice *choices, struct error *err)
{
	const struct bound_family *bound = question->bound;
	struct value *slots = memory_zeroed(bound->space->names.count, sizeof(*slots));
	struct json *json = json_new_object();
	struct build build = {0}, reference_build = {0};
	struct reference_plan reference = {0};
	struct plan plan = {0};
	struct text label = {0};
	char *line;
	enum status status = configuration_expect_legal(bound, choices, err);

	if (status == STATUS_OK)
		status = space_values(bound->space, choices, slots, err);
	if (status == STATUS_OK)
		status = candidate_build(bound, slots, &build, err);
	if (status == STATUS_OK)
		status = candidate_plan(bound, slots, &plan, err);
	if (status == STATUS_OK)
		status = problem_reference(
			question->problem, bound->device, &reference_build, &reference, err);
	if (status == STATUS_OK) {
		configuration_format(bound, choices, &label);
		json_put_string(json, "family", bound->family->name);
		json_put(json, "problem", problem_to_json(question->problem));
		json_put_string(json, "label", text_string(&label));
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
	reference_plan_release(&reference);
	text_release(&label);
	json_free(json);
	free(slots);
	return status;
}

/* ---- drawing ---- */
struct drawn {
	size_t parameters, wanted, seen;
	choice *choices;
	struct random_state random;
};

static bool draw(const choice *choices, const struct value *slots, void *context)
{
	struct drawn *drawn = context;
	size_t place = drawn->seen++;

	(void)slots;
	if (place >= drawn->wanted)
		place = (size_t)random_below(&drawn->random, drawn->seen);
	if (place < drawn->wanted)
		memcpy(drawn->choices + place * drawn->parameters, choices,
			drawn->parameters * sizeof(*choices));
	return true;
}

static enum status print_drawn(const struct question *question, size_t wanted, struct error *err)
{
	struct drawn drawn = {.parameters = question->bound->space->parameter_count,
		.wanted = wanted < DRAWN_MAX ? wanted : DRAWN_MAX};
	enum status status;

	drawn.choices = memory_zeroed(DRAWN_MAX, (drawn.parameters + 1) * sizeof(choice));
	random_seed(&drawn.random, 1);
	status = space_enumerate(question->bound->space, draw, &drawn, NULL, err);
	for (size_t i = 0; i < drawn.wanted && i < drawn.seen && status == STATUS_OK; i++)
		status = print_candidate(question, drawn.choices + i * drawn.parameters, err);
	free(drawn.choices);
	return status;
}

static enum status print_named(
	const struct question *question, const char *configuration, struct error *err)
{
	const struct space *space = question->bound->space;
	struct value *slots = memory_zeroed(space->names.count, sizeof(*slots));
	struct value values[SPACE_PARAMETERS_MAX];
	choice choices[SPACE_PARAMETERS_MAX] = {0};
	bool given[SPACE_PARAMETERS_MAX], found = false;
	enum status status = configuration_defaults(question->bound, values, err);

	if (status == STATUS_OK)
		status = configuration_parse(question->bound,
			strcmp(configuration, "-") == 0 ? "" : configuration, slots, given, err);
	for (size_t i = 0; i < space->parameter_count && status == STATUS_OK; i++)
		if (given[i])
			values[i] = slots[space_parameter_slot(space, i)];
	if (status == STATUS_OK)
		status =
			configuration_nearest(question->bound, values, given, choices, &found, err);
	if (status == STATUS_OK && !found)
		status = error_set(err, STATUS_BAD_INPUT, "{%s}: no legal configuration has that",
			configuration);
	if (status == STATUS_OK)
		status = print_candidate(question, choices, err);
	free(slots);
	return status;
}

static enum status answer(struct context *context, char *line, struct error *err)
{
	char *save = NULL;
	const char *operation_name = strtok_r(line, " \n", &save);
	const char *family_name = strtok_r(NULL, " \n", &save);
	const char *problem = strtok_r(NULL, " \n", &save);
	const char *configuration = strtok_r(NULL, " \n", &save);
	struct question question = {.context = context};
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
		question.problem = problems.items[i];
		status = family_applies(family, question.problem, device_spec(context->device),
			&applies, NULL, err);
		if (status != STATUS_OK || !applies)
			continue;
		status = family_bind(family, question.problem, device_spec(context->device), NULL,
			&question.bound, err);
		if (status != STATUS_OK)
			break;
		if (configuration[0] == '@')
			status = print_drawn(&question, (size_t)atoi(configuration + 1), err);
		else
			status = print_named(&question, configuration, err);
		bound_family_free(question.bound);
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

	if (count != 3) {
		fprintf(stderr, "usage: kernel_text ROOT DEVICE <LINES\n");
		return STATUS_BAD_INPUT;
	}
	const char *roots[] = {arguments[1], NULL};
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
