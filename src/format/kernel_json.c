/* SPDX-License-Identifier: MIT */
#include "format/kernel_json.h"

#include "base/file.h"
#include "format/result.h"
#include "format/run.h"
#include "record/record_write.h"

#define AMOUNT(field) RECORD_VALUE(struct kernel_usage, field, #field, .low = 0, .high = INT32_MAX)
static const struct record_member usage_members[] = {
	RECORD_VALUE(struct kernel_usage, name, "name"),
	AMOUNT(regs_per_thread),
	AMOUNT(smem_static_bytes),
	AMOUNT(spill_bytes),
};
#undef AMOUNT
static RECORD_DEFINE(
	struct kernel_usage, usage_record, usage_members, .name = "resources", .open = true);

static const struct record_rule file_rule = {
	.expected = "the name of a file in the same folder", .accepts = name_is_file};

static const struct record_member unit_members[] = {
	RECORD_VALUE(struct kernel_unit, name, "name"),
	RECORD_VALUE(struct kernel_unit, file, "file", .rule = &file_rule),
	RECORD_VALUES(struct kernel_unit, options, option_count, "options"),
	RECORD_VALUES(struct kernel_unit, entries, entry_count, "entries", .count_min = 1),
	RECORD_RECORDS(struct kernel_unit, resources, resource_count, usage_record, "resources",
		.flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct kernel_unit, unit_record, unit_members, .name = "unit", .open = true);

static const char *const kind_names[] = {"cubin", "ptx", "source", NULL};

#define STRING(field, ...) RECORD_VALUE(struct kernel_document, field, #field, ##__VA_ARGS__)
static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.kernel/1"),
	RECORD_ENUM(struct kernel_document, kind, kind_names, "kind"),
	STRING(operation),
	RECORD_NAMED_VALUES(struct kernel_document, problem, "problem"),
	STRING(family),
	RECORD_NAMED_VALUES(struct kernel_document, configuration, "configuration"),
	STRING(arch),
	STRING(compiler, .flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	RECORD_TEXT(struct kernel_document, kernel_hash, "kernel_hash", .rule = &kernel_hash_rule),
	RECORD_RECORDS(
		struct kernel_document, units, unit_count, unit_record, "units", .count_min = 1),
	RECORD_NESTED(struct kernel_document, plan, plan_record, "plan"),
};
#undef STRING

static enum status document_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct kernel_document *document = value;

	(void)context;
	for (size_t i = 0; i < document->plan.launch_count; i++)
		if (document->plan.launches[i].unit >= document->unit_count)
			return json_invalid(
				at, err, "the \"unit\" of launch %zu does not exist", i);
	return STATUS_OK;
}

RECORD_DEFINE(struct kernel_document, kernel_document_record, document_members, .name = "kernel",
	.open = true, .check = document_check);

struct kernel_unit *kernel_units(const struct build *build)
{
	struct kernel_unit *units = memory_zeroed(build->unit_count + 1, sizeof(*units));

	for (size_t i = 0; i < build->unit_count; i++)
		units[i] = (struct kernel_unit){.name = build->units[i].name,
			.options = build->units[i].options,
			.option_count = build->units[i].option_count,
			.entries = build->units[i].entries,
			.entry_count = build->units[i].entry_count};
	return units;
}

struct json *kernel_json(const char *kind, const struct candidate *candidate,
	const struct build *build, const struct plan *plan, struct kernel_unit *units,
	char *const *files, const char *arch, const char *compiler)
{
	const struct bound_family *bound = candidate->bound;
	struct kernel_document document = {.kind = name_find(kind, kind_names),
		.operation = bound->problem->operation->name,
		.problem = problem_named_values(bound->problem),
		.family = bound->family->name,
		.configuration = configuration_named_values(bound, candidate->choices),
		.arch = arch,
		.compiler = compiler,
		.units = units,
		.unit_count = build->unit_count,
		.plan = *plan};
	struct json *json;

	string_put(document.kernel_hash, HASH_SIZE, build->kernel_hash);
	for (size_t i = 0; i < build->unit_count; i++)
		units[i].file = path_name(files[i]);
	json = record_to_json(&kernel_document_record, &document);
	named_values_release(&document.problem);
	named_values_release(&document.configuration);
	return json;
}
