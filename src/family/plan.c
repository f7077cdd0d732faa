/* SPDX-License-Identifier: MIT */
#include "family/plan.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- buffers ---- */
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
static const char *const init_names[] = {[BUFFER_INIT_NONE] = "none",
	[BUFFER_INIT_ONCE] = "once",
	[BUFFER_INIT_EACH] = "each",
	[BUFFER_INIT_GIVEN] = "given",
	NULL};

#define TENSOR_VALUE(field, meaning)                                                               \
	RECORD_VALUE(struct plan_buffer, field, #field, meaning, .flags = RECORD_OPTIONAL)
static const struct record_member buffer_members[] = {
	RECORD_TEXT(struct plan_buffer, name, "name", "as kernels and families call it"),
	RECORD_ENUM(struct plan_buffer, role, role_names, "role", "who writes it"),
	RECORD_ENUM(struct plan_buffer, dtype, dtype_names, "dtype", "of its elements"),
	RECORD_VALUE(struct plan_buffer, bytes, "bytes",
		"from the first element to the last, gaps included; 0: the kernel gets a null "
		"pointer"),
	RECORD_ENUM(struct plan_buffer, init, init_names, "init",
		"who fills it: none: nobody; once: zeroed before the first run; each: zeroed "
		"before every run, on its stream; given: a tensor, the program",
		.flags = RECORD_OPTIONAL, .absent = BUFFER_INIT_GIVEN),
	TENSOR_VALUE(rows, "of a tensor: the product of all dimensions but the innermost"),
	TENSOR_VALUE(columns, "of a tensor: elements of the innermost dimension"),
	TENSOR_VALUE(ld, "of a tensor: elements from the beginning of a row to that of the next"),
	RECORD_ENUM(struct plan_buffer, contents, buffer_contents_names, "contents", "of an input",
		.flags = RECORD_OPTIONAL),
	TENSOR_VALUE(
		fill_low, "an input's lowest value where it was measured; of normal, the mean"),
	TENSOR_VALUE(fill_high, "an input's highest value; of normal, the standard deviation"),
};
#undef TENSOR_VALUE
static RECORD_DEFINE(struct plan_buffer, buffer_record, buffer_members, .name = "plan_buffer");

/* ---- tensor maps ---- */
/* A map has one stride less than it has dimensions; an absent one has none. */
static size_t stride_count(const struct plan_tensor_map *map)
{
	return map->rank ? map->rank - 1 : 0;
}

static enum status strides_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct plan_tensor_map *map = field;
	struct json_at item = {0};

	(void)context;
	TRY(json_expect(at, JSON_ARRAY, err));
	if (json_count(at) != stride_count(map))
		return json_error(at, err, "%zu elements", stride_count(map));
	while (json_next(at, &item)) {
		int64_t stride;

		TRY(json_get_int(&item, &stride, err));
		map->strides[item.index] = (uint64_t)stride;
	}
	return STATUS_OK;
}

static struct json *strides_write(const void *field)
{
	const struct plan_tensor_map *map = field;
	struct json *list = json_new_array();

	for (size_t i = 0; i < stride_count(map); i++)
		json_push(list, json_new_int((int64_t)map->strides[i]));
	return list;
}

static const struct record_custom strides_custom = {strides_read, strides_write, NULL, NULL};

/* The driver's rules, from the comment at cuTensorMapEncodeTiled in cuda.h (CUDA 13.0), for maps
 * without interleave and with element strides of 1. The address (16-byte aligned) is the
 * allocator's affair. */
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
	for (uint32_t i = 0; i < stride_count(map); i++)
		if (map->strides[i] % STRIDE_ALIGNMENT != 0 || map->strides[i] >= stride_limit)
			return error_set(err, STATUS_BAD_INPUT,
				"strides[%u]: expected a multiple of %d bytes below 2^40, found "
				"%" PRIu64,
				i, STRIDE_ALIGNMENT, map->strides[i]);
	/* rows that overlap are no rule of the driver's for outer dimensions, but an inner
	 * dimension longer than its pitch is refused */
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
		return error_set(err, STATUS_BAD_INPUT, "expected at most %d dimensions, found %u",
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
	(void)at;
	(void)context;
	return plan_tensor_map_check(value, err);
}

