/* SPDX-License-Identifier: MIT
 *
 * Reading the `model` of a launch.
 */
#include "family/model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static const char *const keys[] = {"units", "useful_fraction", "steps", "stages", "schedule",
	"dtype", "per_step", "prologue", "epilogue", "epilogue_overlap", "smem_accesses", "tiles",
	"dram_read_bytes", "dram_write_bytes", "help", NULL};

static enum status read_amounts(const struct json_at *at, const char *key,
	const struct name_table *names, struct model_amounts *amounts, struct error *err)
{
	struct json_at member;

	if (!json_find(at, key, &member))
		return STATUS_OK;
	if (json_expect_keys(&member, pipe_names, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < json_count(&member); i++) {
		struct json_at item = json_item(&member, i);

		if (expression_json_compile(&item, names,
			    &amounts->pipe[name_find(item.key, pipe_names)], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

/* An expression, or {"mean", "max"}. */
static enum status read_steps(const struct json_at *at, const struct name_table *names,
	struct model *model, struct error *err)
{
	static const char *const step_keys[] = {"mean", "max", NULL};
	struct json_at steps;

	if (!json_find(at, "steps", &steps))
		return STATUS_OK;
	if (json_type(&steps) != JSON_OBJECT)
		return expression_json_compile(&steps, names, &model->steps_mean, err);
	if (json_expect_keys(&steps, step_keys, err) != STATUS_OK ||
		expression_json_member(&steps, "mean", names, &model->steps_mean, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member(&steps, "max", names, &model->steps_max, err);
}

/* A schedule's bare name, or an expression that gives one. */
static enum status read_schedule(const struct json_at *at, const struct name_table *names,
	struct model *model, struct error *err)
{
	struct json_at schedule;
	const char *text;
	int found;

	model->schedule = SCHEDULE_GRID;
	if (!json_find(at, "schedule", &schedule))
		return STATUS_OK;
	if (json_get_string(&schedule, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	found = name_find(text, schedule_names);
	if (found >= 0)
		model->schedule = (enum schedule)found;
	if (found >= 0)
		return STATUS_OK;
	return expression_json_compile(&schedule, names, &model->schedule_text, err);
}

/* Which tensor rate: the key `dtype` where nothing is said and there is one. */
static enum status read_dtype(const struct json_at *at, const struct family *family,
	struct model *model, struct error *err)
{
	struct json_at dtype;

	model->dtype = DTYPE_FP32;
	if (json_find(at, "dtype", &dtype))
		return dtype_json_read(
			&dtype, &family->names, &model->dtype_text, &model->dtype, err);
	if (name_table_find(&family->operation->key_names, "dtype") == NAME_UNKNOWN)
		return STATUS_OK;
	return expression_compile("dtype", family->file, &family->names, &model->dtype_text, err);
}

static enum status read_access(const struct json_at *at, const struct name_table *names,
	const struct name_table *lane_names, struct model_access *access, struct error *err)
{
	static const char *const access_keys[] = {
		"name", "kind", "width_bytes", "address", "bytes", "when", "help", NULL};
	struct json_at kind;
	const char *text;

	if (json_expect_keys(at, access_keys, err) != STATUS_OK ||
		json_member_string(at, "name", &access->name, err) != STATUS_OK ||
		json_member(at, "kind", &kind, err) != STATUS_OK ||
		json_get_string(&kind, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(text, "read") != 0 && strcmp(text, "write") != 0)
		return json_error(&kind, err, "\"read\" or \"write\"");
	access->pipe = strcmp(text, "read") == 0 ? PIPE_SMEM_READ : PIPE_SMEM_WRITE;
	if (expression_json_member(at, "width_bytes", names, &access->width_bytes, err) !=
			STATUS_OK ||
		expression_json_member(at, "address", lane_names, &access->address, err) !=
			STATUS_OK ||
		expression_json_member(at, "bytes", names, &access->bytes, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member_if(at, "when", names, &access->when, err);
}

static enum status read_accesses(const struct json_at *at, const struct family *family,
	struct model *model, struct error *err)
{
	struct name_table lane_names;
	struct json_at list;
	enum status status = STATUS_OK;

	if (!json_find(at, "smem_accesses", &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	lane_names = scope_table(&family->scope, SCOPE_SMEM, SIZE_MAX, NULL);
	model->accesses = memory_zeroed(json_count(&list) + 1, sizeof(*model->accesses));
	model->access_count = json_count(&list);
	for (size_t i = 0; i < model->access_count && status == STATUS_OK; i++) {
		struct json_at item = json_item(&list, i);

		status = read_access(&item, &family->names, &lane_names, &model->accesses[i], err);
	}
	name_table_release(&lane_names);
	return status;
}

static enum status read_tile(const struct json_at *at, const struct family *family,
	struct model_tile *tile, struct error *err)
{
	static const char *const tile_keys[] = {
		"tensor", "rows", "cols", "row_offset", "when", "help", NULL};
	const struct operation *operation = family->operation;
	const struct name_table *names = &family->names;
	struct json_at tensor;
	const char *name;

	if (json_expect_keys(at, tile_keys, err) != STATUS_OK ||
		json_member(at, "tensor", &tensor, err) != STATUS_OK ||
		json_get_string(&tensor, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	while (tile->tensor < operation->tensor_count &&
		strcmp(operation->tensors[tile->tensor].name, name) != 0)
		tile->tensor++;
	if (tile->tensor == operation->tensor_count)
		return json_error(&tensor, err, "a tensor of the operation");
	tile->is_output = operation->tensors[tile->tensor].is_output;
	if (expression_json_member(at, "rows", names, &tile->rows, err) != STATUS_OK ||
		expression_json_member(at, "cols", names, &tile->columns, err) != STATUS_OK ||
		expression_json_member_if(at, "row_offset", names, &tile->row_offset, err) !=
			STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member_if(at, "when", names, &tile->when, err);
}

static enum status read_tiles(const struct json_at *at, const struct family *family,
	struct model *model, struct error *err)
{
	struct json_at list;

	if (!json_find(at, "tiles", &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	model->tiles = memory_zeroed(json_count(&list) + 1, sizeof(*model->tiles));
	model->tile_count = json_count(&list);
	for (size_t i = 0; i < model->tile_count; i++) {
		struct json_at item = json_item(&list, i);

		if (read_tile(&item, family, &model->tiles[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

enum status model_read(const struct json_at *at, const struct family *family, struct model *model,
	struct error *err)
{
	const struct name_table *names = &family->names;
	const struct {
		const char *key;
		struct expression **expression;
	} optional[] = {
		{"useful_fraction", &model->useful_fraction},
		{"stages", &model->stages},
		{"epilogue_overlap", &model->epilogue_overlap},
		{"dram_read_bytes", &model->dram_read_bytes},
		{"dram_write_bytes", &model->dram_write_bytes},
	};

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		expression_json_member(at, "units", names, &model->units, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (size_t i = 0; i < ARRAY_COUNT(optional); i++)
		if (expression_json_member_if(
			    at, optional[i].key, names, optional[i].expression, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	if (read_steps(at, names, model, err) != STATUS_OK ||
		read_schedule(at, names, model, err) != STATUS_OK ||
		read_dtype(at, family, model, err) != STATUS_OK ||
		read_amounts(at, "per_step", names, &model->per_step, err) != STATUS_OK ||
		read_amounts(at, "prologue", names, &model->prologue, err) != STATUS_OK ||
		read_amounts(at, "epilogue", names, &model->epilogue, err) != STATUS_OK ||
		read_accesses(at, family, model, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return read_tiles(at, family, model, err);
}

static void release_amounts(struct model_amounts *amounts)
{
	for (int pipe = 0; pipe < PIPE_COUNT; pipe++)
		expression_free(amounts->pipe[pipe]);
}

void model_release(struct model *model)
{
	struct expression *single[] = {model->units, model->useful_fraction, model->steps_mean,
		model->steps_max, model->stages, model->schedule_text, model->dtype_text,
		model->epilogue_overlap, model->dram_read_bytes, model->dram_write_bytes};

	for (size_t i = 0; i < ARRAY_COUNT(single); i++)
		expression_free(single[i]);
	release_amounts(&model->per_step);
	release_amounts(&model->prologue);
	release_amounts(&model->epilogue);
	for (size_t i = 0; i < model->access_count; i++) {
		expression_free(model->accesses[i].width_bytes);
		expression_free(model->accesses[i].address);
		expression_free(model->accesses[i].bytes);
		expression_free(model->accesses[i].when);
	}
	for (size_t i = 0; i < model->tile_count; i++) {
		expression_free(model->tiles[i].rows);
		expression_free(model->tiles[i].columns);
		expression_free(model->tiles[i].row_offset);
		expression_free(model->tiles[i].when);
	}
	free(model->accesses);
	free(model->tiles);
	*model = (struct model){0};
}
