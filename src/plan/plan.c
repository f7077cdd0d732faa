/* SPDX-License-Identifier: MIT */
#include "plan/plan.h"

#include <inttypes.h>

static const char *const role_names[] = {[BUFFER_INPUT] = "in",
	[BUFFER_OUTPUT] = "out",
	[BUFFER_INOUT] = "inout",
	[BUFFER_WORKSPACE] = "workspace",
	NULL};
const char *const buffer_contents_names[] = {[CONTENTS_UNIFORM] = "uniform",
	[CONTENTS_NORMAL] = "normal",
	[CONTENTS_ZERO] = "zero",
	[CONTENTS_ONE] = "one",
	[CONTENTS_IOTA] = "iota",
	[CONTENTS_PERMUTATION] = "permutation",
	[CONTENTS_OFFSETS] = "offsets",
	[CONTENTS_COUNTS] = "counts",
	[CONTENTS_EXPRESSION] = "expression",
	[CONTENTS_FILE] = "file",
	NULL};
const char *const buffer_init_names[] = {[BUFFER_INIT_NONE] = "none",
	[BUFFER_INIT_ONCE] = "once",
	[BUFFER_INIT_EACH] = "each",
	NULL};
static const char *const init_names[] = {"none", "once", "each", "given", NULL};

#define TENSOR_VALUE(field)                                                                        \
	RECORD_VALUE(struct plan_buffer, field, #field, .flags = RECORD_OPTIONAL)
static const struct record_member buffer_members[] = {
	RECORD_TEXT(struct plan_buffer, name, "name"),
	RECORD_ENUM(struct plan_buffer, role, role_names, "role"),
	RECORD_ENUM(struct plan_buffer, dtype, dtype_names, "dtype"),
	RECORD_VALUE(struct plan_buffer, bytes, "bytes"),
	RECORD_ENUM(struct plan_buffer, init, init_names, "init", .flags = RECORD_OPTIONAL,
		.absent = BUFFER_INIT_GIVEN),
	TENSOR_VALUE(rows),
	TENSOR_VALUE(columns),
	TENSOR_VALUE(ld),
	RECORD_ENUM(struct plan_buffer, contents, buffer_contents_names, "contents",
		.flags = RECORD_OPTIONAL),
	TENSOR_VALUE(fill_low),
	TENSOR_VALUE(fill_high),
};
#undef TENSOR_VALUE
RECORD_DEFINE(struct plan_buffer, plan_buffer_record, buffer_members, .name = "plan_buffer");

/* Rules of cuTensorMapEncodeTiled() in cuda.h (CUDA 13.0) for maps without interleave and element
 * strides. */
enum {
	STRIDE_ALIGNMENT = 16,
	BOX_MAX = 256,
	BOX_ALIGNMENT = 16,
};
static const uint64_t dim_max = (uint64_t)1 << 32;
static const uint64_t stride_limit = (uint64_t)1 << 40;

static enum status check_dims(const struct plan_tensor_map *map, struct error *err)
{
	for (uint32_t i = 0; i < map->rank; i++) {
		if (map->dims[i] < 1 || map->dims[i] > dim_max)
			return error_set(err, STATUS_BAD_INPUT,
				"dims[%u]: expected 1 to 2^32, found %" PRIu64, i, map->dims[i]);
		if (map->box[i] < 1 || map->box[i] > BOX_MAX)
			return error_set(err, STATUS_BAD_INPUT,
				"box[%u]: expected 1 to %d, found %u", i, BOX_MAX, map->box[i]);
	}
	return STATUS_OK;
}

static enum status check_strides(
	const struct plan_tensor_map *map, uint64_t row_bytes, struct error *err)
{
	for (uint32_t i = 0; i < map->stride_count; i++)
		if (map->strides[i] % STRIDE_ALIGNMENT != 0 || map->strides[i] >= stride_limit)
			return error_set(err, STATUS_BAD_INPUT,
				"strides[%u]: expected a multiple of %d bytes below 2^40, found "
				"%" PRIu64,
				i, STRIDE_ALIGNMENT, map->strides[i]);
	/* The driver compares only strides[0] with the size of a dimension. */
	if (map->rank > 1 && map->strides[0] < row_bytes)
		return error_set(err, STATUS_BAD_INPUT,
			"strides[0]: expected at least the %" PRIu64 " bytes of a row, found "
			"%" PRIu64,
			row_bytes, map->strides[0]);
	return STATUS_OK;
}

static enum status check_swizzle(
	const struct plan_tensor_map *map, uint64_t box_bytes, struct error *err)
{
	const uint32_t swizzle = map->swizzle_bytes, promotion = map->l2_promotion_bytes;

	if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
		return error_set(err, STATUS_BAD_INPUT,
			"swizzle: expected 0, 32, 64 or 128, found %u", swizzle);
	if (swizzle != 0 && box_bytes > swizzle)
		return error_set(err, STATUS_BAD_INPUT,
			"box[0]: expected at most the swizzle's %u bytes, found %" PRIu64, swizzle,
			box_bytes);
	if (promotion != 0 && promotion != 64 && promotion != 128 && promotion != 256)
		return error_set(err, STATUS_BAD_INPUT,
			"l2_promotion: expected 0, 64, 128 or 256, found %u", promotion);
	return STATUS_OK;
}

static enum status check_map(const struct plan_tensor_map *map, struct error *err)
{
	const uint64_t element_bytes = dtype_size(map->dtype);
	const uint64_t box_bytes = map->box[0] * element_bytes;

	if (map->rank > TENSOR_MAP_RANK_MAX)
		return error_set(err, STATUS_BAD_INPUT, "expected at most %d dimensions, found %zu",
			TENSOR_MAP_RANK_MAX, map->rank);
	TRY(check_dims(map, err));
	if (box_bytes % BOX_ALIGNMENT != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"box[0]: expected a multiple of %d bytes, found %" PRIu64, BOX_ALIGNMENT,
			box_bytes);
	TRY(check_strides(map, map->dims[0] * element_bytes, err));
	return check_swizzle(map, box_bytes, err);
}

enum status plan_tensor_map_check(const struct plan_tensor_map *map, struct error *err)
{
	if (!map->rank || check_map(map, err) == STATUS_OK)
		return STATUS_OK;
	error_context(err, "tensor map %s", map->name);
	return STATUS_BAD_INPUT;
}

static enum status tensor_map_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct plan_tensor_map *map = value;
	const size_t count = map->rank ? map->rank - 1 : 0;

	(void)context;
	if (map->stride_count != count)
		return json_error_of(at, "strides", err, "%zu elements", count);
	return plan_tensor_map_check(map, err);
}

