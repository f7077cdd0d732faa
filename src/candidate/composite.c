/* SPDX-License-Identifier: MIT */
#include "candidate/composite.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_family.h"
#include "candidate/build.h"
#include "candidate/candidate_work.h"
#include "candidate/configuration.h"
#include "family/family.h"
#include "family/operation.h"

/* ---- choosing what serves the steps ---- */
static enum status pose(const struct bound_family *bound, const struct step *step,
	struct problem **posed, struct error *err)
{
	const struct operation *operation = step->poses;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(operation->key_count, sizeof(*values));
	CLEANUP(memory_free) bool *given = memory_zeroed(operation->key_count, sizeof(*given));

	for (size_t i = 0; i < step->value_count; i++) {
		const int key = name_table_find(&operation->key_names, step->values[i].key);

		if (key == NAME_UNKNOWN)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected keys of %s, found \"%s\"", bound->family->file,
				operation->name, step->values[i].key);
		given[key] = true;
		TRY(expression_evaluate(step->values[i].expression, bound->problem->values, NULL,
			&values[key], err));
	}
	return problem_complete(operation, values, given, posed, err);
}

enum status composite_open(struct bound_family *bound, struct error *err)
{
	const struct family *family = bound->family;
	struct composite *composite = memory_zeroed(1, sizeof(*composite));

	bound->composite = composite;
	composite->steps = memory_zeroed(family->step_count, sizeof(*composite->steps));
	composite->step_count = family->step_count;
	for (size_t i = 0; i < composite->step_count; i++)
		if (pose(bound, &family->steps[i], &composite->steps[i].problem, err) != STATUS_OK)
			return error_context(err, "%s: $.steps[%zu].problem", family->file, i);
	return STATUS_OK;
}

static void forget_choice(struct composite_step *step)
{
	candidate_release(&step->candidate);
	free(step->values);
	step->values = NULL;
}

void composite_free(struct composite *composite)
{
	for (size_t i = 0; composite && i < composite->step_count; i++) {
		forget_choice(&composite->steps[i]);
		problem_free(composite->steps[i].problem);
	}
	if (composite)
		free(composite->steps);
	free(composite);
}

enum status composite_choose(const struct catalogue *catalogue, struct bound_family *bound,
	size_t step, const char *family, const struct named_values *configuration,
	struct error *err)
{
	struct composite_step *at = &bound->composite->steps[step];
	CLEANUP(candidate_release) struct candidate chosen = {0};
	struct value *values;
	const struct family *found;

