/* SPDX-License-Identifier: MIT */
#include "export/export_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/format_text.h"
#include "base/memory.h"
#include "engine/kernel_store.h"
#include "engine/row.h"

const struct export_format export_format_cubin = {
	.name = "cubin",
	.summary = "the kernel compiled for the GPU, with launch metadata in JSON",
	.suffix = ".cubin",
	.arch_prefix = "sm_",
};
const struct export_format export_format_ptx = {
	.name = "ptx",
	.summary = "the kernel as PTX, with launch metadata in JSON",
	.suffix = ".ptx",
	.arch_prefix = "compute_",
};
const struct export_format export_format_source = {
	.name = "source",
	.summary = "the specialised source, with launch metadata in JSON",
	.suffix = ".cu",
};

enum status export_kernel_open(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, struct export_kernel *kernel, struct error *err)
{
	CLEANUP(memory_free) struct value *values = NULL;
	const struct operation *operation;

	kernel->device = device;
	TRY(catalogue_operation(catalogue, entry->operation, &operation, err));
	TRY(problem_from_named_values(operation, &entry->problem, &kernel->problem, err));
	TRY(row_candidate(
		catalogue, kernel->problem, device, &entry->winner, &kernel->candidate, NULL, err));
	if (kernel->candidate.bound->family->program)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: this is a program, which compiles its kernels itself, so there is no "
			"kernel to export",
			entry->winner.result.family);
	values = candidate_values(&kernel->candidate, err);
	if (!values)
		return STATUS_FAILED;
	TRY(candidate_plan(kernel->candidate.bound, values, &kernel->plan, err));
	return candidate_build(kernel->candidate.bound, values, &kernel->build, err);
}

static enum status rebuild_winner(const struct catalogue *catalogue,
	const struct device_spec *device, const struct operation *operation,
	struct tuned_entry *entry, bool *is_rebuilt, struct error *err)
{
	CLEANUP(problem_cleanup) struct problem *problem = NULL;
	CLEANUP(candidate_release) struct candidate candidate = {0};

	TRY(problem_from_named_values(operation, &entry->problem, &problem, err));
	TRY(row_candidate(catalogue, problem, device, &entry->winner, &candidate, NULL, err));
	return row_rebuild(&candidate, &entry->winner, is_rebuilt, err);
}

enum status export_rebuild(const struct catalogue *catalogue, const struct device_spec *device,
	struct tuned *tuned, struct export_source *source, struct error *err)
{
	size_t kept = 0, rebuilt_count = 0, gone = 0;
	struct error why = {0}; /* the reason for the first entry that no longer exists */

	for (size_t i = 0; i < source->entry_count; i++) {
		struct tuned_entry *entry = &tuned->entries[source->entries[i] - tuned->entries];
		const struct operation *operation;
		struct error reason = {0};
		bool is_rebuilt = false;

		if (!*entry->winner.result.kernel_hash || /* its sources are not known */
			catalogue_operation(catalogue, entry->operation, &operation, &reason) !=
				STATUS_OK ||
			rebuild_winner(catalogue, device, operation, entry, &is_rebuilt, &reason) ==
				STATUS_OK)
			source->entries[kept++] = entry;
		else if (!gone++)
			why = reason;
		rebuilt_count += is_rebuilt;
	}
	source->entry_count = kept;
	if (rebuilt_count)
		text_appendf(source->notice,
			"the sources of %zu of %zu entries changed after tuning: the export has "
			"today's kernels with the old times; compare them with `tiletune check`\n",
			rebuilt_count, kept);
	if (gone && !kept)
		return error_set(err, why.status, "%s: %s", tuned->path, why.message);
	if (gone)
		format_put(source->notice, format_shown,
			"left out %zu entries, because today's sources have no such kernel (%s); "
			"tune them again\n",
			gone, why.message);
	return STATUS_OK;
}