static const struct record_member tensor_map_members[] = {
	RECORD_TEXT(struct plan_tensor_map, name, "name", "as the family calls it"),
	RECORD_VALUE(struct plan_tensor_map, buffer, "buffer",
		"its index among the buffers, whose address it gets"),
	RECORD_ENUM(struct plan_tensor_map, dtype, dtype_names, "dtype",
		"of the elements: CU_TENSOR_MAP_DATA_TYPE_*, fp8 as UINT8, tf32 as FLOAT32"),
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, dims, rank, "dims",
		"elements, innermost dimension first; none: the kernel is given 128 bytes of "
		"zeros and does not use them. Interleave none, element strides 1, filled with "
		"zeros outside"),
	RECORD_DERIVED(struct plan_tensor_map, &strides_custom, "strides",
		"bytes from one index to the next, of all dimensions but the innermost, the second "
		"first",
		.flags = RECORD_NOT_WIRE),
	RECORD_ARRAY(struct plan_tensor_map, strides, "", "", .flags = RECORD_NOT_JSON),
	RECORD_ARRAY_COUNTED(struct plan_tensor_map, box, rank, "box",
		"elements that one copy moves, innermost dimension first"),
	RECORD_VALUE(
		struct plan_tensor_map, swizzle_bytes, "swizzle_bytes", "0 (none), 32, 64, 128"),
	RECORD_VALUE(struct plan_tensor_map, l2_promotion_bytes, "l2_promotion_bytes",
		"0 (none), 64, 128, 256"),
};
RECORD_DEFINE(struct plan_tensor_map, plan_tensor_map_record, tensor_map_members,
	.name = "plan_tensor_map", .check = tensor_map_check);

/* ---- launches ---- */
#define ROW(kind, name, dtype) [kind] = (name),
const char *const argument_kind_names[] = {ARGUMENTS(ROW) NULL};
#undef ROW

