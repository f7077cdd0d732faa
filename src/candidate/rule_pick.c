/* SPDX-License-Identifier: MIT
 *
 * Running a rule: the values that it admits in its order of preference, then the first of them for
 * which there is a legal configuration.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "candidate/rule_pick.h"
#include "family/family.h"

struct trial {
	const struct bound_family *bound;
	const struct rule *rule;
	rule_resources *resources;
	void *context;
	struct value *base;  /* defaults, by parameter */
	struct value *slots; /* of the value that is being tried */
	bool *fixed;         /* parameters that the rule sets */
};

struct option {
	struct value tried;
	double worth;
};

/* A first launch that has not been compiled: dynamic shared memory, one block per SM. */
static void resources_without_compiler(const struct bound_family *bound, const struct value *slots,
	int64_t *smem_bytes, int64_t *blocks_per_sm)
{
	const struct launch *launch = &bound->family->launches[0];

	*blocks_per_sm = 1;
	if (!launch->smem_bytes ||
		expression_int(launch->smem_bytes, slots, smem_bytes, NULL) != STATUS_OK)
		*smem_bytes = 0;
}

/* Fills slots for one value. False where that cannot be computed: the rule's text is right for
 * some values only (a division by zero), which is no error. */
static bool fill_slots(struct trial *trial, struct value tried)
{
	const struct bound_family *bound = trial->bound;
	const struct scope *scope = &bound->family->scope;
	struct value *slots = trial->slots;
	int64_t smem_bytes, blocks_per_sm;

	space_fixed(bound->space, slots);
	slots[scope_extra_slot(scope, EXTRA_LOOP)] = tried;
	for (size_t i = 0; i < bound->family->parameter_count; i++)
		slots[scope->parameter_at + i] = trial->base[i];
	for (size_t i = 0; i < trial->rule->assignment_count; i++) {
		const struct rule_assignment *assignment = &trial->rule->assignments[i];

		if (expression_evaluate(assignment->value, slots, NULL,
			    &slots[scope->parameter_at + assignment->parameter], NULL) != STATUS_OK)
			return false;
	}
	if (space_derive(bound->space, slots, NULL) != STATUS_OK)
		return false;
	resources_without_compiler(bound, slots, &smem_bytes, &blocks_per_sm);
	if (trial->resources)
		trial->resources(bound, slots, trial->context, &smem_bytes, &blocks_per_sm);
	slots[scope_extra_slot(scope, EXTRA_SMEM_BYTES)] = value_int(smem_bytes);
	slots[scope_extra_slot(scope, EXTRA_BLOCKS_PER_SM)] = value_int(blocks_per_sm);
	return true;
}

/* Whether `where` admits a value, and what it is worth. */
static enum status weigh(
	struct trial *trial, struct option *option, bool *admitted, struct error *err)
{
	const struct rule *rule = trial->rule;

	*admitted = fill_slots(trial, option->tried);
	if (*admitted && rule->where)
		TRY(expression_test(rule->where, trial->slots, admitted, err));
	if (*admitted && rule->is_argmax)
		TRY(expression_real(rule->expression, trial->slots, &option->worth, err));
	return STATUS_OK;
}

/* Keeps options in order of falling worth, earlier ones first among equals. */
static void insert(struct option *options, size_t count, struct option option)
{
	size_t at = count;

	for (; at > 0 && options[at - 1].worth < option.worth; at--)
		options[at] = options[at - 1];
	options[at] = option;
}

static enum status pick(struct trial *trial, const struct value_list *list, choice *configuration,
	bool *found, struct error *err)
{
	const struct scope *scope = &trial->bound->family->scope;
	CLEANUP(memory_free)
	struct option *options = memory_zeroed(list->count + 1, sizeof(*options));
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct option option = {.tried = list->items[i]};
		bool admitted;

		TRY(weigh(trial, &option, &admitted, err));
		if (admitted)
			insert(options, count++, option);
	}
	for (size_t i = 0; i < count && !*found; i++)
		if (fill_slots(trial, options[i].tried))
			TRY(configuration_nearest(trial->bound, &trial->slots[scope->parameter_at],
				trial->fixed, configuration, found, err));
	return STATUS_OK;
}

enum status rule_pick(const struct bound_family *bound, const struct rule *rule,
	rule_resources *resources, void *context, choice *configuration, bool *found,
	struct error *err)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free)
	struct value *base = memory_zeroed(family->parameter_count + 1, sizeof(*base));
	CLEANUP(memory_free)
	struct value *slots = memory_zeroed(family->scope.count, sizeof(*slots));
	CLEANUP(memory_free)
	bool *fixed = memory_zeroed(family->parameter_count + 1, sizeof(*fixed));
	CLEANUP(value_arena_release) struct value_arena lists = {0};
	struct trial trial = {.bound = bound,
		.rule = rule,
		.resources = resources,
		.context = context,
		.base = base,
		.slots = slots,
		.fixed = fixed};
	struct value list;

	*found = false;
	if (!rule->applies)
		return STATUS_OK;
	for (size_t i = 0; i < rule->assignment_count; i++)
		fixed[rule->assignments[i].parameter] = true;
	TRY(configuration_defaults(bound, base, err));
	space_fixed(bound->space, slots);
	TRY(expression_evaluate(rule->over, slots, &lists, &list, err));
	if (list.type != VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected a list, found %s",
			expression_where(rule->over), value_type_name(list.type));
	return pick(&trial, list.list, configuration, found, err);
}
