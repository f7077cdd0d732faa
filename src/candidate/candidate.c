/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"
#include "candidate/candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"
#include "family/operation.h"

void candidate_release(struct candidate *candidate)
{
	bound_family_free(candidate->bound);
	*candidate = (struct candidate){0};
}

struct value *candidate_values(const struct candidate *candidate, struct error *err)
{
	const struct space *space = candidate->bound->space;
	struct value *values = memory_zeroed(space->names->count + 1, sizeof(*values));

	if (space_values(space, candidate->choices, values, err) == STATUS_OK)
		return values;
	free(values);
	return NULL;
}

static enum status plan_buffers(
	const struct family *family, struct value *values, struct plan *plan, struct error *err)
{
	const size_t tensors = family->operation->tensor_count;

	plan->tensor_count = tensors;
	plan->buffer_count = tensors + family->workspace_count;
	plan->buffers = memory_zeroed(plan->buffer_count + 1, sizeof(*plan->buffers));
	TRY(operation_tensors_evaluate(family->operation, values, plan->buffers, err));
	for (size_t i = 0; i < family->workspace_count; i++)
		plan->buffers[tensors + i] = family->workspaces[i];
	plan->tensor_map_count = family->tensor_map_count;
	plan->tensor_maps = memory_copy(
		family->tensor_maps, family->tensor_map_count * sizeof(*plan->tensor_maps));
	TRY(computed_evaluate(&family->computed, family->computed.count, plan, values,
		scope_extra_index(&family->scope, EXTRA_LANE), COMPUTED_ALL, err));
	for (size_t i = tensors; i < plan->buffer_count; i++)
		if (__builtin_add_overflow(
			    plan->workspace_bytes, plan->buffers[i].bytes, &plan->workspace_bytes))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: the workspaces have 2^64 bytes or more", family->name);
	return STATUS_OK;
}

static enum status finish_tensor_maps(struct plan *plan, struct error *err)
{
	for (size_t i = 0; i < plan->tensor_map_count; i++) {
		struct plan_tensor_map *map = &plan->tensor_maps[i];

		map->dtype = plan->buffers[map->buffer].dtype;
		if (map->when) {
			TRY(plan_tensor_map_check(map, err));
			continue;
		}
		map->rank = map->stride_count = 0;
		map->swizzle_bytes = map->l2_promotion_bytes = 0;
	}
	return STATUS_OK;
}

/* Adds symbols for every built unit. The loader determines which units have the variable. */
static void plan_symbols(const struct family *family, const int *units, struct plan *plan)
{
	if (!family->symbol_count)
		return;
	plan->symbols = memory_zeroed(
		family->symbol_count * family->source_count + 1, sizeof(*plan->symbols));
	for (size_t i = 0; i < family->source_count; i++)
		for (size_t k = 0; units[i] >= 0 && k < family->symbol_count; k++)
			plan->symbols[plan->symbol_count++] =
				(struct plan_symbol){.name = string_copy(family->symbols[k].name),
					.unit = (uint32_t)units[i],
					.buffer = family->symbols[k].buffer};
}

static enum status plan_launch(const struct bound_family *bound, size_t index, struct value *values,
	const int *units, struct plan_launch *result, struct error *err)
{
	const struct launch *launch = &bound->family->launches[index];

	TRY(launch_shape_evaluate(bound, index, values, &result->shape, err));
	result->is_tile = bound->family->language == LANGUAGE_TILE;
	for (size_t i = 0; i < 3 && result->is_tile; i++)
		result->shape.block[i] = 1;
	result->unit = (uint32_t)units[launch->source];
	TRY(entry_evaluate(&launch->entry, values, &result->entry, err));
	return arguments_evaluate(&launch->arguments, values, result, err);
}

static enum status plan_launches(const struct bound_family *bound, struct value *values,
	const int *units, struct plan *plan, struct error *err)
{
	const struct family *family = bound->family;

	plan->launches = memory_zeroed(family->launch_count + 1, sizeof(*plan->launches));
	for (size_t i = 0; i < family->launch_count; i++) {
		bool is_active;

		TRY(expression_test(family->launches[i].when, values, &is_active, err));
		if (is_active)
			TRY(plan_launch(bound, i, values, units,
				&plan->launches[plan->launch_count++], err));
	}
	if (plan->launch_count == 0 && !family->program)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: no launch is active, because the condition of each is false",
			family->file);
	return STATUS_OK;
}