/* Writes the -D list as #defines before the source, so that it compiles without options. */
static void specialise(const struct build_unit *unit, struct text *text)
{
	text_appendf(text,
		"// %s, specialised; made by `tiletune export --format source`.\n// Other "
		"options:",
		unit->name);
	for (size_t i = 0; i < unit->option_count; i++)
		if (!string_starts_with(unit->options[i], "-D"))
			text_appendf(text, " %s", unit->options[i]);
	text_append_char(text, '\n');
	for (size_t i = 0; i < unit->option_count; i++) {
		const char *define = unit->options[i];
		size_t length;

		if (!string_starts_with(define, "-D"))
			continue;
		define += 2;
		length = strcspn(define, "=");
		text_appendf(text, "#define %.*s %s\n", (int)length, define,
			define[length] ? define + length + 1 : "1");
	}
	text_appendf(text, "\n%s", unit->source);
}

static void take_resources(const struct compile_result *compiled, struct kernel_unit *unit)
{
	unit->resources = memory_zeroed(compiled->entry_count + 1, sizeof(*unit->resources));
	unit->resource_count = compiled->entry_count;
	for (size_t i = 0; i < compiled->entry_count; i++) {
		const struct kernel_resources *resources = &compiled->entries[i].resources;

		unit->resources[i] =
			(struct kernel_usage){.name = string_copy(compiled->entries[i].symbol),
				.regs_per_thread = resources->regs_per_thread,
				.smem_static_bytes = resources->smem_static_bytes,
				.spill_bytes = resources->spill_store_bytes};
	}
}

static enum status compile_all(struct export_kernel *kernel, const struct export_format *format,
	struct compiler *compiler, struct error *err)
{
	/* sheets have the name "sm_90a" */
	char *arch =
		string_format("%s%s", format->arch_prefix, kernel->device->arch + strlen("sm_"));
	struct kernel_store *store = kernel_store_new(compiler, arch);
	enum status status = STATUS_OK;

	/* PTX has no register counts, because ptxas assigns registers */
	const bool has_resources = strcmp(format->arch_prefix, "sm_") == 0;

	CLEANUP(memory_free)
	const struct compile_result **kernels =
		memory_zeroed(kernel->build.unit_count + 1, sizeof(*kernels));

	for (size_t i = 0; i < kernel->build.unit_count && status == STATUS_OK; i++) {
		const struct compile_result *compiled;

		status = kernel_store_wait(store, &kernel->build.units[i], &kernels[i], err);
		compiled = kernels[i];
		if (status != STATUS_OK)
			break;
		text_append_bytes(&kernel->images[i], compiled->cubin.data, compiled->cubin.length);
		for (size_t k = 0; k < kernel->plan.launch_count; k++)
			if (kernel->plan.launches[k].unit == i)
				(void)kernel_take_entry(compiled, &kernel->plan.launches[k]);
		if (has_resources)
			take_resources(compiled, &kernel->units[i]);
	}
	if (status == STATUS_OK)
		status = kernel_take_symbols(kernels, &kernel->plan, err);
	kernel_store_free(store);
	free(arch);
	return status;
}

enum status export_kernel_make(struct export_kernel *kernel, const struct export_format *format,
	struct compiler *compiler, struct error *err)
{
	kernel->images = memory_zeroed(kernel->build.unit_count + 1, sizeof(*kernel->images));
	kernel->units = kernel_units(&kernel->build);
	if (format->arch_prefix)
		return compile_all(kernel, format, compiler, err);
	for (size_t i = 0; i < kernel->build.unit_count; i++)
		specialise(&kernel->build.units[i], &kernel->images[i]);
	return STATUS_OK;
}

void export_kernel_release(struct export_kernel *kernel)
{
	for (size_t i = 0; kernel->images && i < kernel->build.unit_count; i++)
		text_release(&kernel->images[i]);
	for (size_t i = 0; kernel->units && i < kernel->build.unit_count; i++) {
		for (size_t k = 0; k < kernel->units[i].resource_count; k++)
			free(kernel->units[i].resources[k].name);
		free(kernel->units[i].resources);
	}
	free(kernel->images);
	free(kernel->units);
	plan_release(&kernel->plan);
	build_release(&kernel->build);
	candidate_release(&kernel->candidate);
	problem_free(kernel->problem);
	*kernel = (struct export_kernel){0};
}
