/* SPDX-License-Identifier: MIT
 *
 * Loading an operation.
 */
#include "family/operation.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/source.h"

static const char *const keys[] = {"format", "name", "summary", "keys", "constraints", "tensors",
	"flop", "min_bytes", "reference", "tolerance", "facts", "rules", "advise", "help", NULL};

static enum status read_tensors(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	struct json_at tensors;
	size_t outputs = 0;

	if (json_member(root, "tensors", &tensors, err) != STATUS_OK ||
		json_expect(&tensors, JSON_OBJECT, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	operation->tensor_count = json_count(&tensors);
	operation->tensors =
		memory_zeroed(operation->tensor_count + 1, sizeof(*operation->tensors));
	for (size_t i = 0; i < operation->tensor_count; i++) {
		struct json_at at = json_item(&tensors, i);

		if (tensor_read(&at, &operation->key_names, &operation->tensors[i], err) !=
			STATUS_OK)
			return STATUS_BAD_INPUT;
		if (name_table_find(&operation->key_names, at.key) != NAME_UNKNOWN)
			return json_error(&at, err, "a name that is not a key's");
		if (operation->tensors[i].is_output) {
			operation->output = i;
			outputs++;
		}
	}
	if (outputs != 1)
		return json_error(&tensors, err, "exactly one tensor of role \"out\"");
	return STATUS_OK;
}

static enum status read_tolerance(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	static const char *const tolerance_keys[] = {"abs", "rel", "why", NULL};
	const struct name_table *names = &operation->key_names;
	struct json_at at;

	if (json_member(root, "tolerance", &at, err) != STATUS_OK ||
		json_expect_keys(&at, tolerance_keys, err) != STATUS_OK ||
		expression_json_member(&at, "abs", names, &operation->tolerance_abs, err) !=
			STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member(&at, "rel", names, &operation->tolerance_rel, err);
}

static enum status read_reference(
	const struct json_at *root, struct operation *operation, struct error *err)
{
	const char **tensors = memory_zeroed(operation->tensor_count + 1, sizeof(*tensors));
	struct json_at at;
	enum status status = json_member(root, "reference", &at, err);

	for (size_t i = 0; i < operation->tensor_count; i++)
		tensors[i] = operation->tensors[i].name;
	if (status == STATUS_OK)
		status = reference_read(
			&at, &operation->key_names, tensors, &operation->reference, err);
	free(tensors);
	return status;
}

static enum status read_root(const struct json_at *root, const char *name,
	struct operation *operation, struct error *err)
{
	const struct name_table *names = &operation->key_names;
	struct json_at at;

	if (json_expect_keys(root, keys, err) != STATUS_OK ||
		json_expect_format(root, "tiletune.operation/1", err) != STATUS_OK ||
		json_member(root, "name", &at, err) != STATUS_OK ||
		json_get_string(&at, &operation->name, err) != STATUS_OK ||
		name_json_check(&at, operation->name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (name && strcmp(operation->name, name) != 0)
		return json_error(&at, err, "\"%s\" as the folder is named", name);
	if (json_member_string(root, "summary", &operation->summary, err) != STATUS_OK ||
		operation_keys_read(root, operation, err) != STATUS_OK ||
		condition_json_list(root, "constraints", names, &operation->constraints, err) !=
			STATUS_OK ||
		read_tensors(root, operation, err) != STATUS_OK ||
		expression_json_member(root, "flop", names, &operation->flop, err) != STATUS_OK ||
		expression_json_member(root, "min_bytes", names, &operation->min_bytes, err) !=
			STATUS_OK ||
		read_reference(root, operation, err) != STATUS_OK ||
		read_tolerance(root, operation, err) != STATUS_OK ||
		operation_advice_read(root, operation, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return operation_notes_check(root, err);
}

enum status operation_from_json(struct json *tree, const char *file, const char *name,
	struct operation **operation, struct error *err)
{
	struct operation *made = memory_zeroed(1, sizeof(*made));
	struct json_at root;

	made->tree = tree;
	made->file = string_copy(file);
	root = json_root(tree, made->file);
	*operation = NULL;
	if (read_root(&root, name, made, err) != STATUS_OK) {
		operation_free(made);
		return STATUS_BAD_INPUT;
	}
	*operation = made;
	return STATUS_OK;
}

enum status operation_load(const char *folder, const char *name,
	const char *const *template_folders, struct operation **operation, struct error *err)
{
	char *path = string_format("%s/operation.json", folder);
	struct json *tree = NULL;
	enum status status = json_load(path, &tree, err);

	*operation = NULL;
	if (status == STATUS_OK)
		status = operation_from_json(tree, path, name, operation, err);
	if (status == STATUS_OK) {
		struct reference *reference = &(*operation)->reference;
		struct json_at root = json_root(tree, path), at, source;

		json_find(&root, "reference", &at);
		status = json_member(&at, "source", &source, err);
		if (status == STATUS_OK)
			status = source_json_load(&source, folder, template_folders,
				&reference->source_name, &reference->source, err);
		if (status != STATUS_OK) {
			operation_free(*operation);
			*operation = NULL;
		}
	}
	free(path);
	return status;
}

void operation_free(struct operation *operation)
{
	if (!operation)
		return;
	for (size_t i = 0; i < operation->key_count; i++)
		key_release(&operation->keys[i]);
	free(operation->keys);
	for (size_t i = 0; i < operation->tensor_count; i++)
		tensor_release(&operation->tensors[i]);
	free(operation->tensors);
	name_table_release(&operation->key_names);
	free(operation->default_order);
	condition_list_release(&operation->constraints);
	expression_free(operation->flop);
	expression_free(operation->min_bytes);
	expression_free(operation->tolerance_abs);
	expression_free(operation->tolerance_rel);
	reference_release(&operation->reference);
	advice_list_release(&operation->advice);
	json_free(operation->tree);
	free(operation->file);
	free(operation);
}

const char *operation_name(const struct operation *operation)
{
	return operation->name;
}

const char *operation_summary(const struct operation *operation)
{
	return operation->summary;
}

size_t operation_key_count(const struct operation *operation)
{
	return operation->key_count;
}

const char *operation_key_name(const struct operation *operation, size_t key)
{
	if (key >= operation->key_count)
		BUG("key %zu of %zu", key, operation->key_count);
	return operation->keys[key].name;
}
