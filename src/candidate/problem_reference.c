/* SPDX-License-Identifier: MIT */
#include "candidate/problem_reference.h"

#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate/array_file.h"
#include "record/record_write.h"
#include "source/host_code.h"

struct reference_making {
	const struct problem *problem;
	const struct catalogue *catalogue;
	const struct device_spec *device;
	struct value *values;
	struct build *build;
	struct reference_plan *plan;
	size_t attempt; /* number of the configuration to use if the operation has no reference */
	char **chosen;
};

static enum status plan_kernel(const struct reference_making *making,
	const struct reference *reference, struct reference_output *output, struct error *err)
{
	const struct device_spec *device = making->device;
	struct reference now = *reference;
	struct plan_launch *launch = memory_zeroed(1, sizeof(*launch));

	output->launch = launch;
	TRY(computed_evaluate(&reference->computed, reference->computed.count, &now, making->values,
		0, COMPUTED_ALL, err));
	if (now.block > device->max_threads_per_block ||
		now.smem_bytes > device->smem_per_block_bytes)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: %s: expected a block that fits on the device, found %" PRIu32
			" threads and %" PRIu32 " bytes of shared memory",
			making->problem->operation->file, reference->entry, now.block,
			now.smem_bytes);
	*launch = (struct plan_launch){.entry = string_copy(reference->entry),
		.unit = (uint32_t)making->build->unit_count,
		.shape.grid = {1, 1, 1},
		.shape.block = {now.block, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.smem_dynamic_bytes = now.smem_bytes,
		.shape.repeat = 1};
	output->unit_is_row = reference->unit_is_row;
	output->units_per_block = now.units_per_block;
	return arguments_evaluate(&reference->arguments, making->values, launch, err);
}

static enum status build_kernel(
	const struct reference_making *making, const struct reference *reference, struct error *err)
{
	CLEANUP(named_values_release) struct named_values defines = {0};
	CLEANUP(build_release) struct build part = {0};
	CLEANUP(memory_free) char *source = host_code_removed(reference->source);

	TRY(operation_defines(making->problem->operation, making->values, &defines, err));
	build_of_source(&part, reference->source_name ? reference->source_name : reference->entry,
		source, &defines, reference->entry);
	build_append(making->build, &part);
	return STATUS_OK;
}

/* Chooses a configuration: the default, or with one parameter changed, a different one each
 * attempt. */
static enum status choose_attempt(const struct bound_family *bound, size_t attempt, choice *choices,
	bool *found, struct error *err)
{
	const struct space *space = bound->space;
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(space->parameter_count + 1, sizeof(*values));
	choice defaults[SPACE_PARAMETERS_MAX] = {0};
	size_t left = attempt, most = 1;

	TRY(configuration_default(bound, defaults, found, err));
	memcpy(choices, defaults, sizeof(defaults));
	for (size_t i = 0; i < space->parameter_count; i++) {
		const size_t count = space->parameters[i].values.count;

		most = count > most ? count : most;
	}
	if (!attempt || !*found)
		return STATUS_OK;
	for (size_t step = 1; step < most; step++)
		for (size_t i = 0; i < space->parameter_count; i++) {
			const struct value_list *list = &space->parameters[i].values;
			bool fixed[SPACE_PARAMETERS_MAX] = {false};

			if (step >= list->count || --left)
				continue;
			for (size_t k = 0; k < space->parameter_count; k++)
				values[k] = space->parameters[k].values.items[defaults[k]];
			values[i] = list->items[(defaults[i] + step) % list->count];
			fixed[i] = true;
			return configuration_nearest(bound, values, fixed, choices, found, err);
		}
	*found = false;
	return STATUS_OK;
}

static enum status problem_reference_choose(const struct reference_making *making,
	const struct bound_family *bound, const struct reference *reference, choice *choices,
	bool *found, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(bound->space->parameter_count + 1, sizeof(*values));
	bool fixed[SPACE_PARAMETERS_MAX] = {false};
	struct json_at config;

	if (!reference)
		return choose_attempt(bound, making->attempt, choices, found, err);
	config = json_root(reference->configuration, bound->problem->operation->file);
	if (configuration_from_json(bound, &config, values, fixed, err) != STATUS_OK)
		return error_context(err, "$.reference.configuration of %s", bound->family->name);
	return configuration_nearest(bound, values, fixed, choices, found, err);
}

