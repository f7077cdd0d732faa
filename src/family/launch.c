/* SPDX-License-Identifier: MIT */
#include "family/launch.h"

#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

/* ---- steps: an expression, or {"mean", "max"} ---- */
static const struct record_member steps_members[] = {
	EXPRESSION(struct model, steps_mean, "mean", ""),
	EXPRESSION(struct model, steps_max, "max", ""),
};
static RECORD_DEFINE(struct model, steps_record, steps_members, .name = "steps");

EXPRESSION_OR(steps_custom, steps_record, struct model, steps_mean, reading->names);

/* ---- a schedule's bare name, or an expression that gives one ---- */
static enum status schedule_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	const struct reading *reading = context;
	struct model *model = field;
	const char *text;
	int found;

	TRY(json_get_string(at, &text, err));
	found = name_find(text, schedule_names);
	if (found < 0)
		return expression_json_compile(at, reading->names, &model->schedule_text, err);
	model->schedule = (enum schedule)found;
	return STATUS_OK;
}

static void schedule_release(void *field)
{
	struct model *model = field;

	expression_member_release(&model->schedule_text);
}

static const struct record_custom schedule_custom = {
	schedule_read, NULL, expression_schema, schedule_release};

/* ---- shared memory, tiles ---- */
EXPRESSION_CUSTOM(static, lane_expression, reading_names(reading, SCOPE_SMEM));

static const char *const kind_names[] = {"read", "write", NULL};
static const struct record_member access_members[] = {
	RECORD_VALUE(struct model_access, name, "name", "for people"),
	RECORD_ENUM(struct model_access, is_write, kind_names, "kind", ""),
	EXPRESSION(struct model_access, width_bytes, "width_bytes", "of a lane: 4, 8 or 16"),
	RECORD_CUSTOM(struct model_access, address, &lane_expression, "address",
		"bytes, over `lane` too"),
	EXPRESSION(struct model_access, bytes, "bytes", "a step, without conflicts"),
	EXPRESSION_OPTIONAL(struct model_access, when, "when", ""),
	RECORD_COMMENT("help", ""),
};
static RECORD_DEFINE(struct model_access, access_record, access_members, .name = "smem_access");

static enum status tile_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct operation *operation = ((const struct reading *)context)->operation;
	struct model_tile *tile = value;
	struct json_at tensor;

	if (tile->tensor >= operation->tensor_count) {
		json_find(at, "tensor", &tensor);
		return json_error(&tensor, err, "a tensor of the operation");
	}
	tile->is_output = operation->tensors[tile->tensor].role != BUFFER_INPUT;
	return STATUS_OK;
}

static const struct record_member tile_members[] = {
	RECORD_CUSTOM(struct model_tile, tensor, &buffer_member, "tensor", "of the operation"),
	EXPRESSION(struct model_tile, rows, "rows", ""),
	EXPRESSION(struct model_tile, columns, "cols", "elements"),
	EXPRESSION_OPTIONAL(struct model_tile, row_offset, "row_offset", "elements"),
	EXPRESSION_OPTIONAL(struct model_tile, when, "when", ""),
	RECORD_COMMENT("help", ""),
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
					      : dtype_choice_default(context, &model->dtype, err);
}

#define AMOUNT(field, meaning) EXPRESSION_OPTIONAL(struct model, field, #field, meaning)
#define AMOUNTS(field, meaning)                                                                    \
	RECORD_NAMED_CUSTOM(struct model, field.pipe, pipe_names, &expression_member, #field,      \
		meaning, .flags = RECORD_OPTIONAL)
