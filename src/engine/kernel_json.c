/* SPDX-License-Identifier: MIT */
#include "engine/kernel_json.h"

#include "format/evaluation.h"

#define AMOUNT(field, help)                                                                        \
	RECORD_VALUE(struct kernel_usage, field, #field, help, .low = 0, .high = INT32_MAX)
static const struct record_member usage_members[] = {
	RECORD_VALUE(struct kernel_usage, name, "name", "of the kernel"),
	AMOUNT(regs_per_thread, "registers of a thread"),
	AMOUNT(smem_static_bytes, "shared memory that the kernel declares, of a block"),
	AMOUNT(spill_bytes, "registers spilled to memory, of a thread"),
};
#undef AMOUNT
static RECORD_DEFINE(
	struct kernel_usage, usage_record, usage_members, .name = "resources", .open = true);

/* Only names are followed, not ways to elsewhere. */
static bool is_file_name(const char *text)
{
	return *text && *text != '.' && !strchr(text, '/');
}

static const struct record_rule file_rule = {.expected = "the name of a file beside this one",
	.pattern = "^[^/.][^/]*$",
	.accepts = is_file_name};

static const struct record_member unit_members[] = {
	RECORD_VALUE(struct kernel_unit, name, "name", "of the source"),
	RECORD_VALUE(struct kernel_unit, file, "file", "beside this one", .rule = &file_rule),
	RECORD_VALUES(struct kernel_unit, options, option_count, "options",
		"of the compiler, the -D list among them"),
	RECORD_VALUES(struct kernel_unit, entries, entry_count, "entries", "kernels of the unit",
		.count_min = 1),
	RECORD_RECORDS(struct kernel_unit, resources, resource_count, usage_record, "resources",
		"what each kernel takes", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct kernel_unit, unit_record, unit_members, .name = "unit", .open = true);

static bool is_kind(const char *text)
{
	static const char *const kinds[] = {"cubin", "ptx", "source", NULL};

	return name_find(text, kinds) >= 0;
}

static const struct record_rule kind_rule = {.expected = "\"cubin\", \"ptx\" or \"source\"",
	.pattern = "^(cubin|ptx|source)$",
	.accepts = is_kind};

#define STRING(field, help, ...)                                                                   \
	RECORD_VALUE(struct kernel_document, field, #field, help, ##__VA_ARGS__)
static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.kernel/1", "what this file is"),
	STRING(kind, "of the files", .rule = &kind_rule),
	STRING(operation, "what is computed"),
	RECORD_NAMED_VALUES(struct kernel_document, problem, "problem", "that it is for"),
	STRING(family, "of templates"),
	RECORD_NAMED_VALUES(
		struct kernel_document, configuration, "configuration", "the family's parameters"),
	STRING(arch, "that it was made for"),
	STRING(compiler, "null: not compiled",
		.flags = RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT),
	RECORD_TEXT(struct kernel_document, kernel_hash, "kernel_hash", "of sources and options",
		.rule = &kernel_hash_rule),
	RECORD_RECORDS(struct kernel_document, units, unit_count, unit_record, "units",
		"each with its file; launches name them by index", .count_min = 1),
	RECORD_NESTED(struct kernel_document, plan, plan_record, "plan", "how it is launched"),
};
#undef STRING

static enum status document_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct kernel_document *document = value;

	(void)context;
	for (size_t i = 0; i < document->plan.launch_count; i++)
		if (document->plan.launches[i].unit >= document->unit_count)
			return json_error(at, err, "launches of units that are there");
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
