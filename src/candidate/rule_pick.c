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
	enum status status = STATUS_OK;

	*admitted = fill_slots(trial, option->tried);
	if (*admitted && rule->where)
		status = expression_test(rule->where, trial->slots, admitted, err);
	if (status == STATUS_OK && *admitted && rule->is_argmax)
		status = expression_real(rule->expression, trial->slots, &option->worth, err);
	return status;
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
	struct option *options = memory_zeroed(list->count + 1, sizeof(*options));
	size_t count = 0;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < list->count && status == STATUS_OK; i++) {
		struct option option = {.tried = list->items[i]};
		bool admitted;

		status = weigh(trial, &option, &admitted, err);
		if (status == STATUS_OK && admitted)
			insert(options, count++, option);
	}
	for (size_t i = 0; i < count && status == STATUS_OK && !*found; i++)
		if (fill_slots(trial, options[i].tried))
			status = configuration_nearest(trial->bound,
				&trial->slots[scope->parameter_at], trial->fixed, configuration,
				found, err);
	free(options);
	return status;
}

enum status rule_pick(const struct bound_family *bound, const struct rule *rule,
	rule_resources *resources, void *context, choice *configuration, bool *found,
	struct error *err)
{
	const struct family *family = bound->family;
	struct trial trial = {
		.bound = bound, .rule = rule, .resources = resources, .context = context};
	struct value_arena lists = {0};
	struct value list;
	enum status status;

	*found = false;
	if (!rule->applies)
		return STATUS_OK;
	trial.base = memory_zeroed(family->parameter_count + 1, sizeof(struct value));
	trial.slots = memory_zeroed(family->scope.count, sizeof(struct value));
	trial.fixed = memory_zeroed(family->parameter_count + 1, sizeof(bool));
	for (size_t i = 0; i < rule->assignment_count; i++)
		trial.fixed[rule->assignments[i].parameter] = true;
	status = configuration_defaults(bound, trial.base, err);
	space_fixed(bound->space, trial.slots);
	if (status == STATUS_OK)
		status = expression_evaluate(rule->over, trial.slots, &lists, &list, err);
	if (status == STATUS_OK && list.type != VALUE_LIST)
		status = error_set(err, STATUS_BAD_INPUT, "%s: expected a list, found %s",
			expression_where(rule->over), value_type_name(list.type));
	if (status == STATUS_OK)
		status = pick(&trial, list.list, configuration, found, err);
	free(trial.base);
	free(trial.slots);
	free(trial.fixed);
	value_arena_release(&lists);
	return status;
}
