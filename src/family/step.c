/* SPDX-License-Identifier: MIT */
#include "family/step.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/catalogue.h"

static const struct record_member value_members[] = {
	RECORD_VALUE(struct step_value, key, "key", ""),
	RECORD_CUSTOM(struct step_value, expression, &expression_keys_member, "", ""),
};
static RECORD_DEFINE(struct step_value, value_record, value_members, .name = "step_value");

static const struct record_member tensor_members[] = {
	RECORD_VALUE(struct step_tensor, name, "tensor", ""),
	RECORD_CUSTOM(struct step_tensor, buffer, &buffer_member, "", ""),
};
static RECORD_DEFINE(struct step_tensor, tensor_item_record, tensor_members, .name = "step_tensor");

static const struct record_member step_members[] = {
	RECORD_VALUE(struct step, operation, "operation", ""),
	RECORD_MAP(struct step, values, value_count, value_record, "problem",
		"its keys, over the keys of this operation"),
	RECORD_MAP(struct step, tensors, tensor_count, tensor_item_record, "tensors",
		"its tensors: tensors or workspaces of this family", .flags = RECORD_OPTIONAL),
	RECORD_COMMENT("help", ""),
};
RECORD_DEFINE(struct step, step_record, step_members, .name = "step");

static const struct step *step_at(const struct family *family, size_t step)
{
	if (step >= family->step_count)
		BUG("step %zu of %zu", step, family->step_count);
	return &family->steps[step];
}

const char *family_step_tensor(const struct family *family, size_t step, const char *tensor)
{
	const struct step *found = step_at(family, step);
	size_t tensors = family->operation->tensor_count;

	for (size_t i = 0; i < found->tensor_count; i++) {
		uint32_t buffer = found->tensors[i].buffer;

		if (strcmp(found->tensors[i].name, tensor) == 0)
			return buffer < tensors ? family->operation->tensors[buffer].name
						: family->workspaces[buffer - tensors].name;
	}
	return NULL;
}

/* Puts one value of the step's problem where the step's operation has that key. */
static enum status set_value(const struct family *family, const struct operation *operation,
	const struct step_value *value, const struct problem *problem, struct value *values,
	bool *given, struct error *err)
{
	int key = name_table_find(&operation->key_names, value->key);

	if (key == NAME_UNKNOWN)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected keys of %s, found \"%s\"",
			family->file, operation->name, value->key);
	given[key] = true;
	return expression_evaluate(value->expression, problem->values, NULL, &values[key], err);
}

enum status family_step_problem(const struct catalogue *catalogue, const struct family *family,
	size_t step, const struct problem *problem, struct problem **step_problem,
	struct error *err)
{
	const struct step *found = step_at(family, step);
	const struct operation *operation;
	struct value *values;
	bool *given;
	enum status status = catalogue_operation(catalogue, found->operation, &operation, err);

	*step_problem = NULL;
	if (status != STATUS_OK)
		return error_context(err, "%s: $.steps[%zu].operation", family->file, step);
	values = memory_zeroed(operation->key_count, sizeof(*values));
	given = memory_zeroed(operation->key_count, sizeof(*given));
	for (size_t i = 0; i < found->value_count && status == STATUS_OK; i++)
		status = set_value(
			family, operation, &found->values[i], problem, values, given, err);
	if (status == STATUS_OK)
		status = problem_complete(operation, values, given, step_problem, err);
	if (status != STATUS_OK)
		error_context(err, "%s: $.steps[%zu].problem", family->file, step);
	free(values);
	free(given);
	return status;
}