/* {"buffer": 0}, {"i32": 4096}, {"units": true} */
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
		return json_error(at, err, "one kind of argument");
	member = json_item(at, 0);
	argument->kind = (enum argument_kind)name_find(member.key, argument_kind_names);
	switch (argument->kind) {
	case ARGUMENT_BUFFER:
	case ARGUMENT_TENSOR_MAP:
		TRY(json_get_int(&member, &index, err));
		if (index < 0 || index > UINT32_MAX)
			return json_error(&member, err, "a %s that is there", member.key);
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

/* as bytes */
static const struct record_member argument_members[] = {
	RECORD_ENUM(struct plan_argument, kind, argument_kind_names, "kind", ""),
	RECORD_VALUE(struct plan_argument, index, "index", ""),
	RECORD_VALUE(struct plan_argument, integer, "integer", ""),
	RECORD_VALUE(struct plan_argument, real, "real", ""),
};
static RECORD_DEFINE(struct plan_argument, argument_record, argument_members, .name = "argument");

static const struct record_custom argument_custom = {argument_read, argument_write, NULL, NULL};

static const struct record_member launch_members[] = {
	RECORD_VALUE(
		struct plan_launch, unit, "unit", "index among the units: where the kernel is"),
	RECORD_VALUE(struct plan_launch, entry, "entry", "name of the kernel"),
	RECORD_ARRAY(struct plan_launch, grid, "grid", "blocks along x, y, z"),
	RECORD_ARRAY(struct plan_launch, block, "block", "threads along x, y, z"),
	RECORD_ARRAY(struct plan_launch, cluster, "cluster",
		"blocks of a cluster along x, y, z; 1 1 1: no clusters; more than 8 blocks need "
		"the function attribute NON_PORTABLE_CLUSTER_SIZE_ALLOWED"),
	RECORD_VALUE(struct plan_launch, smem_dynamic_bytes, "smem_dynamic_bytes",
		"of a block; the function attribute MAX_DYNAMIC_SHARED_SIZE_BYTES must allow it"),
	RECORD_VALUE(struct plan_launch, repeat, "repeat",
		"launched that many times in a row, with the same arguments"),
	RECORD_CUSTOMS(struct plan_launch, arguments, argument_count, &argument_custom, "args",
		"in the kernel's order, each by its kind: buffer, the address of buffers[i] (64 "
		"bits); tensor_map, tensor_maps[i] encoded (128 bytes by value, 64-byte aligned); "
		"i32, i64, f32 and so on, the number itself (bool 0 or 1; u64 as the int64 of its "
		"bits)",
		.record = &argument_record),
};
static RECORD_DEFINE(struct plan_launch, launch_record, launch_members, .name = "plan_launch");

static const struct record_member symbol_members[] = {
	RECORD_VALUE(struct plan_symbol, name, "name", "as the module calls it"),
	RECORD_VALUE(struct plan_symbol, unit, "unit", "index among the units: where it is"),
	RECORD_VALUE(struct plan_symbol, buffer, "buffer",
		"the one that is copied into its beginning before the first launch"),
};
static RECORD_DEFINE(struct plan_symbol, symbol_record, symbol_members, .name = "plan_symbol");

/* ---- plans ---- */
static enum status plan_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct plan *plan = value;

	(void)context;
	if (plan->tensor_count > plan->buffer_count)
		return json_error(at, err, "a number of tensors within the buffers");
	plan->workspace_bytes = 0;
	for (size_t i = plan->tensor_count; i < plan->buffer_count; i++)
		if (__builtin_add_overflow(
			    plan->workspace_bytes, plan->buffers[i].bytes, &plan->workspace_bytes))
			return json_error(at, err, "workspaces of less than 2^64 bytes");
	for (size_t i = 0; i < plan->tensor_map_count; i++)
		if (plan->tensor_maps[i].buffer >= plan->buffer_count)
			return json_error(at, err, "tensor maps of buffers that are there");
	for (size_t i = 0; i < plan->symbol_count; i++)
		if (plan->symbols[i].buffer >= plan->buffer_count)
			return json_error(at, err, "symbols of buffers that are there");
	for (size_t i = 0; i < plan->launch_count; i++) {
		for (size_t k = 0; k < plan->launches[i].argument_count; k++) {
			const struct plan_argument *argument = &plan->launches[i].arguments[k];

			if ((argument->kind == ARGUMENT_BUFFER &&
				    argument->index >= plan->buffer_count) ||
				(argument->kind == ARGUMENT_TENSOR_MAP &&
					argument->index >= plan->tensor_map_count))
				return json_error(at, err, "arguments that are there");
		}
	}
	return STATUS_OK;
}

static const struct record_member plan_members[] = {
	RECORD_VALUE(struct plan, tensor_count, "tensors", "how many of the buffers are tensors"),
	RECORD_RECORDS(struct plan, buffers, buffer_count, buffer_record, "buffers",
		"tensors in the operation's order, then workspaces"),
	RECORD_RECORDS(struct plan, tensor_maps, tensor_map_count, plan_tensor_map_record,
		"tensor_maps", "TMA descriptors, as cuTensorMapEncodeTiled takes them"),
	RECORD_RECORDS(struct plan, launches, launch_count, launch_record, "launches",
		"on one stream, one after the other"),
	RECORD_RECORDS(struct plan, symbols, symbol_count, symbol_record, "symbols",
		"variables of the units in __constant__ or __device__ memory that hold a tensor; a "
		"unit may lack one",
		.flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct plan, plan_record, plan_members, .name = "plan", .check = plan_check);

void plan_release(struct plan *plan)
{
	record_release(&plan_record, plan);
	*plan = (struct plan){0};
}

/* ---- references ---- */
const char *const verified_names[] = {
	[VERIFIED_REFERENCE] = "reference",
	[VERIFIED_FILE] = "file",
	[VERIFIED_CONFIGURATION] = "configuration",
	[VERIFIED_SELF] = "self",
	NULL,
};

const char *const verified_words[] = {
	[VERIFIED_REFERENCE] = "the reference",
	[VERIFIED_FILE] = "the file",
	[VERIFIED_CONFIGURATION] = "the trusted configuration",
	[VERIFIED_SELF] = "the default configuration",
	NULL,
};

static const char *const unit_names[] = {"element", "row", NULL};

static enum status reference_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct reference_plan *reference = value;

	(void)context;
	for (size_t i = 0; i < reference->output_count; i++) {
		const struct reference_output *output = &reference->outputs[i];

		if (output->tensor >= reference->tensor_count)
			return json_error(at, err, "outputs that are tensors");
		if (!output->launch && !output->file && !reference->trusted)
			return json_error(at, err, "a reference of every output");
	}
	return reference->output_count ? STATUS_OK : json_error(at, err, "an output");
}