static const struct record_member model_members[] = {
	AMOUNT(units, "independent pieces of work, whatever the grid; its blocks if left out"),
	AMOUNT(useful_fraction, "of the work, the rest is padding; 1 if left out"),
	AMOUNT(stages, "steps whose data are under way; 1 if left out"),
	AMOUNT(epilogue_overlap, "fraction of the epilogue that hides; 0 if left out"),
	AMOUNT(dram_read_bytes, "of the launch; the problem's min_bytes where no launch says any"),
	AMOUNT(dram_write_bytes, "of the launch"),
	RECORD_DERIVED(struct model, &steps_custom, "steps", "of a unit; 1 if left out",
		.flags = RECORD_OPTIONAL),
	RECORD_DERIVED(struct model, &schedule_custom, "schedule",
		"grid (if left out), persistent or stream_k, or an expression that gives one",
		.flags = RECORD_OPTIONAL),
	RECORD_CUSTOM(struct model, dtype, &dtype_member, "dtype",
		"of the tensor pipes' rate; the key dtype if left out", .flags = RECORD_OPTIONAL),
	AMOUNTS(per_step, "work of a step by pipe"),
	AMOUNTS(prologue, "work of a unit before its steps"),
	AMOUNTS(epilogue, "work of a unit after its steps"),
	RECORD_RECORDS(struct model, accesses, access_count, access_record, "smem_accesses",
		"for bank conflicts", .flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct model, tiles, tile_count, tile_record, "tiles",
		"in global memory, for lines and sectors", .flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help", ""),
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

/* Whether a slot is neither a -D nor the device's: one cubin sees many values of it. */
static bool slot_varies(const struct family *family, size_t slot)
{
	const struct scope *scope = &family->scope;

	if (slot < scope->device_at)
		return !family->operation->keys[slot].is_constant;
	return slot >= scope->parameter_at && slot < scope->constant_at &&
	       family->parameters[slot - scope->parameter_at].is_argument;
}

static enum status launch_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct family *family = ((const struct reading *)context)->family;
	struct launch *launch = value;
	size_t count = 0;
	const int *slots = launch->when ? expression_slots(launch->when, &count) : NULL;

	if (!launch->has_model)
		TRY(dtype_choice_default(context, &launch->model.dtype, err));
	for (size_t i = 0; i < count; i++)
		launch->always_built |= slot_varies(family, (size_t)slots[i]);
	return source_find(launch, at, family, err);
}

#define THREE(field, meaning, ...)                                                                 \
	RECORD_CUSTOMS(struct launch, field.items, field.count, &expression_member, #field,        \
		meaning, .count_min = 1, .count_max = 3, ##__VA_ARGS__)
static const struct record_member launch_members[] = {
	RECORD_CUSTOM(struct launch, entry, &entry_member, "entry",
		"name of the kernel, or a C++ name expression; {expression} stands for its value"),
	RECORD_VALUE(struct launch, source_file, "source", "the family's if left out",
		.flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct launch, when, "when", "else it is left out"),
	THREE(grid, "blocks along x, y, z; 1 where left out"),
	THREE(block, "threads along x, y, z; 1 where left out"),
	THREE(cluster, "blocks of a cluster", .flags = RECORD_OPTIONAL),
	EXPRESSION_OPTIONAL(struct launch, smem_bytes, "smem_bytes", "dynamic; 0 if left out"),
	EXPRESSION_OPTIONAL(struct launch, repeat, "repeat", "times in a row; 1 if left out"),
	EXPRESSION_OPTIONAL(
		struct launch, regs_estimate, "regs_estimate", "of a thread; few if left out"),
	RECORD_CUSTOMS(struct launch, arguments.items, arguments.count, &argument_member, "args",
		"tensors, workspaces, tensor maps or numbers"),
	RECORD_NESTED(struct launch, model, model_record, "model",
		"its work; if left out, the problem's flop and min_bytes over the blocks",
		.flags = RECORD_OPTIONAL, .present = RECORD_PRESENT(struct launch, has_model)),
	RECORD_COMMENT("help", ""),
};
#undef THREE
RECORD_DEFINE(
	struct launch, launch_record, launch_members, .name = "launch", .check = launch_check);

void launch_release(struct launch *launch)
{
	record_release(&launch_record, launch);
}

/* ---- shapes ---- */
enum {
	BLOCK_XY_MAX = 1024,
	BLOCK_Z_MAX = 64,
	CLUSTER_BLOCKS_MAX = 16, /* 8 is portable, 16 on request */
	REPEAT_MAX = 1 << 20,
};

const int64_t launch_grid_max[3] = {INT32_MAX, 65535, 65535};

enum status launch_is_active(
	const struct launch *launch, const struct value *values, bool *is_active, struct error *err)
{
	*is_active = true;
	return launch->when ? expression_test(launch->when, values, is_active, err) : STATUS_OK;
}

static enum status evaluate(const struct expression *expression, const struct value *values,
	int64_t least, int64_t most, uint32_t *result, struct error *err)
{
	int64_t number;

	TRY(expression_int_within(expression, values, least, most, &number, err));
	*result = (uint32_t)number;
	return STATUS_OK;
}

/* Along what is left out there is one. */
static enum status evaluate_three(const struct expression_list *list, const struct value *values,
	const int64_t most[3], uint32_t result[3], struct error *err)
{
	for (size_t i = 0; i < 3; i++) {
		result[i] = 1;
		if (i < list->count)
			TRY(evaluate(list->items[i], values, 1, most[i], &result[i], err));
	}
	return STATUS_OK;
}

static enum status evaluate_block(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	static const int64_t most[3] = {BLOCK_XY_MAX, BLOCK_XY_MAX, BLOCK_Z_MAX};
	int64_t threads = 1;

	TRY(evaluate_three(&launch->block, values, most, shape->block, err));
	for (size_t i = 0; i < 3; i++)
		threads *= shape->block[i];
	if (threads > device->max_threads_per_block)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " threads in a block, found %" PRId64,
			expression_where(launch->block.items[0]), device->max_threads_per_block,
			threads);
	return STATUS_OK;
}

static enum status evaluate_cluster(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	const int64_t most = device->compute_capability >= 90 ? CLUSTER_BLOCKS_MAX : 1;
	const int64_t most_of_each[3] = {most, most, most};
	int64_t blocks = 1;

	TRY(evaluate_three(&launch->cluster, values, most_of_each, shape->cluster, err));
	for (size_t i = 0; i < launch->cluster.count; i++) {
		blocks *= shape->cluster[i];
		if (shape->grid[i] % shape->cluster[i] != 0)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a grid of whole clusters, found %" PRIu32
				" blocks in clusters of %" PRIu32,
				expression_where(launch->cluster.items[i]), shape->grid[i],
				shape->cluster[i]);
	}
	if (blocks > most)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %" PRId64 " blocks in a cluster, found %" PRId64,
			expression_where(launch->cluster.items[0]), most, blocks);
	return STATUS_OK;
}

enum status launch_shape_evaluate(const struct launch *launch, const struct value *values,
	const struct device_spec *device, struct launch_shape *shape, struct error *err)
{
	*shape = (struct launch_shape){.repeat = 1};
	TRY(evaluate_three(&launch->grid, values, launch_grid_max, shape->grid, err));
	TRY(evaluate_block(launch, values, device, shape, err));
	TRY(evaluate_cluster(launch, values, device, shape, err));
	if (launch->smem_bytes)
		TRY(evaluate(launch->smem_bytes, values, 0, device->smem_per_block_bytes,
			&shape->smem_dynamic_bytes, err));
	if (launch->repeat)
		TRY(evaluate(launch->repeat, values, 1, REPEAT_MAX, &shape->repeat, err));
	return STATUS_OK;
}
