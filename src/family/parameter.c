/* SPDX-License-Identifier: MIT
 *
 * Reading "parameters", "defaults" and "constants" of a family into its scope.
 */
#include "family/parameter.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"
#include "space/space.h"

/* A name that nothing else has: other families' and operations' names do not matter. */
static enum status check_free(
	const struct json_at *at, const struct family *family, struct error *err)
{
	const struct operation *operation = family->operation;

	if (name_json_check(at, at->key, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (scope_find(&family->scope, at->key) >= 0)
		return json_error(
			at, err, "a name that no key, device name, parameter or constant has");
	for (size_t i = 0; i < operation->tensor_count; i++)
		if (strcmp(operation->tensors[i].name, at->key) == 0)
			return json_error(at, err, "a name that no tensor has");
	return STATUS_OK;
}

static enum status read_as(const struct json_at *at, struct parameter *parameter, struct error *err)
{
	struct json_at as;
	const char *name;

	if (!json_find(at, "as", &as))
		return STATUS_OK;
	if (json_get_string(&as, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	parameter->is_argument = strcmp(name, "argument") == 0;
	if (!parameter->is_argument && strcmp(name, "constant") != 0)
		return json_error(&as, err, "\"argument\" or \"constant\"");
	return STATUS_OK;
}

static enum status read_parameter(const struct json_at *at, const struct name_table *fixed,
	struct parameter *parameter, struct error *err)
{
	static const char *const keys[] = {"values", "as", "help", NULL};
	struct json_at help;

	parameter->name = at->key;
	parameter->help = "";
	if (json_type(at) != JSON_OBJECT)
		return expression_json_compile(at, fixed, &parameter->values, err);
	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		read_as(at, parameter, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(at, "help", &help) &&
		json_get_string(&help, &parameter->help, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member(at, "values", fixed, &parameter->values, err);
}

/* The default may read what stands before it in the scope. */
static enum status read_default(const struct json_at *defaults, struct family *family,
	struct parameter *parameter, struct error *err)
{
	struct name_table before =
		scope_table(&family->scope, SCOPE_PLAIN, family->scope.count, NULL);
	enum status status = expression_json_member(
		defaults, parameter->name, &before, &parameter->default_value, err);

	name_table_release(&before);
	return status;
}

static enum status read_parameters(
	const struct json_at *root, struct family *family, struct error *err)
{
	struct json_at parameters, defaults;
	struct name_table fixed;
	enum status status = STATUS_OK;

	if (!json_find(root, "parameters", &parameters))
		return STATUS_OK;
	if (json_expect(&parameters, JSON_OBJECT, err) != STATUS_OK ||
		json_member(root, "defaults", &defaults, err) != STATUS_OK ||
		json_expect(&defaults, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_count(&parameters) > SPACE_PARAMETERS_MAX)
		return json_error(&parameters, err, "at most %d parameters", SPACE_PARAMETERS_MAX);
	family->parameters =
		memory_zeroed(json_count(&parameters) + 1, sizeof(*family->parameters));
	fixed = scope_table(&family->scope, SCOPE_PLAIN, SIZE_MAX, NULL);
	for (size_t i = 0; i < json_count(&parameters) && status == STATUS_OK; i++) {
		struct json_at at = json_item(&parameters, i);
		struct parameter *parameter = &family->parameters[family->parameter_count++];

		status = check_free(&at, family, err);
		if (status == STATUS_OK)
			status = read_parameter(&at, &fixed, parameter, err);
		if (status == STATUS_OK)
			status = read_default(&defaults, family, parameter, err);
		if (status == STATUS_OK)
			scope_add(&family->scope, parameter->name);
	}
	name_table_release(&fixed);
	return status;
}

static enum status check_defaults(
	const struct json_at *root, const struct family *family, struct error *err)
{
	const char **names = memory_zeroed(family->parameter_count + 1, sizeof(*names));
	struct json_at defaults;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < family->parameter_count; i++)
		names[i] = family->parameters[i].name;
	if (json_find(root, "defaults", &defaults))
		status = json_expect_keys(&defaults, names, err);
	free(names);
	return status;
}

/* An expression, or {"value", "as": "model", "help"}: one that the kernel is not built with. */
static enum status read_constant(const struct json_at *at, const struct name_table *before,
	struct constant *constant, struct error *err)
{
	static const char *const keys[] = {"value", "as", "help", NULL};
	struct json_at as, help;
	const char *text;

	constant->name = at->key;
	if (json_type(at) != JSON_OBJECT)
		return expression_json_compile(at, before, &constant->expression, err);
	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "as", &as, err) != STATUS_OK ||
		json_get_string(&as, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(text, "model") != 0)
		return json_error(&as, err, "\"model\"");
	if (json_find(at, "help", &help) && json_get_string(&help, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	constant->is_for_model = true;
	return expression_json_member(at, "value", before, &constant->expression, err);
}

static enum status read_constants(
	const struct json_at *root, struct family *family, struct error *err)
{
	struct json_at constants;

	family->scope.constant_at = family->scope.count;
	if (!json_find(root, "constants", &constants))
		return STATUS_OK;
	if (json_expect(&constants, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	family->constants = memory_zeroed(json_count(&constants) + 1, sizeof(*family->constants));
	for (size_t i = 0; i < json_count(&constants); i++) {
		struct json_at at = json_item(&constants, i);
		struct constant *constant = &family->constants[family->constant_count++];
		struct name_table before;
		enum status status;

		if (check_free(&at, family, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		before = scope_table(&family->scope, SCOPE_PLAIN, family->scope.count, NULL);
		status = read_constant(&at, &before, constant, err);
		name_table_release(&before);
		if (status != STATUS_OK)
			return status;
		scope_add(&family->scope, constant->name);
	}
	return STATUS_OK;
}

enum status family_parameters_read(
	const struct json_at *root, struct family *family, struct error *err)
{
	if (read_parameters(root, family, err) != STATUS_OK ||
		check_defaults(root, family, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return read_constants(root, family, err);
}