#define OUTPUT(field, meaning) RECORD_VALUE(struct reference_output, field, #field, meaning)
static const struct record_member output_members[] = {
	OUTPUT(tensor, "its index among the tensors"),
	RECORD_ENUM(struct reference_output, verified, verified_names, "verified",
		"what it is compared with"),
	RECORD_POINTER(struct reference_output, launch, launch_record, "launch",
		"of a kernel; grid[0] is set by whoever launches it: ceil(count / "
		"units_per_block)",
		.flags = RECORD_OPTIONAL),
	OUTPUT(units_per_block, "that one block of the kernel computes"),
	RECORD_ENUM(struct reference_output, unit_is_row, unit_names, "unit", "of the output"),
	RECORD_VALUE(struct reference_output, file, "file", "path of the values",
		.flags = RECORD_OPTIONAL),
	OUTPUT(tolerance_abs, "of a value"),
	OUTPUT(tolerance_rel, "times the expected value"),
	OUTPUT(abs_scales, "tolerance_abs is times the largest expected value"),
	OUTPUT(differ_ratio, "of the points that may be beyond the tolerance"),
};
#undef OUTPUT
static RECORD_DEFINE(
	struct reference_output, output_record, output_members, .name = "reference_output");

static const struct record_member contents_members[] = {
	RECORD_VALUE(struct plan_contents, tensor, "tensor", "its index"),
	RECORD_VALUE(struct plan_contents, expression, "expression",
		"over the keys and `index`: linear, without pitch", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct plan_contents, file, "file", "path", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct plan_contents, sizes, "sizes", "of groups, a draw for each set in turn",
		.flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(
	struct plan_contents, contents_record, contents_members, .name = "plan_contents");

static const struct record_member reference_members[] = {
	RECORD_VALUE(struct reference_plan, may_vary, "may_vary", "bits may differ from run to run",
		.flags = RECORD_OPTIONAL),
	RECORD_RECORDS(struct reference_plan, tensors, tensor_count, buffer_record, "tensors",
		"the operation's"),
	RECORD_RECORDS(struct reference_plan, outputs, output_count, output_record, "outputs",
		"every tensor that is written"),
	RECORD_RECORDS(struct reference_plan, contents, contents_count, contents_record, "contents",
		"of tensors with an expression, a file or sizes", .flags = RECORD_OPTIONAL),
	RECORD_NAMED_VALUES(struct reference_plan, keys, "keys", "of the problem, for expressions",
		.flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct reference_plan, trusted, plan_record, "trusted",
		"run for outputs without kernel and file", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(struct reference_plan, reference_plan_record, reference_members,
	.name = "reference_plan", .check = reference_check);

void reference_plan_release(struct reference_plan *reference)
{
	record_release(&reference_plan_record, reference);
	*reference = (struct reference_plan){0};
}

/* ---- work ---- */
const char *const schedule_names[] = {
	[SCHEDULE_GRID] = "grid",
	[SCHEDULE_PERSISTENT] = "persistent",
	[SCHEDULE_STREAM_K] = "stream_k",
	NULL,
};

void work_release(struct work *work)
{
	for (size_t i = 0; i < work->launch_count; i++) {
		free(work->launches[i].smem_accesses);
		free(work->launches[i].tiles);
	}
	free(work->launches);
	*work = (struct work){0};
}
