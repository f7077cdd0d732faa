/* SPDX-License-Identifier: MIT */
#include "family/launch.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

struct computed *launch_computed(const struct launch *launch, const void *member)
{
	return computed_find(
		&launch->computed, (size_t)((const char *)member - (const char *)&launch->work));
}

char *launch_text(const struct launch *launch, const void *member)
{
	const struct computed *computed = launch_computed(launch, member);
	uint32_t number;

	if (computed)
		return string_copy(expression_text(computed->expression));
	memcpy(&number, member, sizeof(number));
	return string_format("%" PRIu32, number);
}

enum {
	REPEAT_MAX = 1 << 20,
	REGS_UNKNOWN = 32, /* low enough that register limits never exclude a kernel */
};

#define AMOUNT_RANGE COMPUTED, .low = 0, .high = INFINITY, .expected = "an amount of at least 0"

static const struct record_member steps_members[] = {
	RECORD_VALUE(struct launch_work, steps_mean, "mean", .absent = 1, AMOUNT_RANGE),
	RECORD_VALUE(struct launch_work, steps_max, "max", .absent = NAN, AMOUNT_RANGE),
};
static RECORD_DEFINE(
	struct launch_work, steps_record, steps_members, .name = "steps", .short_form = "mean");

static const char *const access_names[] = {"read", "write", NULL};
static const struct record_member access_members[] = {
	RECORD_VALUE(struct work_smem_access, name, "name"),
	RECORD_ENUM(struct work_smem_access, is_write, access_names, "kind"),
	RECORD_VALUE(struct work_smem_access, when, "when", .flags = RECORD_OPTIONAL, .absent = 1,
		COMPUTED),
	RECORD_VALUE(struct work_smem_access, width_bytes, "width_bytes", .low = 1, .high = 16,
		COMPUTED),
	RECORD_VALUE(struct work_smem_access, bytes_per_step, "bytes", AMOUNT_RANGE),
	RECORD_VALUE(struct work_smem_access, address[0], "address", .computed = 1 + SCOPE_SMEM),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(struct work_smem_access, access_record, access_members, .name = "smem_access");

static enum status tile_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct operation *operation = ((const struct expression_reading *)context)->operation;
	struct work_tile *tile = value;

	if (tile->tensor >= operation->tensor_count)
		return json_error_of(at, "tensor", err, "a tensor of the operation");
	tile->is_output = operation->tensors[tile->tensor].buffer.role != BUFFER_INPUT;
	return STATUS_OK;
}

static const struct record_member tile_members[] = {
	RECORD_CUSTOM(struct work_tile, tensor, &buffer_member, "tensor"),
	RECORD_VALUE(
		struct work_tile, when, "when", .flags = RECORD_OPTIONAL, .absent = 1, COMPUTED),
	RECORD_VALUE(struct work_tile, rows, "rows", COMPUTED),
	RECORD_VALUE(struct work_tile, row_bytes, "cols", COMPUTED),
	RECORD_VALUE(struct work_tile, row_offset_bytes, "row_offset", .flags = RECORD_OPTIONAL,
		COMPUTED),
	RECORD_COMMENT("help"),
};
static RECORD_DEFINE(
	struct work_tile, tile_record, tile_members, .name = "tile", .check = tile_check);

static enum status model_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct launch_work *work = value;
	struct launch *launch = (struct launch *)((char *)value - offsetof(struct launch, work));
	const struct computed *units = launch_computed(launch, &work->units);
	struct json_at member;
	struct value number;
	double count = work->units;

	if (units && (!expression_constant(units->expression, &number) ||
			     !value_as_real(number, &count)))
		count = 1;
	if (!(count > 0) && json_find(at, "units", &member))
		return json_error(&member, err, "a number above 0");
	return json_find(at, "dtype", &member)
		       ? STATUS_OK
		       : dtype_default(context, &launch->computed, COMPUTED_DIRECT,
				 offsetof(struct launch_work, dtype), err);
}

#define AMOUNT(field, key, otherwise)                                                              \
	RECORD_VALUE(struct launch_work, field, key, .flags = RECORD_OPTIONAL,                     \
		.absent = (otherwise), AMOUNT_RANGE)
#define AMOUNTS(field)                                                                             \
	RECORD_NAMED(struct launch_work, field, pipe_names, #field, .flags = RECORD_OPTIONAL,      \
		AMOUNT_RANGE)
