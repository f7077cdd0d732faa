/* SPDX-License-Identifier: MIT */
#include "engine/kernel_check.h"

#include "compile/cubin.h"

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
		"%s: expected the kernel's %d arguments (bytes: %s), found %zu (%s)", name,
		found.param_count, found.param_count ? taken.data : "none", launch->argument_count,
		launch->argument_count ? given.data : "none");
}