	TRY(catalogue_family(catalogue, at->problem->operation, family, &found, err));
	if (found->step_count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a family without steps of its own", found->name);
	TRY(family_bind_applicable(found, at->problem, bound->device, &chosen.bound, err));
	TRY(configuration_from_named_values(chosen.bound, configuration, chosen.choices, err));
	TRY(configuration_expect_legal(chosen.bound, chosen.choices, err));
	values = candidate_values(&chosen, err);
	if (!values)
		return STATUS_FAILED;
	forget_choice(at);
	at->candidate = chosen;
	at->values = values;
	chosen = (struct candidate){0};
	return STATUS_OK;
}

/* ---- the whole from its steps: plan, build, work ---- */
/* An intermediate of up to this share of the L2 cache stays there. */
static const double l2_share = 0.5;

/* "step2_partial" */
static void put_name(char name[PLAN_NAME_SIZE], size_t index, const char *own)
{
	char *whole = string_format("step%zu_%s", index + 1, own);

	string_put(name, PLAN_NAME_SIZE, whole);
	free(whole);
}

/* The family's buffer that a tensor of a step is, or -1. */
static ptrdiff_t mapped_buffer(const struct step *step, const char *tensor)
{
	for (size_t i = 0; i < step->tensor_count; i++)
		if (strcmp(step->tensors[i].name, tensor) == 0)
			return (ptrdiff_t)step->tensors[i].buffer;
	return -1;
}

static enum status refuse(const struct bound_family *bound, size_t step, struct error *err,
	const char *tensor, const char *expected, uint64_t found)
{
	return error_set(err, STATUS_BAD_INPUT,
		"%s: $.steps[%zu].tensors.%s: expected %s, found %llu bytes", bound->family->file,
		step, tensor, expected, (unsigned long long)found);
}

#define NO_PLACE UINT32_MAX

/* Where the buffers of a step's plan are in the whole: tensors by name, workspaces at the end. */
static enum status map_buffers(const struct bound_family *bound, size_t index,
	const struct plan *part, struct plan *plan, uint32_t *places, struct error *err)
{
	const struct step *step = &bound->family->steps[index];

	for (size_t i = 0; i < part->tensor_count; i++) {
		const struct plan_buffer *buffer = &part->buffers[i];
		ptrdiff_t place = mapped_buffer(step, buffer->name);
		const struct plan_buffer *target;

		places[i] = NO_PLACE;
		if (place < 0 && !buffer->bytes)
			continue; /* a tensor that the step's problem does not have */
		if (place < 0)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: $.steps[%zu].tensors: expected every tensor of %s, found none "
				"for %s",
				bound->family->file, index, step->operation, buffer->name);
		target = &plan->buffers[place];
		if (target->bytes < buffer->bytes)
			return refuse(bound, index, err, buffer->name,
				"a buffer that holds the step's tensor", target->bytes);
		if ((size_t)place < plan->tensor_count && target->dtype != buffer->dtype)
			return refuse(bound, index, err, buffer->name,
				"a tensor of the same element type", target->bytes);
		places[i] = (uint32_t)place;
	}
	plan->buffers = memory_resize(plan->buffers,
		plan->buffer_count + part->buffer_count - part->tensor_count + 1,
		sizeof(*plan->buffers));
	for (size_t i = part->tensor_count; i < part->buffer_count; i++) {
		struct plan_buffer *added = &plan->buffers[plan->buffer_count];

		*added = part->buffers[i];
		put_name(added->name, index, part->buffers[i].name);
		plan->workspace_bytes += added->bytes;
		places[i] = (uint32_t)plan->buffer_count++;
	}
	return STATUS_OK;
}

static void append_maps(
	size_t index, const struct plan *part, const uint32_t *places, struct plan *plan)
{
	plan->tensor_maps = memory_resize(plan->tensor_maps,
		plan->tensor_map_count + part->tensor_map_count + 1, sizeof(*plan->tensor_maps));
	for (size_t i = 0; i < part->tensor_map_count; i++) {
		struct plan_tensor_map *added = &plan->tensor_maps[plan->tensor_map_count++];

		*added = part->tensor_maps[i];
		put_name(added->name, index, part->tensor_maps[i].name);
		added->buffer = places[added->buffer];
	}
}

/* Moves the launches of a part over. */
static void append_launches(struct plan *part, const uint32_t *places, size_t first_map,
	size_t first_unit, struct plan *plan)
{
	plan->launches = memory_resize(plan->launches, plan->launch_count + part->launch_count + 1,
		sizeof(*plan->launches));
	for (size_t i = 0; i < part->launch_count; i++) {
		struct plan_launch *launch = &plan->launches[plan->launch_count++];

		*launch = part->launches[i];
		part->launches[i] = (struct plan_launch){0};
		launch->unit += (uint32_t)first_unit;
		for (size_t a = 0; a < launch->argument_count; a++) {
			struct plan_argument *argument = &launch->arguments[a];

			if (argument->kind == ARGUMENT_BUFFER &&
				places[argument->index] == NO_PLACE)
				*argument =
					(struct plan_argument){.kind = ARGUMENT_INT64}; /* null */
			else if (argument->kind == ARGUMENT_BUFFER)
				argument->index = places[argument->index];
			else if (argument->kind == ARGUMENT_TENSOR_MAP)
				argument->index += (uint32_t)first_map;
		}
	}
}

static enum status count_units(const struct composite_step *step, size_t *count, struct error *err)
{
	const struct family *family = step->candidate.bound->family;
	CLEANUP(memory_free) int *units = memory_zeroed(family->source_count + 1, sizeof(*units));

	TRY(family_units(family, step->values, units, err));
	for (size_t i = 0; i < family->source_count; i++)
		*count += units[i] >= 0;
	return STATUS_OK;
}