static const struct record_member tensor_map_members[] = {
	RECORD_TEXT(struct plan_tensor_map, name, "name"),
	RECORD_VALUE(struct plan_tensor_map, buffer, "buffer"),
	RECORD_ENUM(struct plan_tensor_map, dtype, dtype_names, "dtype"),
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, dims, rank, "dims"),
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, strides, stride_count, "strides"),
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, box, rank, "box"),
	RECORD_VALUE(struct plan_tensor_map, swizzle_bytes, "swizzle_bytes"),
	RECORD_VALUE(struct plan_tensor_map, l2_promotion_bytes, "l2_promotion_bytes"),
};
RECORD_DEFINE(struct plan_tensor_map, plan_tensor_map_record, tensor_map_members,
	.name = "plan_tensor_map", .check = tensor_map_check);

#define ROW(kind, name, dtype) [kind] = (name),
const char *const argument_kind_names[] = {ARGUMENTS(ROW) NULL};
#undef ROW

/* Reads an argument such as {"buffer": 0}, {"i32": 4096} or {"units": true}. */
static enum status argument_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct plan_argument *argument = field;
	struct json_at member;
	int64_t index;
	bool flag;

	(void)context;
	TRY(json_expect_keys(at, argument_kind_names, err));
	if (json_count(at) != 1)
		return json_error(at, err, "an object with exactly one kind of argument");
	member = json_item(at, 0);
	argument->kind = (enum argument_kind)name_find(member.key, argument_kind_names);
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
	case ARGUMENT_TENSOR_MAP:
		TRY(json_get_int(&member, &index, err));
		if (index < 0 || index > UINT32_MAX)
			return json_error(&member, err, "a %s of the plan", member.key);
		argument->index = (uint32_t)index;
		return STATUS_OK;
	case ARGUMENT_UNITS:
	case ARGUMENT_UNIT_COUNT:
	case ARGUMENT_EXPECTED:
		return json_get_bool(&member, &flag, err);
	default:
		return dtype_is_float(argument_dtype(argument->kind))
			       ? json_get_double(&member, &argument->real, err)
			       : json_get_int(&member, &argument->integer, err);
	}
}

static struct json *argument_write(const void *field)
{
	const struct plan_argument *argument = field;
	struct json *object = json_new_object();
	const char *name = argument_kind_names[argument->kind];

