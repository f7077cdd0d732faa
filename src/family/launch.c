/* SPDX-License-Identifier: MIT */
#include "family/launch.h"

#include <string.h>

#include "base/memory.h"
#include "family/family.h"

/* ---- steps: an expression, or {"mean", "max"} ---- */
static const struct record_member steps_members[] = {
	EXPRESSION(struct model, steps_mean, "mean"),
	EXPRESSION(struct model, steps_max, "max"),
};
static RECORD_DEFINE(struct model, steps_record, steps_members, .name = "steps");

EXPRESSION_OR(steps_custom, steps_record, struct model, steps_mean, reading->names);

/* ---- a schedule's bare name, or an expression that gives one ---- */
static enum status schedule_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct reading *reading = context;
	const char *text;

	TRY(json_get_string(at, &text, err));
	return name_find(text, schedule_names) >= 0
		       ? expression_word_compile(at, text, field, err)
		       : expression_json_compile(at, reading->names, field, err);
}

static const struct record_custom schedule_custom = {
	schedule_read, NULL, expression_member_release};

/* ---- shared memory, tiles ---- */
EXPRESSION_CUSTOM(static, lane_expression, reading_names(reading, SCOPE_SMEM));

static const char *const kind_names[] = {"read", "write", NULL};
static const struct record_member access_members[] = {
	RECORD_VALUE(struct model_access, name, "name"),
	RECORD_ENUM(struct model_access, is_write, kind_names, "kind"),
	EXPRESSION(struct model_access, width_bytes, "width_bytes"),
	RECORD_CUSTOM(struct model_access, address, &lane_expression, "address"),
	EXPRESSION(struct model_access, bytes, "bytes"),
	EXPRESSION_OPTIONAL(struct model_access, when, "when"),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(struct model_access, access_record, access_members, .name = "smem_access");

static enum status tile_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct operation *operation = ((const struct reading *)context)->operation;
	struct model_tile *tile = value;

	if (tile->tensor >= operation->tensor_count)
		return json_error_of(at, "tensor", err, "a tensor of the operation");
	tile->is_output = operation->tensors[tile->tensor].role != BUFFER_INPUT;
	return STATUS_OK;
}

static const struct record_member tile_members[] = {
	RECORD_CUSTOM(struct model_tile, tensor, &buffer_member, "tensor"),
	EXPRESSION(struct model_tile, rows, "rows"),
	EXPRESSION(struct model_tile, columns, "cols"),
	EXPRESSION_OPTIONAL(struct model_tile, row_offset, "row_offset"),
	EXPRESSION_OPTIONAL(struct model_tile, when, "when"),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(
	struct model_tile, tile_record, tile_members, .name = "tile", .check = tile_check);

/* ---- models ---- */
static enum status model_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct model *model = value;
	struct json_at dtype, units;
	struct value number;
	double count;

	if (model->units && expression_constant(model->units, &number) &&
		value_as_real(number, &count) && !(count > 0) && json_find(at, "units", &units))
		return json_error(&units, err, "a number above 0");
	return json_find(at, "dtype", &dtype) ? STATUS_OK
					      : dtype_default(context, &model->dtype, err);
}

#define AMOUNT(field) EXPRESSION_OPTIONAL(struct model, field, #field)
#define AMOUNTS(field)                                                                             \
	RECORD_NAMED_CUSTOM(struct model, field.pipe, pipe_names, &expression_member, #field,      \
		.flags = RECORD_OPTIONAL)
static const struct record_member model_members[] = {
	AMOUNT(units),
	AMOUNT(useful_fraction),
	AMOUNT(stages),
	AMOUNT(epilogue_overlap),
	AMOUNT(dram_read_bytes),
	AMOUNT(dram_write_bytes),
	RECORD_DERIVED(struct model, &steps_custom, "steps", .flags = RECORD_OPTIONAL),
	EXPRESSION(struct model, steps_mean, "", .flags = RECORD_NOT_JSON),
	EXPRESSION(struct model, steps_max, "", .flags = RECORD_NOT_JSON),
	RECORD_CUSTOM(
		struct model, schedule, &schedule_custom, "schedule", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct model, dtype, &dtype_member, "dtype", .flags = RECORD_OPTIONAL),
	AMOUNTS(per_step),
	AMOUNTS(prologue),
	AMOUNTS(epilogue),
	RECORD_RECORDS(struct model, accesses, access_count, access_record, "smem_accesses",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(
		struct model, tiles, tile_count, tile_record, "tiles", .flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help"),
};
#undef AMOUNT
#undef AMOUNTS
static RECORD_DEFINE(
	struct model, model_record, model_members, .name = "model", .check = model_check);

/* ---- launches ---- */
/* The index of the launch's source among the family's; added if it is new. */
static enum status source_find(
	struct launch *launch, const struct json_at *at, struct family *family, struct error *err)
{
	const char *name = launch->source_file ? launch->source_file : family->source;

	if (!name)
		return json_error(at, err, "a member \"source\" here or in the family");
	while (launch->source < family->source_count &&
		strcmp(family->sources[launch->source].name, name) != 0)
		launch->source++;
	if (launch->source < family->source_count)
		return STATUS_OK;
	family->sources =
		memory_resize(family->sources, family->source_count + 1, sizeof(*family->sources));
	family->sources[family->source_count++] = (struct family_source){.name = string_copy(name)};
	return STATUS_OK;
}

/* Whether a name is neither a -D nor the device's: one cubin sees many values of it. */
static bool name_varies(const struct family *family, size_t index)
{
	const struct scope *scope = &family->scope;

	if (index < scope->device_at)
		return !family->operation->keys[index].is_constant;
	return index >= scope->parameter_at && index < scope->constant_at &&
	       family->parameters[index - scope->parameter_at].is_argument;
}

static enum status launch_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct family *family = ((const struct reading *)context)->family;
	struct launch *launch = value;
	size_t count = 0;
	const int *indices = launch->when ? expression_indices(launch->when, &count) : NULL;

	if (!launch->has_model)
		TRY(dtype_default(context, &launch->model.dtype, err));
	for (size_t i = 0; i < count; i++)
		launch->always_built |= name_varies(family, (size_t)indices[i]);
	return source_find(launch, at, family, err);
}

#define THREE(field, ...)                                                                          \
	RECORD_CUSTOMS(struct launch, field.items, field.count, &expression_member, #field,        \
		.count_min = 1, .count_max = 3, ##__VA_ARGS__)
static const struct record_member launch_members[] = {
	RECORD_CUSTOM(struct launch, entry, &entry_member, "entry"),
	RECORD_VALUE(struct launch, source_file, "source", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct launch, when, "when"),
	THREE(grid),
	THREE(block),
	THREE(cluster, .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct launch, smem_bytes, "smem_bytes"),
	EXPRESSION_OPTIONAL(struct launch, repeat, "repeat"),
	EXPRESSION_OPTIONAL(struct launch, regs_estimate, "regs_estimate"),
	RECORD_CUSTOMS(struct launch, arguments.items, arguments.count, &argument_member, "args"),
	RECORD_NESTED(struct launch, model, model_record, "model", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct launch, has_model)),
	RECORD_COMMENT("help"),
};
#undef THREE
RECORD_DEFINE(
	struct launch, launch_record, launch_members, .name = "launch", .check = launch_check);

RECORD_RELEASE(launch_release, launch_record);