static void append_symbols(
	struct plan *part, const uint32_t *places, size_t first_unit, struct plan *plan)
{
	if (!part->symbol_count)
		return;
	plan->symbols = memory_resize(
		plan->symbols, plan->symbol_count + part->symbol_count + 1, sizeof(*plan->symbols));
	for (size_t i = 0; i < part->symbol_count; i++) {
		struct plan_symbol *symbol = &plan->symbols[plan->symbol_count++];

		*symbol = part->symbols[i];
		part->symbols[i] = (struct plan_symbol){0};
		symbol->unit += (uint32_t)first_unit;
		symbol->buffer = places[symbol->buffer];
	}
}

enum status composite_plan(const struct bound_family *bound, struct plan *plan, struct error *err)
{
	const struct composite *composite = bound->composite;
	size_t unit_count = 0;

	for (size_t i = 0; i < composite->step_count; i++) {
		const struct composite_step *step = &composite->steps[i];
		CLEANUP(plan_release) struct plan part = {0};
		CLEANUP(memory_free) uint32_t *places = NULL;
		size_t first_map = plan->tensor_map_count;

		TRY(candidate_plan(step->candidate.bound, step->values, &part, err));
		places = memory_zeroed(part.buffer_count + 1, sizeof(*places));
		TRY(map_buffers(bound, i, &part, plan, places, err));
		append_maps(i, &part, places, plan);
		append_launches(&part, places, first_map, unit_count, plan);
		append_symbols(&part, places, unit_count, plan);
		TRY(count_units(step, &unit_count, err));
	}
	return STATUS_OK;
}

enum status composite_build(
	const struct bound_family *bound, struct build *build, struct error *err)
{
	const struct composite *composite = bound->composite;

	CLEANUP(build_release) struct build made = {0};

	*build = (struct build){0};
	for (size_t i = 0; i < composite->step_count; i++) {
		const struct composite_step *step = &composite->steps[i];
		CLEANUP(build_release) struct build part = {0};

		TRY(candidate_build(step->candidate.bound, step->values, &part, err));
		build_append(&made, &part);
	}
	build_finish(&made);
	*build = made;
	made = (struct build){0};
	return STATUS_OK;
}

/* What a step's launches have to do with an intermediate that stays in the L2 cache. */
static void keep_in_l2(
	const struct bound_family *bound, size_t index, size_t first, struct work *work)
{
	const struct family *family = bound->family;
	const struct composite_step *chosen = &bound->composite->steps[index];
	const struct step *step = &family->steps[index];
	double limit = l2_share * (double)bound->device->l2_bytes;

	for (size_t i = 0; i < step->tensor_count; i++) {
		const struct operation *operation = chosen->candidate.bound->family->operation;
		size_t tensor = 0;
		double bytes;

		while (tensor < operation->tensor_count &&
			strcmp(operation->tensors[tensor].name, step->tensors[i].name) != 0)
			tensor++;
		if (step->tensors[i].buffer < family->operation->tensor_count ||
			tensor == operation->tensor_count)
			continue;
		bytes = (double)chosen->candidate.bound->model.tensors[tensor].bytes;
		for (size_t k = first; k < work->launch_count && bytes <= limit; k++) {
			double *dram = operation->tensors[tensor].role == BUFFER_OUTPUT
					       ? &work->launches[k].dram_write_bytes
					       : &work->launches[k].dram_read_bytes;
			double taken = bytes < *dram ? bytes : *dram;

			*dram -= taken;
			bytes -= taken;
		}
	}
}

enum status composite_work(const struct bound_family *bound, struct work *work, struct error *err)
{
	const struct composite *composite = bound->composite;

	for (size_t i = 0; i < composite->step_count; i++) {
		const struct composite_step *step = &composite->steps[i];
		size_t first = work->launch_count;
		CLEANUP(work_release) struct work part = {0};

		TRY(candidate_work(step->candidate.bound, step->values, &part, err));
		work->launches = memory_resize(work->launches,
			work->launch_count + part.launch_count + 1, sizeof(*work->launches));
		memcpy(work->launches + work->launch_count, part.launches,
			part.launch_count * sizeof(*part.launches));
		work->launch_count += part.launch_count;
		work->workspace_bytes += part.workspace_bytes;
		part.launch_count = 0;
		keep_in_l2(bound, i, first, work);
	}
	return STATUS_OK;
}
