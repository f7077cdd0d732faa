/* SPDX-License-Identifier: MIT
 *
 * Specialising a family's launches and models.
 */
#include "candidate/bound_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/operation.h"
#include "family/family.h"

static struct expression *specialise(
	const struct expression *expression, const struct value *values)
{
	return expression ? expression_specialise(expression, values) : NULL;
}

static struct expression_list specialise_list(
	const struct expression_list *list, const struct value *values)
{
	struct expression_list copy = {.count = list->count};

	copy.items = memory_zeroed(list->count + 1, sizeof(*copy.items));
	for (size_t i = 0; i < list->count; i++)
		copy.items[i] = specialise(list->items[i], values);
	return copy;
}

static struct model_amounts specialise_amounts(
	const struct model_amounts *amounts, const struct value *values)
{
	struct model_amounts copy;

	for (int pipe = 0; pipe < PIPE_COUNT; pipe++)
		copy.pipe[pipe] = specialise(amounts->pipe[pipe], values);
	return copy;
}

static void specialise_lists(
	const struct model *model, const struct value *values, struct model *copy)
{
	copy->accesses = memory_zeroed(model->access_count + 1, sizeof(*copy->accesses));
	for (size_t i = 0; i < model->access_count; i++) {
		const struct model_access *access = &model->accesses[i];

		copy->accesses[i] = (struct model_access){.name = access->name,
			.is_write = access->is_write,
			.width_bytes = specialise(access->width_bytes, values),
			.address = specialise(access->address, values),
			.bytes = specialise(access->bytes, values),
			.when = specialise(access->when, values)};
	}
	copy->tiles = memory_zeroed(model->tile_count + 1, sizeof(*copy->tiles));
	for (size_t i = 0; i < model->tile_count; i++) {
		const struct model_tile *tile = &model->tiles[i];

		copy->tiles[i] = (struct model_tile){.tensor = tile->tensor,
			.is_output = tile->is_output,
			.rows = specialise(tile->rows, values),
			.columns = specialise(tile->columns, values),
			.row_offset = specialise(tile->row_offset, values),
			.when = specialise(tile->when, values)};
	}
}

static struct model specialise_model(const struct model *model, const struct value *values)
{
	struct model copy = {.units = specialise(model->units, values),
		.useful_fraction = specialise(model->useful_fraction, values),
		.steps_mean = specialise(model->steps_mean, values),
		.steps_max = specialise(model->steps_max, values),
		.stages = specialise(model->stages, values),
		.schedule_text = specialise(model->schedule_text, values),
		.schedule = model->schedule,
		.dtype = {specialise(model->dtype.text, values), model->dtype.dtype},
		.per_step = specialise_amounts(&model->per_step, values),
		.prologue = specialise_amounts(&model->prologue, values),
		.epilogue = specialise_amounts(&model->epilogue, values),
		.epilogue_overlap = specialise(model->epilogue_overlap, values),
		.dram_read_bytes = specialise(model->dram_read_bytes, values),
		.dram_write_bytes = specialise(model->dram_write_bytes, values),
		.access_count = model->access_count,
		.tile_count = model->tile_count};

	specialise_lists(model, values, &copy);
	return copy;
}

static struct launch specialise_launch(const struct launch *launch, const struct value *values)
{
	return (struct launch){.entry = launch->entry,
		.source = launch->source,
		.when = specialise(launch->when, values),
		.always_built = launch->always_built,
		.grid = specialise_list(&launch->grid, values),
		.block = specialise_list(&launch->block, values),
		.cluster = specialise_list(&launch->cluster, values),
		.smem_bytes = specialise(launch->smem_bytes, values),
		.repeat = specialise(launch->repeat, values),
		.regs_estimate = specialise(launch->regs_estimate, values),
		.model = specialise_model(&launch->model, values)};
}

enum status bound_model_new(const struct family *family, const struct problem *problem,
	const struct value *fixed, struct bound_model **model, struct error *err)
{
	const struct scope *scope = &family->scope;
	struct value *values = memory_zeroed(scope->count, sizeof(*values));
	struct bound_model *made = memory_zeroed(1, sizeof(*made));
	enum status status;

	memcpy(values, fixed, scope->extra_at * sizeof(*values)); /* extras stay unbound */
	made->launch_count = family->launch_count;
	made->launches = memory_zeroed(family->launch_count + 1, sizeof(*made->launches));
	for (size_t i = 0; i < family->launch_count; i++)
		made->launches[i] = specialise_launch(&family->launches[i], values);
	made->workspace_count = family->workspace_count;
	made->workspace_bytes =
		memory_zeroed(family->workspace_count + 1, sizeof(*made->workspace_bytes));
	for (size_t i = 0; i < family->workspace_count; i++)
		made->workspace_bytes[i] = specialise(family->workspaces[i].bytes, values);
	made->tensors = memory_zeroed(family->operation->tensor_count, sizeof(*made->tensors));
	status = operation_tensors_evaluate(family->operation, fixed, made->tensors, err);
	if (status == STATUS_OK)
		status = problem_flop(problem, &made->flop, err);
	if (status == STATUS_OK)
		status = problem_min_bytes(problem, &made->min_bytes, err);
	free(values);
	if (status != STATUS_OK) {
		bound_model_free(made);
		made = NULL;
	}
	*model = made;
	return status;
}

void bound_model_free(struct bound_model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->launch_count; i++)
		launch_release(&model->launches[i]);
	for (size_t i = 0; i < model->workspace_count; i++)
		expression_free(model->workspace_bytes[i]);
	free(model->launches);
	free(model->workspace_bytes);
	free(model->tensors);
	free(model);
}
