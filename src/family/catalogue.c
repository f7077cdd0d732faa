/* SPDX-License-Identifier: MIT
 *
 * The catalogue: which operations and families the template folders hold.
 *
 * <template folder>/<operation>/operation.json describes an operation; every other .json beside it,
 * in any template folder, is a family of it. The first folder that has a name wins, so that a
 * user's folder may add families to an operation that it does not describe.
 */
#include "family/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static enum status visit_entry(const char *name, void *context, struct error *err)
{
	(void)err;
	if (name[0] != '.')
		name_set_add(context, name, strlen(name));
	return STATUS_OK;
}

static enum status visit_family(const char *name, void *context, struct error *err)
{
	(void)err;
	if (name[0] != '.' && string_ends_with(name, ".json") &&
		strcmp(name, "operation.json") != 0)
		name_set_add(context, name, strlen(name) - strlen(".json"));
	return STATUS_OK;
}

/* <template folder>/<operation> has an operation.json. */
static bool is_operation(const char *template_folder, const char *name)
{
	char *path = string_format("%s/%s/operation.json", template_folder, name);
	bool is = file_exists(path);

	free(path);
	return is;
}

/* Names of all operations, in alphabetical order within a folder. */
static enum status list_operations(
	char *const *template_folders, struct name_set *operations, struct error *err)
{
	for (; *template_folders; template_folders++) {
		struct name_set entries = {0};
		enum status status = STATUS_OK;

		if (directory_exists(*template_folders))
			status = directory_list(*template_folders, visit_entry, &entries, err);
		for (size_t i = 0; i < entries.count && status == STATUS_OK; i++)
			if (is_operation(*template_folders, entries.items[i]))
				name_set_add(
					operations, entries.items[i], strlen(entries.items[i]));
		name_set_release(&entries);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status load_operation(struct catalogue *catalogue, const char *name, struct error *err)
{
	for (char **folder = catalogue->template_folders; *folder; folder++) {
		struct operation *operation;
		enum status status;
		char *path;

		if (!is_operation(*folder, name))
			continue;
		path = path_join(*folder, name);
		status = operation_load(path, name,
			(const char *const *)catalogue->template_folders, &operation, err);
		free(path);
		if (status != STATUS_OK)
			return status;
		catalogue->operations = memory_resize(catalogue->operations,
			catalogue->operation_count + 1, sizeof(*catalogue->operations));
		catalogue->operations[catalogue->operation_count++] = operation;
		return STATUS_OK;
	}
	BUG("operation %s was listed and is gone", name);
}

static enum status load_family(struct catalogue *catalogue, const char *folder, const char *name,
	const struct operation *operation, struct error *err)
{
	struct family *family;
	enum status status = family_load(folder, name, operation,
		(const char *const *)catalogue->template_folders, &family, err);

	if (status != STATUS_OK)
		return status;
	catalogue->families = memory_resize(
		catalogue->families, catalogue->family_count + 1, sizeof(*catalogue->families));
	catalogue->families[catalogue->family_count++] = family;
	return STATUS_OK;
}

static bool has_family(
	const struct catalogue *catalogue, const struct operation *operation, const char *name)
{
	for (size_t i = 0; i < catalogue->family_count; i++)
		if (catalogue->families[i]->operation == operation &&
			strcmp(strchr(catalogue->families[i]->name, '/') + 1, name) == 0)
			return true;
	return false;
}

static enum status load_families(
	struct catalogue *catalogue, const struct operation *operation, struct error *err)
{
	enum status status = STATUS_OK;

	for (char **root = catalogue->template_folders; *root && status == STATUS_OK; root++) {
		char *folder = path_join(*root, operation->name);
		struct name_set names = {0};

		if (directory_exists(folder))
			status = directory_list(folder, visit_family, &names, err);
		for (size_t i = 0; i < names.count && status == STATUS_OK; i++)
			if (!has_family(catalogue, operation, names.items[i]))
				status = load_family(
					catalogue, folder, names.items[i], operation, err);
		name_set_release(&names);
		free(folder);
	}
	return status;
}

static enum status unknown_operation(const struct catalogue *catalogue, const char *name,
	const struct name_set *known, struct error *err)
{
	static const char *const nothing[] = {NULL};
	const char *nearest =
		name_nearest(name, known->count ? (const char *const *)known->items : nothing);
	struct text list = {0}, folders = {0};

	for (size_t i = 0; i < known->count; i++)
		text_appendf(&list, "%s%s", i ? ", " : "", known->items[i]);
	for (char **folder = catalogue->template_folders; *folder; folder++)
		text_appendf(&folders, "%s%s", folders.length ? ", " : "", *folder);
	error_set(err, STATUS_BAD_INPUT,
		"operation: expected one of those in %s (%s), found \"%s\"",
		folders.length ? folders.data : "no folder", list.length ? list.data : "none",
		name);
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	else
		error_hint(err, "--path DIR or TILETUNE_PATH names more folders");
	text_release(&list);
	text_release(&folders);
	return STATUS_BAD_INPUT;
}

/* Loads an operation and its families, if it is not there yet. */
static enum status load_named(struct catalogue *catalogue, const char *name,
	const struct name_set *known, struct error *err)
{
	enum status status;

	for (size_t i = 0; i < catalogue->operation_count; i++)
		if (strcmp(catalogue->operations[i]->name, name) == 0)
			return STATUS_OK;
	if (known->count == 0 || name_find(name, (const char *const *)known->items) < 0)
		return unknown_operation(catalogue, name, known, err);
	status = load_operation(catalogue, name, err);
	if (status == STATUS_OK)
		status = load_families(
			catalogue, catalogue->operations[catalogue->operation_count - 1], err);
	return status;
}

/* Operations that steps of composite families name; more families may come in while we look. */
static enum status load_steps(
	struct catalogue *catalogue, const struct name_set *known, struct error *err)
{
	for (size_t i = 0; i < catalogue->family_count; i++) {
		for (size_t k = 0; k < catalogue->families[i]->step_count; k++) {
			const struct family *family = catalogue->families[i];

			if (load_named(catalogue, family->steps[k].operation, known, err) !=
				STATUS_OK)
				return error_context(
					err, "%s: $.steps[%zu].operation", family->file, k);
		}
	}
	return STATUS_OK;
}

static int compare_operations(const void *a, const void *b)
{
	return strcmp((*(struct operation *const *)a)->name, (*(struct operation *const *)b)->name);
}

static int compare_families(const void *a, const void *b)
{
	return strcmp((*(struct family *const *)a)->name, (*(struct family *const *)b)->name);
}

enum status catalogue_load(const char *const *template_folders, const char *only,
	struct catalogue *catalogue, struct error *err)
{
	struct name_set known = {0};
	size_t folder_count = 0;
	enum status status;

	*catalogue = (struct catalogue){0};
	while (template_folders[folder_count])
		folder_count++;
	catalogue->template_folders =
		memory_zeroed(folder_count + 1, sizeof(*catalogue->template_folders));
	for (size_t i = 0; i < folder_count; i++)
		catalogue->template_folders[i] = string_copy(template_folders[i]);
	status = list_operations(catalogue->template_folders, &known, err);
	if (status == STATUS_OK && only)
		status = load_named(catalogue, only, &known, err);
	for (size_t i = 0; i < known.count && status == STATUS_OK && !only; i++)
		status = load_named(catalogue, known.items[i], &known, err);
	if (status == STATUS_OK)
		status = load_steps(catalogue, &known, err);
	name_set_release(&known);
	if (status != STATUS_OK) {
		catalogue_release(catalogue);
		return status;
	}
	if (catalogue->operation_count)
		qsort(catalogue->operations, catalogue->operation_count,
			sizeof(*catalogue->operations), compare_operations);
	if (catalogue->family_count)
		qsort(catalogue->families, catalogue->family_count, sizeof(*catalogue->families),
			compare_families);
	return STATUS_OK;
}

void catalogue_release(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->family_count; i++)
		family_free(catalogue->families[i]);
	for (size_t i = 0; i < catalogue->operation_count; i++)
		operation_free(catalogue->operations[i]);
	for (char **folder = catalogue->template_folders; folder && *folder; folder++)
		free(*folder);
	free(catalogue->families);
	free(catalogue->operations);
	free(catalogue->template_folders);
	*catalogue = (struct catalogue){0};
}

enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err)
{
	const char **names = memory_zeroed(catalogue->operation_count + 1, sizeof(*names));
	enum status status = STATUS_OK;

	*operation = NULL;
	for (size_t i = 0; i < catalogue->operation_count; i++) {
		names[i] = catalogue->operations[i]->name;
		if (strcmp(names[i], name) == 0)
			*operation = catalogue->operations[i];
	}
	if (!*operation)
		status = name_unknown("operation", name, names, err);
	free(names);
	return status;
}

enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err)
{
	bool is_full = strchr(name, '/') != NULL || !operation;
	const char **names = memory_zeroed(catalogue->family_count + 1, sizeof(*names));
	size_t count = 0;
	enum status status = STATUS_OK;

	*family = NULL;
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *one = catalogue->families[i];
		const char *known = is_full ? one->name : strchr(one->name, '/') + 1;

		if (operation && one->operation != operation)
			continue;
		names[count++] = known;
		if (strcmp(known, name) == 0)
			*family = one;
	}
	if (!*family)
		status = name_unknown("family", name, names, err);
	free(names);
	return status;
}

static void hash_tree(struct hash *hash, const char *name, const struct json *tree)
{
	char *text = json_print(tree, false);

	hash_add_string(hash, name);
	hash_add_string(hash, text);
	free(text);
}

void catalogue_hash(const struct catalogue *catalogue, struct hash *hash)
{
	for (size_t i = 0; i < catalogue->operation_count; i++) {
		const struct operation *operation = catalogue->operations[i];

		hash_tree(hash, operation->name, operation->tree);
		hash_add_string(hash, operation->reference.source);
	}
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];

		hash_tree(hash, family->name, family->tree);
		for (size_t k = 0; k < family->source_count; k++)
			hash_add_string(hash, family->sources[k].text);
	}
}