	switch (argument->kind) {
	case ARGUMENT_BUFFER:
	case ARGUMENT_TENSOR_MAP:
		json_put_int(object, name, argument->index);
		break;
	case ARGUMENT_UNITS:
	case ARGUMENT_UNIT_COUNT:
	case ARGUMENT_EXPECTED:
		json_put_bool(object, name, true);
		break;
	default:
		if (dtype_is_float(argument_dtype(argument->kind)))
			json_put_double(object, name, argument->real);
		else
			json_put_int(object, name, argument->integer);
	}
	return object;
}

static const struct record_member argument_members[] = {
	RECORD_ENUM(struct plan_argument, kind, argument_kind_names, "kind"),
	RECORD_VALUE(struct plan_argument, index, "index"),
	RECORD_VALUE(struct plan_argument, integer, "integer"),
	RECORD_VALUE(struct plan_argument, real, "real"),
};
static RECORD_DEFINE(struct plan_argument, argument_record, argument_members, .name = "argument");

static const struct record_custom argument_custom = {argument_read, argument_write, NULL};

static const struct record_member launch_members[] = {
	RECORD_VALUE(struct plan_launch, unit, "unit"),
	RECORD_VALUE(struct plan_launch, entry, "entry"),
	RECORD_ARRAY(struct plan_launch, shape.grid, "grid"),
	RECORD_ARRAY(struct plan_launch, shape.block, "block"),
	RECORD_ARRAY(struct plan_launch, shape.cluster, "cluster"),
	RECORD_VALUE(struct plan_launch, shape.smem_dynamic_bytes, "smem_dynamic_bytes"),
	RECORD_VALUE(struct plan_launch, shape.repeat, "repeat"),
	RECORD_VALUE(
		struct plan_launch, shape.cooperative, "cooperative", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct plan_launch, is_tile, "is_tile", .flags = RECORD_OPTIONAL),
	RECORD_CUSTOMS(struct plan_launch, arguments, argument_count, &argument_custom, "args",
		.record = &argument_record),
};
RECORD_DEFINE(struct plan_launch, plan_launch_record, launch_members, .name = "plan_launch");

static const struct record_member symbol_members[] = {
	RECORD_VALUE(struct plan_symbol, name, "name"),
	RECORD_VALUE(struct plan_symbol, unit, "unit"),
	RECORD_VALUE(struct plan_symbol, buffer, "buffer"),
};
static RECORD_DEFINE(struct plan_symbol, symbol_record, symbol_members, .name = "plan_symbol");

static enum status plan_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct plan *plan = value;

	(void)context;
	if (plan->tensor_count > plan->buffer_count)
		return json_invalid(at, err, "there are more tensors than buffers");
	plan->workspace_bytes = 0;
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (__builtin_add_overflow(
			    plan->workspace_bytes, plan->buffers[i].bytes, &plan->workspace_bytes))
			return json_invalid(at, err, "the workspaces have 2^64 bytes or more");
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		if (plan->tensor_maps[i].buffer >= plan->buffer_count)
			return json_invalid(
				at, err, "the \"buffer\" of tensor map %zu is not in the plan", i);
	for (size_t i = 0; i < plan->symbol_count; i++)
		if (plan->symbols[i].buffer >= plan->buffer_count)
			return json_invalid(
				at, err, "the \"buffer\" of symbol %zu is not in the plan", i);
	for (size_t i = 0; i < plan->launch_count; i++) {
		for (size_t k = 0; k < plan->launches[i].argument_count; k++) {
			const struct plan_argument *argument = &plan->launches[i].arguments[k];

			if ((argument->kind == ARGUMENT_BUFFER &&
				    argument->index >= plan->buffer_count) ||
				(argument->kind == ARGUMENT_TENSOR_MAP &&
					argument->index >= plan->tensor_map_count))
				return json_invalid(at, err,
					"argument %zu of launch %zu has a buffer or tensor map "
					"that is not in the plan",
					k, i);
		}
	}
	return STATUS_OK;
}

static const struct record_member plan_members[] = {
	RECORD_VALUE(struct plan, tensor_count, "tensors"),
	RECORD_RECORDS(struct plan, buffers, buffer_count, plan_buffer_record, "buffers"),
	RECORD_RECORDS(
		struct plan, tensor_maps, tensor_map_count, plan_tensor_map_record, "tensor_maps"),
	RECORD_RECORDS(struct plan, launches, launch_count, plan_launch_record, "launches"),
	RECORD_RECORDS(struct plan, symbols, symbol_count, symbol_record, "symbols",
		.flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct plan, plan_record, plan_members, .name = "plan", .check = plan_check);

void plan_release(struct plan *plan)
{
	record_release(&plan_record, plan);
	*plan = (struct plan){0};
}
