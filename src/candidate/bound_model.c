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

/* Puts copies in place of expressions (NULL stays NULL) that the shallow copy of a launch still
 * shares with its family. */
static void specialise_all(
	struct expression **expressions, size_t count, const struct value *values)
{
	for (size_t i = 0; i < count; i++)
		if (expressions[i])
			expressions[i] = expression_specialise(expressions[i], values);
}

static void specialise_list(struct expression_list *list, const struct value *values)
{
	list->items =
		list->count ? memory_copy(list->items, list->count * sizeof(*list->items)) : NULL;
	specialise_all(list->items, list->count, values);
}

static void specialise_model(struct model *model, const struct value *values)
{
	struct expression **const single[] = {&model->units, &model->useful_fraction,
		&model->steps_mean, &model->steps_max, &model->stages, &model->schedule_text,
		&model->dtype.text, &model->epilogue_overlap, &model->dram_read_bytes,
		&model->dram_write_bytes};

	for (size_t i = 0; i < ARRAY_COUNT(single); i++)
		specialise_all(single[i], 1, values);
	specialise_all(model->per_step.pipe, PIPE_COUNT, values);
	specialise_all(model->prologue.pipe, PIPE_COUNT, values);
	specialise_all(model->epilogue.pipe, PIPE_COUNT, values);
	if (model->access_count)
		model->accesses = memory_copy(
			model->accesses, model->access_count * sizeof(*model->accesses));
	for (size_t i = 0; i < model->access_count; i++) {
		struct model_access *access = &model->accesses[i];

		specialise_all(&access->width_bytes, 1, values);
		specialise_all(&access->address, 1, values);
		specialise_all(&access->bytes, 1, values);
		specialise_all(&access->when, 1, values);
	}
	if (model->tile_count)
		model->tiles = memory_copy(model->tiles, model->tile_count * sizeof(*model->tiles));
	for (size_t i = 0; i < model->tile_count; i++) {
		struct model_tile *tile = &model->tiles[i];

		specialise_all(&tile->rows, 1, values);
		specialise_all(&tile->columns, 1, values);
		specialise_all(&tile->row_offset, 1, values);
		specialise_all(&tile->when, 1, values);
	}
}

static struct launch specialise_launch(const struct launch *launch, const struct value *values)
{
	struct launch copy = *launch;

	copy.arguments = (struct argument_list){0};
	specialise_all(&copy.when, 1, values);
	specialise_all(&copy.smem_bytes, 1, values);
	specialise_all(&copy.repeat, 1, values);
	specialise_all(&copy.regs_estimate, 1, values);
	specialise_list(&copy.grid, values);
	specialise_list(&copy.block, values);
	specialise_list(&copy.cluster, values);
	specialise_model(&copy.model, values);
	return copy;
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
		made->workspace_bytes[i] = family->workspaces[i].bytes;
	specialise_all(made->workspace_bytes, family->workspace_count, values);
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
