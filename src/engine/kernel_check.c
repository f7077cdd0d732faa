/* SPDX-License-Identifier: MIT */
#include "engine/kernel_check.h"

#include "compile/cubin.h"
#include "source/kernel_source.h"

static void append_given(const struct plan_launch *launch, const struct plan_buffer *buffers,
	const struct plan_tensor_map *tensor_maps, struct text *text)
{
	for (size_t i = 0; i < launch->argument_count; i++) {
		const struct plan_argument *argument = &launch->arguments[i];
		const char *name = argument_kind_names[argument->kind];

		if (argument->kind == ARGUMENT_BUFFER && buffers)
			name = buffers[argument->index].name;
		if (argument->kind == ARGUMENT_TENSOR_MAP && tensor_maps)
			name = tensor_maps[argument->index].name;
		text_appendf(
			text, "%s%s: %u", i ? ", " : "", name, plan_argument_bytes(argument->kind));
	}
}

static bool agrees(const struct plan_launch *launch, const struct cubin_kernel *kernel)
{
	bool same = (size_t)kernel->param_count == launch->argument_count;

	for (size_t i = 0; same && i < launch->argument_count; i++)
		same = plan_argument_bytes(launch->arguments[i].kind) == kernel->param_bytes[i];
	return same;
}

enum status kernel_arguments_check(const struct compile_result *kernel,
	const struct plan_launch *launch, const struct plan_buffer *buffers,
	const struct plan_tensor_map *tensor_maps, struct error *err)
{
	struct cubin cubin;
	struct cubin_kernel found;
	const char *name = launch->entry;
	CLEANUP(text_release) struct text given = {0}, taken = {0};

	if (cubin_open(&cubin, kernel->cubin.data, kernel->cubin.length, NULL) != STATUS_OK ||
		!cubin_kernel_find(&cubin, launch->entry, &found) || found.param_count < 0 ||
		agrees(launch, &found))
		return STATUS_OK;
	for (size_t i = 0; i < kernel->entry_count; i++)
		if (strcmp(kernel->entries[i].symbol, launch->entry) == 0)
			name = kernel->entries[i].name;
	append_given(launch, buffers, tensor_maps, &given);
	for (int32_t i = 0; i < found.param_count; i++)
		text_appendf(&taken, "%s%u", i ? ", " : "", found.param_bytes[i]);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: the kernel takes %d arguments (bytes: %s), but the launch gives %zu (%s)",
		name, found.param_count, found.param_count ? taken.data : "none",
		launch->argument_count, launch->argument_count ? given.data : "none");
}

/* Ignores template arguments: the entry "scan<256>" is declared as scan. */
static bool is_of_entry(const struct source_kernel *kernel, const char *entry)
{
	const size_t length = strcspn(entry, "<");

	return strlen(kernel->name) == length && strncmp(kernel->name, entry, length) == 0;
}

static enum status pointer_check(const char *entry, const struct source_variable *argument,
	const struct plan_buffer *buffer, struct error *err)
{
	const int dtype = argument->dtype ? dtype_find(argument->dtype) : -1;

	if (argument->is_const && buffer_is_output(buffer->role))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: the argument const %s *%s is read-only, but it is given the output %s",
			entry, argument->type, argument->name, buffer->name);
	if (dtype >= 0 && argument->lanes == 1 && buffer->role != BUFFER_WORKSPACE &&
		dtype_size((enum dtype)dtype) != dtype_size(buffer->dtype))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: the size of %s, the type of the argument %s *%s, does not fit %s of "
			"type %s",
			entry, argument->dtype, argument->type, argument->name, buffer->name,
			dtype_names[buffer->dtype]);
	return STATUS_OK;
}

