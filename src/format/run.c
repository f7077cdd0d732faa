/* SPDX-License-Identifier: MIT */
#include "format/run.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "base/text.h"

/* ---- the GPU model ---- */
static bool is_arch(const char *text)
{
	size_t digits;

	if (!string_starts_with(text, "sm_"))
		return false;
	digits = strspn(text + 3, "0123456789");
	text += 3 + digits;
	return digits && (!*text || (islower((unsigned char)*text) && !text[1]));
}

static const struct record_rule arch_rule = {.expected = "an architecture like \"sm_90a\"",
	.pattern = "^sm_[0-9]+[a-z]?$",
	.accepts = is_arch};

#define OPTIONAL_TEXT RECORD_OPTIONAL | RECORD_NULLABLE | RECORD_KEPT
#define SIZE(field, help)                                                                          \
	RECORD_VALUE(struct gpu_model, field, #field, help, .flags = RECORD_OPTIONAL,              \
		.absent = -1, .low = 0, .high = INFINITY)
static const struct record_member gpu_model_members[] = {
	RECORD_VALUE(struct gpu_model, name, "name", "the driver's, or the sheet's title"),
	RECORD_VALUE(struct gpu_model, sheet, "sheet", "of configs/devices, or null",
		.flags = OPTIONAL_TEXT),
	RECORD_VALUE(struct gpu_model, compute_capability, "compute_capability", "90 is 9.0",
		.low = 10, .high = INT32_MAX),
	RECORD_VALUE(struct gpu_model, arch, "arch", "what kernels are compiled for",
		.flags = RECORD_OPTIONAL, .rule = &arch_rule),
	RECORD_VALUE(struct gpu_model, sm_count, "sm_count", "streaming multiprocessors", .low = 1,
		.high = INT32_MAX),
	SIZE(l2_bytes, "L2 cache"),
	SIZE(dram_bytes, "memory"),
	SIZE(smem_per_sm_bytes, "shared memory of an SM"),
	SIZE(smem_per_block_bytes, "the most that a block may have of it"),
	SIZE(regs_per_sm, "registers of an SM"),
	RECORD_UNKNOWN(struct gpu_model, unknown),
};
#undef SIZE
RECORD_DEFINE(struct gpu_model, gpu_model_record, gpu_model_members, .name = "device");

struct gpu_model gpu_model_of(const struct device_spec *spec, const char *name)
{
	return (struct gpu_model){.name = string_copy(name),
		.sheet = spec->from_sheet ? string_copy(spec->name) : NULL,
		.compute_capability = spec->compute_capability,
		.sm_count = spec->sm_count,
		.arch = string_copy(spec->arch),
		.l2_bytes = spec->l2_bytes,
		.dram_bytes = spec->dram_bytes,
		.smem_per_sm_bytes = spec->smem_per_sm_bytes,
		.smem_per_block_bytes = spec->smem_per_block_bytes,
		.regs_per_sm = spec->regs_per_sm};
}

struct json *gpu_model_json(const struct device_spec *spec, const char *name)
{
	CLEANUP(gpu_model_release) struct gpu_model model = gpu_model_of(spec, name);
	struct json *json = record_to_json(&gpu_model_record, &model);

	return json;
}

void gpu_model_release(struct gpu_model *model)
{
	record_release(&gpu_model_record, model);
}

bool gpu_model_same(const struct gpu_model *a, const struct gpu_model *b)
{
	const bool same_sheet = a->sheet && b->sheet && strcmp(a->sheet, b->sheet) == 0;

	return (same_sheet || strcmp(a->name, b->name) == 0) &&
	       a->compute_capability == b->compute_capability && a->sm_count == b->sm_count;
}

char *gpu_model_path(const char *folder, const struct gpu_model *model)
{
	CLEANUP(text_release) struct text name = {0};

	for (const char *at = model->sheet ? model->sheet : model->name; *at; at++) {
		const bool plain = isalnum((unsigned char)*at);

		if (plain || (name.length && name.data[name.length - 1] != '-'))
			text_append_char(&name, plain ? (char)tolower((unsigned char)*at) : '-');
	}
	text_appendf(&name, "%s%" PRId64 ".json",
		name.length && name.data[name.length - 1] == '-' ? "" : "-", model->sm_count);
	return path_join(folder, text_string(&name));
}