enum status candidate_plan(const struct bound_family *bound, const struct value *values,
	struct plan *plan, struct error *err)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free) int *units = memory_zeroed(family->source_count + 1, sizeof(*units));
	CLEANUP(memory_free)
	struct value *copy = memory_copy(values, family->scope.all.count * sizeof(*copy));
	CLEANUP(plan_release) struct plan made = {0};

	*plan = (struct plan){0};
	TRY(family_units(family, values, units, err));
	TRY(plan_buffers(family, copy, &made, err));
	TRY(finish_tensor_maps(&made, err));
	plan_symbols(family, units, &made);
	TRY(plan_launches(bound, copy, units, &made, err));
	*plan = made;
	made = (struct plan){0};
	return STATUS_OK;
}

enum status candidate_prune(const struct bound_family *bound, const struct value *values,
	const struct kernel_resources *resources, size_t launch_count, size_t longest,
	int64_t smem_bytes, int *rule, const char **why, struct error *err)
{
	const struct family *family = bound->family;
	const struct scope *scope = &family->scope;
	CLEANUP(memory_free)
	struct value *with_extras = memory_copy(values, scope->all.count * sizeof(*with_extras));
	struct value *extras = &with_extras[scope->extra_at];
	int64_t spill_bytes = 0, stack_bytes = 0;
	uint32_t flags = 0;

	*rule = -1;
	for (size_t i = 0; i < launch_count; i++) {
		flags |= resources[i].flags;
		spill_bytes += resources[i].spill_store_bytes + resources[i].spill_load_bytes;
		if (resources[i].stack_bytes > stack_bytes)
			stack_bytes = resources[i].stack_bytes;
	}
	if (launch_count) {
		extras[EXTRA_REGS_PER_THREAD] = value_int(resources[longest].regs_per_thread);
		extras[EXTRA_BLOCKS_PER_SM] = value_int(resources[longest].blocks_per_sm);
	}
	extras[EXTRA_SMEM_BYTES] = value_int(smem_bytes);
	extras[EXTRA_SPILL_BYTES] = value_int(spill_bytes);
	extras[EXTRA_STACK_BYTES] = value_int(stack_bytes);
	extras[EXTRA_WGMMA_SERIALIZED] = value_bool(flags & FLAG_MASK(WGMMA_SERIALIZED));
	extras[EXTRA_SETMAXNREG_IGNORED] = value_bool(flags & FLAG_MASK(SETMAXNREG_IGNORED));
	for (size_t i = 0; i < family->prune.count && *rule < 0; i++) {
		bool holds;

		TRY(expression_test(family->prune.items[i].expression, with_extras, &holds, err));
		if (holds) {
			*rule = (int)i;
			*why = family->prune.items[i].why;
		}
	}
	return STATUS_OK;
}

enum status candidate_facts(const struct bound_family *bound, const struct value *values,
	int64_t smem_bytes, int64_t blocks_per_sm, struct fact_list *facts, struct error *err)
{
	const struct family *family = bound->family;
	const struct scope *scope = &family->scope;
	CLEANUP(memory_free)
	struct value *with_extras = memory_zeroed(
		scope->all.count + family->named_fact_count + 1, sizeof(*with_extras));
	/* a family that was loaded without sources has no facts */
	const size_t count = family->facts ? family->operation->fact_count : 0;
	CLEANUP(fact_list_release)
	struct fact_list made = {.items = memory_zeroed(count + 1, sizeof(*made.items))};

	*facts = (struct fact_list){0};
	memcpy(with_extras, values, scope->all.count * sizeof(*with_extras));
	with_extras[scope_extra_index(scope, EXTRA_SMEM_BYTES)] = value_int(smem_bytes);
	with_extras[scope_extra_index(scope, EXTRA_BLOCKS_PER_SM)] = value_int(blocks_per_sm);
	for (size_t i = 0; i < count; i++) {
		const struct family_fact *fact = &family->facts[i];
		const struct fact_text *said = &family->operation->facts[i];
		struct fact *result = &made.items[made.count];
		bool holds = fact->expression != NULL;

		if (holds)
			TRY(expression_test(fact->when, with_extras, &holds, err));
		if (!holds)
			continue;
		*result = (struct fact){said->name, said->unit, said->source, {0}};
		TRY(expression_evaluate(
			fact->expression, with_extras, &made.values, &result->value, err));
		if (fact->name_index)
			with_extras[fact->name_index] = result->value;
		made.count++;
	}
	*facts = made;
	made = (struct fact_list){0};
	return STATUS_OK;
}

void fact_list_release(struct fact_list *facts)
{
	free(facts->items);
	value_arena_release(&facts->values);
	*facts = (struct fact_list){0};
}