static enum status take_configuration(const struct reference_making *making,
	const struct bound_family *bound, const choice *choices, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(bound->space->names->count + 1, sizeof(*values));
	CLEANUP(build_release) struct build part = {0};

	TRY(space_values(bound->space, choices, values, err));
	making->plan->trusted = memory_zeroed(1, sizeof(*making->plan->trusted));
	TRY(candidate_plan(bound, values, making->plan->trusted, err));
	TRY(candidate_build(bound, values, &part, err));
	build_append(making->build, &part);
	return STATUS_OK;
}

static bool may_serve(const struct reference_making *making, const struct family *family,
	const struct reference *reference)
{
	const char *name = strchr(family->name, '/') + 1;

	return family->operation == making->problem->operation &&
	       (!reference || !reference->family || strcmp(name, reference->family) == 0 ||
		       strcmp(family->name, reference->family) == 0);
}

/* Plans the trusted configuration. `reference` is NULL if the operation has no reference. */
static enum status trust(
	const struct reference_making *making, const struct reference *reference, struct error *err)
{
	const struct operation *operation = making->problem->operation;
	const struct catalogue *catalogue = making->catalogue;
	CLEANUP(text_release) struct text left_out = {0};

	for (size_t i = 0; i < catalogue->family_count; i++) {
		CLEANUP(bound_family_drop) struct bound_family *bound = NULL;
		choice choices[SPACE_PARAMETERS_MAX] = {0};
		bool found = false;

		if (!may_serve(making, catalogue->families[i], reference))
			continue;
		TRY(family_bind_if_applies(catalogue->families[i], making->problem, making->device,
			NULL, &bound, &left_out, err));
		if (bound)
			TRY(problem_reference_choose(
				making, bound, reference, choices, &found, err));
		if (!found)
			continue;
		if (making->chosen && !reference) {
			struct text text = {0};

			configuration_format(bound, choices, &text);
			*making->chosen = text_detach(&text);
		}
		return take_configuration(making, bound, choices, err);
	}
	error_set(err, STATUS_BAD_INPUT,
		"%s: %s: no configuration%s is legal here, so there is nothing to compare the "
		"results with",
		operation->file, making->problem->title,
		reference ? " that fits the \"reference\"" : "");
	return error_hint(err,
		       "give a reference: \"reference\" takes a kernel, a file or a configuration"),
	       STATUS_BAD_INPUT;
}

static enum status make_output(const struct reference_making *making, size_t tensor,
	struct reference_output *output, struct error *err)
{
	const struct operation *operation = making->problem->operation;
	const struct reference *reference = reference_find(operation, tensor);
	const struct tolerance *own = &operation->tensors[tensor].tolerance;

	*output = (struct reference_output){.tensor = (uint32_t)tensor,
		.units_per_block = 1,
		.verified = !reference || reference->configuration ? VERIFIED_CONFIGURATION
			    : reference->source_file               ? VERIFIED_REFERENCE
								   : VERIFIED_FILE};
	if (!reference && !reference_trusted(operation))
		output->verified = VERIFIED_SELF;
	TRY(tolerance_evaluate(own->is_given ? own : &operation->tolerance,
		making->plan->tensors[tensor].dtype, making->values, output, err));
	if (output->verified == VERIFIED_FILE) {
		CLEANUP(memory_free) char *folder = path_parent(operation->file);

		CLEANUP(text_release) struct text ignored = {0};

		TRY(file_expect_inside(folder, reference->file, err));
		output->file = path_join(folder, reference->file);
		/* read the file now to report errors before anything runs */
		if (making->catalogue)
			TRY(array_file_read(
				output->file, &making->plan->tensors[tensor], &ignored, err));
	}
	if (output->verified != VERIFIED_REFERENCE)
		return STATUS_OK;
	TRY(plan_kernel(making, reference, output, err));
	return build_kernel(making, reference, err);
}

/* Returns whether an output has neither a kernel nor a file. */
static bool wants_trust(const struct operation *operation)
{
	for (size_t i = 0; i < operation->tensor_count; i++) {
		const struct reference *reference = reference_find(operation, i);

		if (buffer_is_output(operation->tensors[i].buffer.role) &&
			(!reference || reference->configuration))
			return true;
	}
	return false;
}

