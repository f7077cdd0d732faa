/* SPDX-License-Identifier: MIT */
#include "format/run.h"

#include <ctype.h>
#include <math.h>

#include "base/file.h"
#include "record/record_write.h"

static bool is_arch(const char *text)
{
	size_t digits;

	if (!string_starts_with(text, "sm_"))
		return false;
	digits = strspn(text + 3, "0123456789");
	text += 3 + digits;
	return digits && (!*text || (islower((unsigned char)*text) && !text[1]));
}

static const struct record_rule arch_rule = {
	.expected = "an architecture like \"sm_90a\"", .accepts = is_arch};

bool name_is_file(const char *text)
{
	return *text && *text != '.' && !strchr(text, '/');
}

static const struct record_rule sheet_rule = {
	.expected = "a sheet's name like \"h200-sxm\"", .accepts = name_is_file};

#define OPTIONAL_TEXT RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT
#define SIZE(field)                                                                                \
	RECORD_VALUE(struct gpu_model, field, #field, .flags = RECORD_OPTIONAL, .absent = -1,      \
		.low = 0, .high = INFINITY)
static const struct record_member gpu_model_members[] = {
	RECORD_VALUE(struct gpu_model, name, "name"),
	RECORD_VALUE(struct gpu_model, sheet, "sheet", .flags = OPTIONAL_TEXT, .rule = &sheet_rule),
	RECORD_VALUE(struct gpu_model, compute_capability, "compute_capability", .low = 0,
		.high = INT32_MAX),
	RECORD_VALUE(struct gpu_model, arch, "arch", .flags = RECORD_OPTIONAL, .rule = &arch_rule),
	RECORD_VALUE(struct gpu_model, sm_count, "sm_count", .low = 0, .high = INT32_MAX),
	SIZE(l2_bytes),
	SIZE(dram_bytes),
	SIZE(smem_per_sm_bytes),
	SIZE(smem_per_block_bytes),
	SIZE(regs_per_sm),
};
#undef SIZE
RECORD_DEFINE(
	struct gpu_model, gpu_model_record, gpu_model_members, .name = "device", .open = true);

struct gpu_model gpu_model_of(const struct device_spec *spec, const char *name)
{
	return (struct gpu_model){.name = string_copy(name),
		.sheet = spec->from_sheet ? string_copy(spec->name) : NULL,
		.compute_capability = spec->compute_capability,
		.sm_count = spec->sm_count,
		.arch = *spec->arch ? string_copy(spec->arch) : NULL,
		.l2_bytes = spec->l2_bytes,
		.dram_bytes = spec->dram_bytes,
		.smem_per_sm_bytes = spec->smem_per_sm_bytes,
		.smem_per_block_bytes = spec->smem_per_block_bytes,
		.regs_per_sm = spec->regs_per_sm};
}

enum status gpu_model_spec(const struct gpu_model *model, const char *const *config_folders,
	struct device_spec **spec, struct error *err)
{
	struct device_facts facts = {.compute_capability = (int)model->compute_capability,
		.sm_count = model->sm_count,
		.l2_bytes = model->l2_bytes,
		.dram_bytes = model->dram_bytes,
		.smem_per_sm_bytes = model->smem_per_sm_bytes,
		.smem_per_block_bytes = model->smem_per_block_bytes,
		.regs_per_sm = model->regs_per_sm};

	if (model->sheet)
		return device_spec_load(model->sheet, config_folders, spec, err);
	string_put(facts.name, sizeof(facts.name), model->name);
	return device_spec_match(&facts, config_folders, spec, err);
}

struct json *gpu_model_json(const struct device_spec *spec, const char *name)
{
	CLEANUP(gpu_model_release) struct gpu_model model = gpu_model_of(spec, name);
	struct json *json = record_to_json(&gpu_model_record, &model);

	return json;
}

RECORD_RELEASE(gpu_model_release, gpu_model_record);

bool gpu_model_same(const struct gpu_model *a, const struct gpu_model *b)
{
	const bool same_sheet = a->sheet && b->sheet && strcmp(a->sheet, b->sheet) == 0;

	return (same_sheet || strcmp(a->name, b->name) == 0) &&
	       a->compute_capability == b->compute_capability && a->sm_count == b->sm_count;
}

static bool is_device_kind(const char *text)
{
	static const char *const kinds[] = {"cuda", "model", "replay", "program", NULL};

	return name_find(text, kinds) >= 0;
}

const struct record_rule device_kind_rule = {
	.expected = "\"cuda\", \"model\", \"replay\" or \"program\"", .accepts = is_device_kind};
static const struct record_rule id_rule = {.expected = "an id"};

static const struct record_member program_members[] = {
	RECORD_VALUE(struct run_program, version, "version"),
	RECORD_VALUE(struct run_program, commit, "commit", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(
	struct run_program, program_record, program_members, .name = "program", .open = true);

#define CLOCK(field)                                                                               \
	RECORD_VALUE(struct run_clocks, field, #field, .flags = RECORD_OPTIONAL, .absent = NAN,    \
		.low = 0, .high = INFINITY)
static const struct record_member clocks_members[] = {
	CLOCK(sm_mhz),
	CLOCK(sm_max_mhz),
	CLOCK(memory_mhz),
};
#undef CLOCK
static RECORD_DEFINE(
	struct run_clocks, clocks_record, clocks_members, .name = "clocks", .open = true);

#define RUN_MEMBERS                                                                                \
	RECORD_VALUE(struct run, id, "id", .rule = &id_rule),                                      \
		RECORD_VALUE(struct run, date, "date"),                                            \
		RECORD_VALUE(struct run, command, "command", .flags = RECORD_OPTIONAL),            \
		RECORD_NESTED(struct run, program, program_record, "tiletune"),                    \
		RECORD_VALUE(struct run, driver, "driver", .flags = OPTIONAL_TEXT),                \
		RECORD_VALUE(struct run, nvrtc, "nvrtc", .flags = OPTIONAL_TEXT),                  \
		RECORD_VALUE(struct run, uuid, "uuid", .flags = OPTIONAL_TEXT),                    \
		RECORD_POINTER(                                                                    \
			struct run, clocks, clocks_record, "clocks", .flags = RECORD_OPTIONAL),    \
		RECORD_VALUE(struct run, power_limit_w, "power_limit_w",                           \
			.flags = RECORD_OPTIONAL | RECORD_KEPT, .low = 0, .high = INFINITY),       \
		RECORD_VALUE(struct run, mig, "mig", .flags = OPTIONAL_TEXT),                      \
		RECORD_VALUE(struct run, anchor_us, "anchor_us",                                   \
			.flags = RECORD_OPTIONAL | RECORD_KEPT, .low = 0, .high = INFINITY)
static const struct record_member run_members[] = {
	RUN_MEMBERS,
	RECORD_VALUE(struct run, device_kind, "device", .flags = RECORD_OPTIONAL,
		.rule = &device_kind_rule),
};
static const struct record_member run_line_members[] = {RUN_MEMBERS};
#undef RUN_MEMBERS
RECORD_DEFINE(struct run, run_record, run_members, .name = "run", .open = true);
RECORD_DEFINE(struct run, run_line_record, run_line_members, .name = "run_line");

RECORD_RELEASE(run_release, run_record);