/* ---- the run ---- */
static bool is_device_kind(const char *text)
{
	static const char *const kinds[] = {"cuda", "model", "replay", NULL};

	return name_find(text, kinds) >= 0;
}

const struct record_rule device_kind_rule = {.expected = "\"cuda\", \"model\" or \"replay\"",
	.pattern = "^(cuda|model|replay)$",
	.accepts = is_device_kind};
static const struct record_rule id_rule = {.expected = "an id"};

static const struct record_member program_members[] = {
	RECORD_VALUE(struct run_program, version, "version", "of tiletune"),
	RECORD_VALUE(
		struct run_program, commit, "commit", "of its sources", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(
	struct run_program, program_record, program_members, .name = "program", .open = true);

#define CLOCK(field, help)                                                                         \
	RECORD_VALUE(struct run_clocks, field, #field, help, .flags = RECORD_OPTIONAL,             \
		.absent = NAN, .low = 0, .high = INFINITY)
static const struct record_member clocks_members[] = {
	CLOCK(sm_mhz, "of the SMs when the run began"),
	CLOCK(sm_max_mhz, "the most that the card allows"),
	CLOCK(memory_mhz, "of the memory"),
	RECORD_UNKNOWN(struct run_clocks, unknown),
};
#undef CLOCK
static RECORD_DEFINE(struct run_clocks, clocks_record, clocks_members, .name = "clocks");

/* In a journal's line "device" is the GPU model, here it is how that was reached. */
#define RUN_MEMBERS                                                                                \
	RECORD_VALUE(struct run, id, "id", "of the run", .rule = &id_rule),                        \
		RECORD_VALUE(struct run, date, "date", "when it began, UTC"),                      \
		RECORD_VALUE(struct run, command, "command", "as it was given",                    \
			.flags = RECORD_OPTIONAL),                                                 \
		RECORD_NESTED(struct run, program, program_record, "tiletune", "what ran"),        \
		RECORD_VALUE(struct run, driver, "driver", "version", .flags = OPTIONAL_TEXT),     \
		RECORD_VALUE(struct run, nvrtc, "nvrtc", "the compiler", .flags = OPTIONAL_TEXT),  \
		RECORD_VALUE(struct run, uuid, "uuid", "of the card", .flags = OPTIONAL_TEXT),     \
		RECORD_POINTER(struct run, clocks, clocks_record, "clocks", "MHz",                 \
			.flags = RECORD_OPTIONAL),                                                 \
		RECORD_VALUE(struct run, power_limit_w, "power_limit_w", "0: not known",           \
			.flags = RECORD_OPTIONAL | RECORD_KEPT, .low = 0, .high = INFINITY),       \
		RECORD_VALUE(                                                                      \
			struct run, mig, "mig", "which part of the card", .flags = OPTIONAL_TEXT), \
		RECORD_VALUE(struct run, anchor_us, "anchor_us",                                   \
			"the anchor kernel's time, by which runs are compared; 0: not timed",      \
			.flags = RECORD_OPTIONAL | RECORD_KEPT, .low = 0, .high = INFINITY)
static const struct record_member run_members[] = {
	RUN_MEMBERS,
	RECORD_VALUE(struct run, device_kind, "device", "how the GPU was reached",
		.flags = RECORD_OPTIONAL, .rule = &device_kind_rule),
	RECORD_UNKNOWN(struct run, unknown),
};
static const struct record_member run_line_members[] = {RUN_MEMBERS};
#undef RUN_MEMBERS
RECORD_DEFINE(struct run, run_record, run_members, .name = "run");
RECORD_DEFINE(struct run, run_line_record, run_line_members, .name = "run_line");

void run_release(struct run *run)
{
	record_release(&run_record, run);
}
