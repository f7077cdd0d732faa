/* SPDX-License-Identifier: MIT */
#include "candidate/bound_family.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/bound_model.h"
#include "candidate/composite.h"
#include "family/family.h"
#include "family/operation.h"

/* FLOP per second of all tensor cores, for the operation's key "dtype"; 0 where it has none. */
static struct value tensor_flop_per_s(
	const struct problem *problem, const struct device_spec *device, enum pipe pipe)
{
	for (size_t i = 0; i < problem->operation->key_count; i++) {
		int dtype;

		if (strcmp(problem->operation->keys[i].name, "dtype") != 0 ||
			problem->values[i].type != VALUE_STRING)
			continue;
		dtype = dtype_find(problem->values[i].string);
		if (dtype >= 0)
			return value_real(device->rate[pipe][dtype] * (double)device->sm_count *
					  device->tensor_clock_hz);
	}
	return value_real(0);
}

static void set_rates(const struct scope *scope, const struct problem *problem,
	const struct device_spec *device, struct value *values)
{
	values[scope_extra_slot(scope, EXTRA_DRAM_BYTES_PER_S)] =
		value_real(device->dram_bytes_per_s);
	values[scope_extra_slot(scope, EXTRA_L2_BYTES_PER_S)] =
		value_real(device->l2_bytes_per_clock * device->clock_hz);
	values[scope_extra_slot(scope, EXTRA_TENSOR_MMA_FLOP_PER_S)] =
		tensor_flop_per_s(problem, device, PIPE_TENSOR_MMA);
	values[scope_extra_slot(scope, EXTRA_TENSOR_WGMMA_FLOP_PER_S)] =
		tensor_flop_per_s(problem, device, PIPE_TENSOR_WGMMA);
	values[scope_extra_slot(scope, EXTRA_LAUNCH_US)] = value_real(device->launch_us);
}

/* Values of the fixed slots: keys, device names, extras: rates, and 0 for what only some contexts
 * set and read. */
static struct value *fixed_values(const struct family *family, const struct problem *problem,
	const struct device_spec *device)
{
	const struct scope *scope = &family->scope;
	struct value *values = memory_zeroed(scope->parameter_at, sizeof(*values));

	if (problem->operation != family->operation)
		BUG("a problem of %s bound to %s", problem->operation->name, family->name);
	for (size_t i = 0; i < scope->device_at; i++)
		values[i] = problem->values[i];
	for (size_t i = scope->device_at; i < scope->extra_at; i++)
		values[i] = device_spec_value(device, i - scope->device_at);
	for (size_t i = scope->extra_at; i < scope->parameter_at; i++)
		values[i] = value_int(0);
	set_rates(scope, problem, device, values);
	return values;
}

enum status family_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, bool *applies, struct text *why_not, struct error *err)
{
	struct value *values = fixed_values(family, problem, device);
	enum status status = STATUS_OK;

	*applies = true;
	for (size_t i = 0; i < family->requires.count && status == STATUS_OK && *applies; i++) {
		status = expression_test(family->requires.items[i], values, applies, err);
		if (status == STATUS_OK && !*applies && why_not)
			text_append(why_not, expression_text(family->requires.items[i]));
	}
	free(values);
	return status;
}

static enum status add_fixed(struct space *space, const struct scope *scope, struct error *err)
{
	for (size_t i = 0; i < scope->parameter_at; i++) {
		const char *name =
			i < scope->extra_at
				? scope->names[i]
				: scope_hidden_name((enum scope_extra)(i - scope->extra_at));
		enum status status = space_add_fixed(space, name, err);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status build_space(
	const struct family *family, const char *where, struct space *space, struct error *err)
{
	enum status status = add_fixed(space, &family->scope, err);

	for (size_t i = 0; i < family->parameter_count && status == STATUS_OK; i++) {
		const struct expression *values = family->parameters[i].values;

		status = space_add_parameter(space, family->parameters[i].name,
			expression_text(values), expression_where(values), err);
	}
	for (size_t i = 0; i < family->constant_count && status == STATUS_OK; i++) {
		const struct expression *expression = family->constants[i].expression;

		status = space_add_derived(space, family->constants[i].name,
			expression_text(expression), expression_where(expression), err);
	}
	for (size_t i = 0; i < family->constraints.count && status == STATUS_OK; i++) {
		const struct condition *condition = &family->constraints.items[i];

		status = space_add_constraint(space, expression_text(condition->expression),
			condition->why, expression_where(condition->expression), err);
	}
	if (status == STATUS_OK && where)
		status = space_add_constraint(space, where, "asked for by --where", "--where", err);
	return status;
}

enum status family_bind(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct error *err)
{
	struct bound_family *made = memory_zeroed(1, sizeof(*made));
	struct value *fixed = fixed_values(family, problem, device);
	enum status status;

	*made = (struct bound_family){
		.family = family, .problem = problem, .device = device, .space = space_new()};
	status = build_space(family, where, made->space, err);
	if (status == STATUS_OK)
		status = space_bind(made->space, fixed, err);
	if (status == STATUS_OK)
		status = bound_model_new(family, problem, fixed, &made->model, err);
	free(fixed);
	if (status != STATUS_OK) {
		bound_family_free(made);
		made = NULL;
	}
	*bound = made;
	return status;
}

enum status family_bind_if_applies(const struct family *family, const struct problem *problem,
	const struct device_spec *device, const char *where, struct bound_family **bound,
	struct text *left_out, struct error *err)
{
	struct text why = {0};
	bool applies = false;
	enum status status = family_applies(family, problem, device, &applies, &why, err);

	*bound = NULL;
	if (status == STATUS_OK && applies)
		status = family_bind(family, problem, device, where, bound, err);
	else if (status == STATUS_OK && left_out)
		text_appendf(
			left_out, "%s does not apply: needs %s\n", family->name, text_string(&why));
	text_release(&why);
	return status;
}

enum status family_bind_applicable(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct bound_family **bound, struct error *err)
{
	struct text left_out = {0};
	enum status status =
		family_bind_if_applies(family, problem, device, NULL, bound, &left_out, err);

	if (status == STATUS_OK && !*bound)
		status = error_set(
			err, STATUS_BAD_INPUT, "%.*s", (int)left_out.length - 1, left_out.data);
	text_release(&left_out);
	return status;
}

void bound_family_free(struct bound_family *bound)
{
	if (!bound)
		return;
	composite_free(bound->composite);
	bound_model_free(bound->model);
	space_free(bound->space);
	free(bound);
}
