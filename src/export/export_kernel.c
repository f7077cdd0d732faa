/* SPDX-License-Identifier: MIT */
#include "export/export_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "engine/kernel_json.h"
#include "engine/kernel_store.h"
#include "engine/row.h"

const struct export_image export_images[] = {
	{"cubin", "the kernel compiled for the GPU, with launch metadata in JSON", ".cubin", "sm_"},
	{"ptx", "the kernel as PTX, with launch metadata in JSON", ".ptx", "compute_"},
	{"source", "the specialised source, with launch metadata in JSON", ".cu", NULL},
	{NULL, NULL, NULL, NULL},
};

const struct export_image *export_image_find(const char *name)
{
	for (const struct export_image *image = export_images; image->name; image++)
		if (strcmp(image->name, name) == 0)
			return image;
	return NULL;
}

enum status export_kernel_open(const struct catalogue *catalogue, const struct device_spec *device,
	const struct tuned_entry *entry, struct export_kernel *kernel, struct error *err)
{
	const struct operation *operation;
	struct value *slots = NULL;
	enum status status = catalogue_operation(catalogue, entry->operation, &operation, err);

	*kernel = (struct export_kernel){.device = device};
	if (status == STATUS_OK)
		status = problem_from_named_values(
			operation, &entry->problem, &kernel->problem, err);
	if (status == STATUS_OK)
		status = row_candidate(catalogue, kernel->problem, device, &entry->winner,
			&kernel->candidate, err);
	if (status == STATUS_OK) {
		slots = candidate_values(&kernel->candidate, err);
		status = slots ? STATUS_OK : STATUS_FAILED;
	}
	if (status == STATUS_OK)
		status = candidate_plan(kernel->candidate.bound, slots, &kernel->plan, err);
	if (status == STATUS_OK)
		status = candidate_build(kernel->candidate.bound, slots, &kernel->build, err);
	free(slots);
	if (status != STATUS_OK)
		export_kernel_release(kernel);
	return status;
}

bool export_kernel_changed(const struct export_kernel *kernel, const struct tuned_entry *entry)
{
	return strcmp(entry->winner.kernel_hash, kernel->build.kernel_hash) != 0;
}

/* The -D list as #defines in front of the source, so that it stands alone. */
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

static struct json *entries_json(const struct compile_result *compiled)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < compiled->entry_count; i++) {
		const struct kernel_resources *resources = &compiled->entries[i].resources;
		struct json *json = json_new_object();

		json_put_string(json, "name", compiled->entries[i].name);
		json_put_int(json, "regs_per_thread", resources->regs_per_thread);
		json_put_int(json, "smem_static_bytes", resources->smem_static_bytes);
		json_put_int(json, "spill_bytes", resources->spill_store_bytes);
		json_push(list, json);
	}
	return list;
}

static enum status compile_all(struct export_kernel *kernel, const struct export_image *image,
	struct compiler *compiler, struct error *err)
{
	/* the sheet says "sm_90a" */
	char *arch =
		string_format("%s%s", image->arch_prefix, kernel->device->arch + strlen("sm_"));
	struct kernel_store *store = kernel_store_new(compiler, arch);
	enum status status = STATUS_OK;

	/* PTX has no registers: ptxas assigns them */
	if (strcmp(image->arch_prefix, "sm_") == 0)
		kernel->resources = json_new_array();
	for (size_t i = 0; i < kernel->build.unit_count && status == STATUS_OK; i++) {
		const struct compile_result *compiled;

		status = kernel_store_wait(store, &kernel->build.units[i], &compiled, err);
		if (status != STATUS_OK)
			break;
		text_append_bytes(&kernel->images[i], compiled->cubin.data, compiled->cubin.length);
		if (kernel->resources)
			json_push(kernel->resources, entries_json(compiled));
	}
	kernel_store_free(store);
	free(arch);
	return status;
}

enum status export_kernel_make(struct export_kernel *kernel, const struct export_image *image,
	struct compiler *compiler, struct error *err)
{
	kernel->images = memory_zeroed(kernel->build.unit_count + 1, sizeof(*kernel->images));
	if (image->arch_prefix)
		return compile_all(kernel, image, compiler, err);
	for (size_t i = 0; i < kernel->build.unit_count; i++)
		specialise(&kernel->build.units[i], &kernel->images[i]);
	return STATUS_OK;
}

struct json *export_kernel_json(const struct export_kernel *kernel,
	const struct export_image *image, const struct compiler *compiler, char *const *files)
{
	const struct bound_family *bound = kernel->candidate.bound;
	struct named_values problem = problem_named_values(kernel->problem);
	struct named_values configuration =
		configuration_named_values(bound, kernel->candidate.choices);
	const struct kernel_description description = {.kind = image->name,
		.operation = operation_name(kernel->problem->operation),
		.problem = &problem,
		.family = family_name(bound->family),
		.configuration = &configuration,
		.arch = kernel->device->arch,
		.compiler = compiler ? compiler_identity(compiler) : NULL,
		.build = &kernel->build,
		.plan = &kernel->plan,
		.files = files,
		.resources = kernel->resources};
	struct json *json = kernel_to_json(&description);

	named_values_release(&problem);
	named_values_release(&configuration);
	return json;
}

void export_kernel_release(struct export_kernel *kernel)
{
	for (size_t i = 0; kernel->images && i < kernel->build.unit_count; i++)
		text_release(&kernel->images[i]);
	free(kernel->images);
	json_free(kernel->resources);
	plan_release(&kernel->plan);
	build_release(&kernel->build);
	candidate_release(&kernel->candidate);
	problem_free(kernel->problem);
	*kernel = (struct export_kernel){0};
}
