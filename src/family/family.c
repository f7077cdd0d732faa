/* SPDX-License-Identifier: MIT
 *
 * Loading a family.
 */
#include "family/family.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/source.h"

static const char *const keys[] = {"format", "operation", "name", "summary", "source", "requires",
	"parameters", "defaults", "constants", "constraints", "prune", "workspaces", "tensor_maps",
	"launches", "steps", "examples", "help", NULL};

static enum status read_head(
	const struct json_at *root, const char *name, struct family *family, struct error *err)
{
	const struct operation *operation = family->operation;
	struct json_at at;
	const char *text;

	if (json_expect_keys(root, keys, err) != STATUS_OK ||
		json_expect_format(root, "tiletune.family/1", err) != STATUS_OK ||
		json_member(root, "operation", &at, err) != STATUS_OK ||
		json_get_string(&at, &text, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (strcmp(text, operation->name) != 0)
		return json_error(&at, err, "\"%s\" as the folder is named", operation->name);
	if (json_find(root, "name", &at)) {
		if (json_get_string(&at, &text, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
		if (strcmp(text, name) != 0)
			return json_error(&at, err, "\"%s\" as the file is named", name);
	}
	family->name = string_format("%s/%s", operation->name, name);
	return json_member_string(root, "summary", &family->summary, err);
}

static enum status read_requires(
	const struct json_at *root, struct family *family, struct error *err)
{
	struct name_table names =
		scope_table(&family->scope, SCOPE_PLAIN, family->scope.parameter_at, NULL);
	struct json_at at;
	enum status status = STATUS_OK;

	if (json_find(root, "requires", &at))
		status = expression_json_list(
			root, "requires", 0, 1000, &names, &family->requires, err);
	name_table_release(&names);
	return status;
}

static enum status read_prune(const struct json_at *root, struct family *family, struct error *err)
{
	struct name_table names = scope_table(&family->scope, SCOPE_PRUNE, SIZE_MAX, NULL);
	enum status status = condition_json_list(root, "prune", &names, &family->prune, err);

	name_table_release(&names);
	return status;
}

/* A composite family has steps and nothing that a kernel needs. */
static enum status read_composite(
	const struct json_at *root, struct family *family, struct error *err)
{
	static const char *const others[] = {"source", "parameters", "defaults", "constraints",
		"prune", "tensor_maps", "launches"};
	struct json_at at;

	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		if (json_find(root, others[i], &at))
			return json_error(&at, err, "no \"%s\" in a family of steps", others[i]);
	if (family_buffers_read(root, family, err) != STATUS_OK ||
		family_steps_read(root, family, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return family_facts_read(family, err);
}

static enum status read_root(
	const struct json_at *root, const char *name, struct family *family, struct error *err)
{
	const struct name_table *key_names = &family->operation->key_names;
	struct json_at at;

	scope_init(&family->scope, key_names->names, key_names->count);
	if (read_head(root, name, family, err) != STATUS_OK ||
		family_parameters_read(root, family, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	family->names = scope_table(&family->scope, SCOPE_PLAIN, SIZE_MAX, NULL);
	if (read_requires(root, family, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(root, "steps", &at)) {
		if (read_composite(root, family, err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	} else if (condition_json_list(root, "constraints", &family->names, &family->constraints,
			   err) != STATUS_OK ||
		   read_prune(root, family, err) != STATUS_OK ||
		   family_buffers_read(root, family, err) != STATUS_OK ||
		   family_launches_read(root, family, err) != STATUS_OK ||
		   family_facts_read(family, err) != STATUS_OK ||
		   family_rules_read(family, err) != STATUS_OK) {
		return STATUS_BAD_INPUT;
	}
	return family_examples_read(root, family, err);
}

enum status family_from_json(struct json *tree, const char *file, const char *name,
	const struct operation *operation, struct family **family, struct error *err)
{
	struct family *made = memory_zeroed(1, sizeof(*made));
	struct json_at root;

	made->tree = tree;
	made->file = string_copy(file);
	made->operation = operation;
	root = json_root(tree, made->file);
	*family = NULL;
	if (read_root(&root, name, made, err) != STATUS_OK) {
		family_free(made);
		return STATUS_BAD_INPUT;
	}
	*family = made;
	return STATUS_OK;
}

/* Expands "source" of the family and of its launches; each distinct one once. */
static enum status load_sources(struct family *family, const char *folder,
	const char *const *template_folders, struct error *err)
{
	struct json_at root = json_root(family->tree, family->file), launches, at;

	if (family->step_count)
		return STATUS_OK;
	json_find(&root, "launches", &launches);
	for (size_t i = 0; i < family->launch_count; i++) {
		struct json_at launch = json_item(&launches, i);
		struct family_source *source = &family->sources[family->launches[i].source];
		enum status status;

		if (source->text)
			continue;
		if (!json_find(&launch, "source", &at))
			json_find(&root, "source", &at);
		free(source->name);
		source->name = NULL;
		status = source_json_load(
			&at, folder, template_folders, &source->name, &source->text, err);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status family_load(const char *folder, const char *name, const struct operation *operation,
	const char *const *template_folders, struct family **family, struct error *err)
{
	char *path = string_format("%s/%s.json", folder, name);
	struct json *tree = NULL;
	enum status status = json_load(path, &tree, err);

	*family = NULL;
	if (status == STATUS_OK)
		status = family_from_json(tree, path, name, operation, family, err);
	if (status == STATUS_OK)
		status = load_sources(*family, folder, template_folders, err);
	if (status != STATUS_OK) {
		family_free(*family);
		*family = NULL;
	}
	free(path);
	return status;
}

const char **family_buffer_names(const struct family *family)
{
	size_t tensors = family->operation->tensor_count;
	const char **names = memory_zeroed(tensors + family->workspace_count + 1, sizeof(*names));

	for (size_t i = 0; i < tensors; i++)
		names[i] = family->operation->tensors[i].name;
	for (size_t i = 0; i < family->workspace_count; i++)
		names[tensors + i] = family->workspaces[i].name;
	return names;
}

const char *family_name(const struct family *family)
{
	return family->name;
}

const char *family_summary(const struct family *family)
{
	return family->summary;
}

const struct operation *family_operation(const struct family *family)
{
	return family->operation;
}

bool family_is_composite(const struct family *family)
{
	return family->step_count > 0;
}