static const struct record_member model_members[] = {
	AMOUNT(units, "units", NAN),
	AMOUNT(useful_ratio, "useful_fraction", 1),
	AMOUNT(stages, "stages", 1),
	AMOUNT(epilogue_overlap_ratio, "epilogue_overlap", 0),
	AMOUNT(dram_read_bytes, "dram_read_bytes", 0),
	AMOUNT(dram_write_bytes, "dram_write_bytes", 0),
	{.name = "steps",
		.kind = RECORD_KIND_RECORD,
		.record = &steps_record,
		.size = sizeof(struct launch_work),
		.flags = RECORD_OPTIONAL},
	RECORD_ENUM(struct launch_work, schedule, schedule_names, "schedule",
		.flags = RECORD_OPTIONAL, .expected = "'grid', 'persistent' or 'stream_k'",
		COMPUTED),
	RECORD_ENUM(struct launch_work, dtype, dtype_names, "dtype", .flags = RECORD_OPTIONAL,
		.expected = "an element type", COMPUTED),
	AMOUNTS(per_step),
	AMOUNTS(prologue),
	AMOUNTS(epilogue),
	RECORD_RECORDS(struct launch_work, smem_accesses, smem_access_count, access_record,
		"smem_accesses", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct launch_work, tiles, tile_count, tile_record, "tiles",
		.flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help"),
};
#undef AMOUNT
#undef AMOUNTS
static RECORD_DEFINE(
	struct launch_work, model_record, model_members, .name = "model", .check = model_check);

/* Finds the source of the launch in the family, and adds the source if it is new. */
static enum status source_find(
	struct launch *launch, const struct json_at *at, struct family *family, struct error *err)
{
	const char *name = launch->source_file ? launch->source_file : family->source;

	if (!name)
		return json_invalid(at, err, "\"source\" is missing, here and in the family");
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

/* Returns whether different values of the name share a cubin, because the name is neither a -D nor
 * a device name. */
static bool name_varies(const struct family *family, size_t index)
{
	const struct scope *scope = &family->scope;

	if (index < scope->device_at)
		return !family->operation->keys[index].is_constant;
	return index >= scope->parameter_at && index < scope->constant_at &&
	       family->parameters[index - scope->parameter_at].is_argument;
}

void launch_find_built(struct launch *launch, const struct family *family)
{
	size_t count = 0;
	const int *indices = launch->when ? expression_indices(launch->when, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		launch->always_built |= name_varies(family, (size_t)indices[i]);
}

const uint32_t launch_grid_max[3] = {INT32_MAX, 65535, 65535};
static const uint32_t block_max[3] = {1024, 1024, 64};

/* Checks the dimensions of a grid, block or cluster. Omitted dimensions are 1. */
static enum status dimensions_check(struct launch *launch, const struct json_at *at,
	uint32_t *dimensions, size_t count, const uint32_t most[3], const char *name,
	struct error *err)
{
	struct json_at list, item;

	for (size_t i = 0; i < 3; i++) {
		struct computed *computed = launch_computed(launch, &dimensions[i]);

		if (i >= count)
			dimensions[i] = 1;
		else if (computed)
			computed->high = most[i];
		else if (dimensions[i] > most[i] && json_find(at, name, &list)) {
			item = json_item(&list, i);
			return json_error(&item, err, "a number from 1 to %" PRIu32, most[i]);
		}
	}
	return STATUS_OK;
}

static enum status shape_check(struct launch *launch, const struct json_at *at, struct error *err)
{
	static const uint32_t cluster_max[3] = {
		CLUSTER_BLOCKS_MAX, CLUSTER_BLOCKS_MAX, CLUSTER_BLOCKS_MAX};
	struct launch_shape *shape = &launch->work.shape;
	const struct computed_list *computed = &launch->computed;

	TRY(dimensions_check(
		launch, at, shape->grid, launch->grid_count, launch_grid_max, "grid", err));
	TRY(dimensions_check(
		launch, at, shape->block, launch->block_count, block_max, "block", err));
	TRY(dimensions_check(
		launch, at, shape->cluster, launch->cluster_count, cluster_max, "cluster", err));
	while (launch->shape_count < computed->count &&
		computed->items[launch->shape_count].list == COMPUTED_DIRECT &&
		computed->items[launch->shape_count].offset < sizeof(*shape))
		launch->shape_count++;
	return STATUS_OK;
}

static enum status launch_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct family *family = ((const struct expression_reading *)context)->family;
	struct launch *launch = value;

	if (!launch->work.has_model)
		TRY(dtype_default(context, &launch->computed, COMPUTED_DIRECT,
			offsetof(struct launch_work, dtype), err));
	TRY(shape_check(launch, at, err));
	launch_find_built(launch, family);
	return source_find(launch, at, family, err);
}

#define THREE(field, most, ...)                                                                    \
	RECORD_ARRAY_COUNTED(struct launch, work.shape.field, field##_count, #field, .low = 1,     \
		.high = (most), .count_min = 1, COMPUTED, ##__VA_ARGS__)
static const struct record_member launch_members[] = {
	RECORD_CUSTOM(struct launch, entry, &entry_member, "entry"),
	RECORD_VALUE(struct launch, source_file, "source", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct launch, when, "when"),
	THREE(grid, INT32_MAX),
	THREE(block, 1024),
	THREE(cluster, CLUSTER_BLOCKS_MAX, .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct launch, work.shape.smem_dynamic_bytes, "smem_bytes",
		.flags = RECORD_OPTIONAL, COMPUTED),
	RECORD_VALUE(struct launch, work.shape.repeat, "repeat", .flags = RECORD_OPTIONAL,
		.absent = 1, .low = 1, .high = REPEAT_MAX, COMPUTED),
	RECORD_VALUE(
		struct launch, work.shape.cooperative, "cooperative", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct launch, work.regs_estimate, "regs_estimate", .flags = RECORD_OPTIONAL,
		.absent = REGS_UNKNOWN, COMPUTED),
	RECORD_CUSTOM(struct launch, arguments, &argument_list_member, "args"),
	RECORD_NESTED(struct launch, work, model_record, "model", .flags = RECORD_OPTIONAL,
		.present = RECORD_PRESENT(struct launch, work.has_model)),
	RECORD_CUSTOM(struct launch, computed, &computed_list_member, "", .flags = RECORD_NOT_JSON),
	RECORD_COMMENT("help"),
};
#undef THREE
RECORD_DEFINE(
	struct launch, launch_record, launch_members, .name = "launch", .check = launch_check);