static enum status take_contents(
	const struct reference_making *making, size_t tensor, const char *folder, struct error *err)
{
	const struct tensor *from = &making->problem->operation->tensors[tensor];
	const struct plan_buffer *buffer = &making->plan->tensors[tensor];
	struct plan_contents contents = {.tensor = (uint32_t)tensor};
	CLEANUP(text_release) struct text ignored = {0};

	if (from->buffer.contents != CONTENTS_EXPRESSION && from->buffer.contents != CONTENTS_FILE)
		return STATUS_OK;
	if (from->file)
		TRY(file_expect_inside(folder, from->file, err));
	if (from->expression)
		contents.expression = string_copy(expression_text(from->expression));
	else
		contents.file = path_join(folder, from->file);
	making->plan->contents[making->plan->contents_count++] = contents;
	return contents.file && buffer->bytes && making->catalogue
		       ? array_file_read(contents.file, buffer, &ignored, err)
		       : STATUS_OK;
}

static enum status make(const struct reference_making *making, struct error *err)
{
	const struct operation *operation = making->problem->operation;
	struct reference_plan *plan = making->plan;
	CLEANUP(memory_free) char *folder = path_parent(operation->file);

	plan->may_vary = !operation->is_deterministic;
	plan->tensor_count = operation->tensor_count;
	plan->tensors = memory_zeroed(operation->tensor_count + 1, sizeof(*plan->tensors));
	plan->outputs = memory_zeroed(operation->tensor_count + 1, sizeof(*plan->outputs));
	plan->contents = memory_zeroed(operation->tensor_count + 1, sizeof(*plan->contents));
	TRY(operation_tensors_evaluate(operation, making->values, plan->tensors, err));
	for (size_t i = 0; i < operation->tensor_count; i++)
		TRY(take_contents(making, i, folder, err));
	if (plan->contents_count)
		plan->keys = problem_named_values(making->problem);
	if (making->catalogue && wants_trust(operation))
		TRY(trust(making, reference_trusted(operation), err));
	for (size_t i = 0; i < operation->tensor_count; i++)
		if (buffer_is_output(operation->tensors[i].buffer.role))
			TRY(make_output(making, i, &plan->outputs[plan->output_count++], err));
	build_finish(making->build);
	return STATUS_OK;
}

enum status problem_reference(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err)
{
	return problem_reference_attempt(
		problem, catalogue, device, 0, build, reference, NULL, err);
}

enum status problem_reference_attempt(const struct problem *problem,
	const struct catalogue *catalogue, const struct device_spec *device, size_t attempt,
	struct build *build, struct reference_plan *reference, char **chosen, struct error *err)
{
	const size_t keys = problem->operation->key_count, names = DEVICE_VALUE_COUNT;
	CLEANUP(memory_free) struct value *values = memory_zeroed(keys + names, sizeof(*values));
	const struct reference_making making = {
		problem, catalogue, device, values, build, reference, attempt, chosen};

	*build = (struct build){0};
	*reference = (struct reference_plan){0};
	if (chosen)
		*chosen = NULL;
	memcpy(values, problem->values, keys * sizeof(*values));
	for (size_t i = 0; i < names; i++)
		values[keys + i] = device_spec_value(device, i);
	if (make(&making, err) == STATUS_OK)
		return STATUS_OK;
	build_release(build);
	reference_plan_release(reference);
	return STATUS_BAD_INPUT;
}

/* Hashes a file's contents, and frees its path, which may differ between machines. */
static enum status hash_file(struct hash *hash, char **path, struct error *err)
{
	CLEANUP(text_release) struct text content = {0};

	if (!*path)
		return STATUS_OK;
	TRY(file_read_regular(*path, &content, err));
	hash_add(hash, content.data, content.length);
	memory_free(path);
	*path = NULL;
	return STATUS_OK;
}

static enum status hash_reference(struct hash *hash, struct reference_plan *plan,
	const struct build *build, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	for (size_t i = 0; i < plan->contents_count; i++)
		TRY(hash_file(hash, &plan->contents[i].file, err));
	for (size_t i = 0; i < plan->output_count; i++)
		TRY(hash_file(hash, &plan->outputs[i].file, err));
	record_append(&reference_plan_record, plan, &text);
	hash_add(hash, text.data, text.length);
	hash_add_string(hash, build->kernel_hash);
	return STATUS_OK;
}

void problem_verification_hash(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, uint64_t seed, char digits[HASH_SIZE])
{
	CLEANUP(build_release) struct build build = {0};
	CLEANUP(reference_plan_release) struct reference_plan plan = {0};
	struct hash *hash;
	enum status status;

	*digits = '\0';
	if (problem_reference(problem, catalogue, device, &build, &plan, NULL) != STATUS_OK)
		return;
	hash = hash_new();
	hash_add(hash, &seed, sizeof(seed));
	status = hash_reference(hash, &plan, &build, NULL);
	hash_finish(hash, digits);
	if (status != STATUS_OK)
		*digits = '\0';
}
