/* SPDX-License-Identifier: MIT
 *
 * Steps of composite families: reading them, and the problems that they pose.
 */
#include "family/step.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

static enum status read_problem(const struct json_at *at, const struct name_table *names,
	struct step *step, struct error *err)
{
	struct json_at problem;

	if (json_member(at, "problem", &problem, err) != STATUS_OK ||
		json_expect(&problem, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	step->key_count = json_count(&problem);
	step->keys = memory_zeroed(step->key_count + 1, sizeof(*step->keys));
	step->values = memory_zeroed(step->key_count + 1, sizeof(*step->values));
	for (size_t i = 0; i < step->key_count; i++) {
		struct json_at item = json_item(&problem, i);

		step->keys[i] = item.key;
		if (expression_json_compile(&item, names, &step->values[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static enum status read_tensors(
	const struct json_at *at, const char *const *buffers, struct step *step, struct error *err)
{
	struct json_at tensors;

	if (!json_find(at, "tensors", &tensors))
		return STATUS_OK;
	if (json_expect(&tensors, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	step->tensor_count = json_count(&tensors);
	step->tensors = memory_zeroed(step->tensor_count + 1, sizeof(*step->tensors));
	step->buffers = memory_zeroed(step->tensor_count + 1, sizeof(*step->buffers));
	for (size_t i = 0; i < step->tensor_count; i++) {
		struct json_at item = json_item(&tensors, i);
		const char *name;
		uint32_t buffer = 0;

		step->tensors[i] = item.key;
		if (json_get_string(&item, &name, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		while (buffers[buffer] && strcmp(buffers[buffer], name) != 0)
			buffer++;
		if (!buffers[buffer])
			return json_error(&item, err, "a tensor or workspace of this family");
		step->buffers[i] = buffer;
	}
	return STATUS_OK;
}

static enum status read_step(const struct json_at *at, const struct name_table *names,
	const char *const *buffers, struct step *step, struct error *err)
{
	static const char *const keys[] = {"operation", "problem", "tensors", "help", NULL};

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member_string(at, "operation", &step->operation, err) != STATUS_OK ||
		read_problem(at, names, step, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return read_tensors(at, buffers, step, err);
}

enum status family_steps_read(const struct json_at *root, struct family *family, struct error *err)
{
	const char **buffers = family_buffer_names(family);
	struct json_at list;
	enum status status = STATUS_OK;

	json_find(root, "steps", &list);
	if (json_type(&list) != JSON_ARRAY || json_count(&list) == 0) {
		free(buffers);
		return json_error(&list, err, "a list of at least one step");
	}
	family->steps = memory_zeroed(json_count(&list), sizeof(*family->steps));
	for (size_t i = 0; i < json_count(&list) && status == STATUS_OK; i++) {
		struct json_at at = json_item(&list, i);

		status = read_step(&at, &family->operation->key_names, buffers,
			&family->steps[family->step_count++], err);
	}
	free(buffers);
	return status;
}

void step_release(struct step *step)
{
	for (size_t i = 0; i < step->key_count; i++)
		expression_free(step->values[i]);
	free(step->keys);
	free(step->values);
	free(step->tensors);
	free(step->buffers);
	*step = (struct step){0};
}

static const struct step *step_at(const struct family *family, size_t step)
{
	if (step >= family->step_count)
		BUG("step %zu of %zu", step, family->step_count);
	return &family->steps[step];
}

size_t family_step_count(const struct family *family)
{
	return family->step_count;
}

const char *family_step_operation(const struct family *family, size_t step)
{
	return step_at(family, step)->operation;
}

const char *family_step_tensor(const struct family *family, size_t step, const char *tensor)
{
	const struct step *found = step_at(family, step);
	size_t tensors = family->operation->tensor_count;

	for (size_t i = 0; i < found->tensor_count; i++) {
		uint32_t buffer = found->buffers[i];

		if (strcmp(found->tensors[i], tensor) == 0)
			return buffer < tensors ? family->operation->tensors[buffer].name
						: family->workspaces[buffer - tensors].name;
	}
	return NULL;
}

/* Puts one value of the step's problem where the step's operation has that key. */
static enum status set_value(const struct family *family, const struct operation *operation,
	const struct step *step, size_t index, const struct problem *problem, struct value *values,
	bool *given, struct error *err)
{
	int key = name_table_find(&operation->key_names, step->keys[index]);

	if (key == NAME_UNKNOWN)
		return error_set(err, STATUS_BAD_INPUT, "%s: expected keys of %s, found \"%s\"",
			family->file, operation->name, step->keys[index]);
	given[key] = true;
	return expression_evaluate(step->values[index], problem->values, NULL, &values[key], err);
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
	for (size_t i = 0; i < found->key_count && status == STATUS_OK; i++)
		status = set_value(family, operation, found, i, problem, values, given, err);
	if (status == STATUS_OK)
		status = problem_complete(operation, values, given, step_problem, err);
	if (status != STATUS_OK)
		error_context(err, "%s: $.steps[%zu].problem", family->file, step);
	free(values);
	free(given);
	return status;
}