/* Fails if the source reads a dimension beyond `count`. */
static enum status dimension_check(const char *text, const char *entry, const char *index,
	const char *member, size_t count, struct error *err)
{
	static const char axes[] = "xyz";

	for (size_t axis = count; axis < 3; axis++) {
		CLEANUP(memory_free) char *read = string_format("%s.%c", index, axes[axis]);

		if (!strstr(text, read))
			continue;
		error_set(err, STATUS_BAD_INPUT,
			"%s: \"%s\" needs %zu dimensions, because the source reads %s, but it has "
			"%zu",
			entry, member, axis + 1, read, count);
		return error_hint(err, "give an unused dimension the size 1");
	}
	return STATUS_OK;
}

/* Fails if a number's type differs from the parameter's, for example i32 from float. */
static enum status number_check(const char *entry, const struct source_variable *argument,
	const struct plan_argument *given, struct error *err)
{
	const int dtype = argument->dtype ? dtype_find(argument->dtype) : -1;
	const enum dtype found = argument_dtype(given->kind);

	if (dtype < 0 || argument->lanes > 1 ||
		(!argument->is_pointer && found != DTYPE_COUNT &&
			dtype_is_float((enum dtype)dtype) == dtype_is_float(found)))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: the launch gives %s for the argument %s %s%s", entry,
		argument_kind_names[given->kind], argument->type, argument->is_pointer ? "*" : "",
		argument->name);
	return found == DTYPE_COUNT || argument->is_pointer
		       ? STATUS_BAD_INPUT
		       : error_hint(err, "name the type: {\"value\": ..., \"type\": \"%s\"}",
				 dtype_is_float(found) ? "i32" : "f32");
}

static enum status source_arguments_check(const struct source_kernel *kernel, const char *entry,
	const struct plan_launch *launch, const struct plan_buffer *buffers, struct error *err)
{
	for (size_t i = 0; i < launch->argument_count; i++) {
		const struct source_variable *argument = &kernel->arguments[i];
		const struct plan_argument *given = &launch->arguments[i];

		if (argument->is_pointer && given->kind == ARGUMENT_BUFFER)
			TRY(pointer_check(entry, argument, &buffers[given->index], err));
		else
			TRY(number_check(entry, argument, given, err));
	}
	return STATUS_OK;
}

/* If branches of #if declare the kernel several times, one declaration must agree. */
static enum status source_check(const char *text, const struct launch *described,
	const struct plan_launch *launch, const struct plan_buffer *buffers, struct error *err)
{
	const char *entry = described->entry.text;
	CLEANUP(kernel_source_release) struct kernel_source source = {0};
	struct error first = {0};
	size_t heads = 0, wrong = 0, synced = 0;

	kernel_source_read(text, NULL, &source);
	for (size_t i = 0; i < source.kernel_count; i++) {
		const struct source_kernel *kernel = &source.kernels[i];
		struct error reason = {0};

		if (!is_of_entry(kernel, entry))
			continue;
		heads++;
		synced += kernel->syncs_grid;
		if (kernel->argument_count == launch->argument_count &&
			source_arguments_check(kernel, entry, launch, buffers, &reason) !=
				STATUS_OK &&
			!wrong++)
			first = reason;
	}
	if (wrong && wrong == heads) {
		*err = first;
		return first.status;
	}
	if (heads && synced == heads && !launch->shape.cooperative) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: the kernel synchronises its grid, but its launch is not cooperative",
			entry);
		return error_hint(err, "add \"cooperative\": true to the launch");
	}
	if (!heads || source.kernel_count > heads) /* another kernel may read the dimension */
		return STATUS_OK;
	TRY(dimension_check(text, entry, "blockIdx", "grid", described->grid_count, err));
	return dimension_check(text, entry, "threadIdx", "block", described->block_count, err);
}

enum status kernel_sources_check(
	const struct family *family, const struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->launch_count && plan->launch_count == family->launch_count;
		i++) {
		const struct launch *launch = &family->launches[i];

		if (source_check(family_device_code(family, launch->source), launch,
			    &plan->launches[i], plan->buffers, err) != STATUS_OK)
			return error_context(err, "%s", family->file);
	}
	return STATUS_OK;
}
