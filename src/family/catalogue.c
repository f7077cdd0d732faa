/* SPDX-License-Identifier: MIT
 *
 * A folder <template folder>/<operation> has an operation.json or further families. The first
 * folder that contains a name wins, so that a user's folder can add families.
 */
#include "family/catalogue.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

static const char folders_hint[] =
	"--path or TILETUNE_PATH names more folders, or an own kernel's file";

static bool is_operation(const char *template_folder, const char *name)
{
	CLEANUP(memory_free)
	char *path = string_format("%s/%s/operation.json", template_folder, name);

	return file_exists(path);
}

/* Lists all operations: own kernels first, then each folder in alphabetical order. */
static enum status list_operations(
	const struct catalogue *catalogue, struct name_set *operations, struct error *err)
{
	for (size_t i = 0; i < catalogue->own_count; i++)
		name_set_add(operations, catalogue->own[i].name, strlen(catalogue->own[i].name));
	for (char *const *folder = catalogue->template_folders; *folder; folder++) {
		CLEANUP(name_set_release) struct name_set entries = {0};

		TRY(directory_names(*folder, "", &entries, err));
		for (size_t i = 0; i < entries.count; i++)
			if (is_operation(*folder, entries.items[i]))
				name_set_add(
					operations, entries.items[i], strlen(entries.items[i]));
	}
	return STATUS_OK;
}

static struct own_kernel *find_own(const struct catalogue *catalogue, const char *name)
{
	for (size_t i = 0; i < catalogue->own_count; i++)
		if (strcmp(catalogue->own[i].name, name) == 0)
			return &catalogue->own[i];
	return NULL;
}

static enum status add_operation(struct catalogue *catalogue, struct json *tree, const char *file,
	const struct source_place *place, const char *name, struct error *err)
{
	catalogue->operations = memory_resize(catalogue->operations, catalogue->operation_count + 1,
		sizeof(*catalogue->operations));
	TRY(operation_load(tree, file, catalogue->without_sources ? NULL : place, name,
		(const char *const *)catalogue->template_folders,
		&catalogue->operations[catalogue->operation_count], err));
	catalogue->operation_count++;
	return STATUS_OK;
}

static enum status load_operation(struct catalogue *catalogue, const char *name, struct error *err)
{
	for (char **folder = catalogue->template_folders; *folder; folder++) {
		CLEANUP(memory_free)
		char *path = string_format("%s/%s/operation.json", *folder, name);
		const struct source_place place = {*folder, name};
		struct json *tree;

		if (!is_operation(*folder, name))
			continue;
		TRY(json_load_found(path, &tree, err));
		return add_operation(catalogue, tree, path, &place, name, err);
	}
	BUG("operation %s was listed and is gone", name);
}

static enum status add_family(struct catalogue *catalogue, struct json *tree, const char *file,
	const struct source_place *place, const char *name, const struct operation *operation,
	struct error *err)
{
	catalogue->families = memory_resize(
		catalogue->families, catalogue->family_count + 1, sizeof(*catalogue->families));
	TRY(family_load(tree, file, catalogue->without_sources ? NULL : place, name, operation,
		(const char *const *)catalogue->template_folders,
		&catalogue->families[catalogue->family_count], err));
	catalogue->family_count++;
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

static enum status load_family(struct catalogue *catalogue, const char *folder,
	const struct name_set *names, size_t index, const struct source_place *place,
	const struct operation *operation, struct error *err)
{
	const char *name = names->items[index], *base;
	CLEANUP(memory_free) char *path = string_format("%s/%s.json", folder, name);
	struct json *tree;
	enum status status;

	TRY(json_load_found(path, &tree, err));
	status = family_extend(&tree, path, folder, (const char *const *)names->items, &base, err);
	if (status != STATUS_OK) {
		json_free(tree);
		return status;
	}
	status = add_family(catalogue, tree, path, place, name, operation, err);
	if (status != STATUS_OK && base && err && !err->hint[0])
		error_hint(err, "members that the file does not have come from %s.json", base);
	return status;
}

static enum status load_families(
	struct catalogue *catalogue, const struct operation *operation, struct error *err)
{
	for (char **root = catalogue->template_folders; *root; root++) {
		CLEANUP(memory_free) char *folder = path_join(*root, operation->name);
		CLEANUP(name_set_release) struct name_set files = {0}, names = {0};
		const struct source_place place = {*root, operation->name};

		TRY(directory_names(folder, ".json", &files, err));
		for (size_t i = 0; i < files.count; i++)
			if (strcmp(files.items[i], "operation") != 0)
				name_set_add(&names, files.items[i], strlen(files.items[i]));
		for (size_t i = 0; i < names.count; i++)
			if (!has_family(catalogue, operation, names.items[i]))
				TRY(load_family(
					catalogue, folder, &names, i, &place, operation, err));
	}
	return STATUS_OK;
}

static enum status load_own(struct catalogue *catalogue, struct own_kernel *own, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(own->file);
	const struct source_place place = {folder, NULL};
	struct json *tree = own->operation_tree;

	own->operation_tree = NULL;
	TRY(add_operation(catalogue, tree, own->file, &place, own->name, err));
	tree = own->family_tree;
	own->family_tree = NULL;
	return add_family(catalogue, tree, own->file, &place, own->family,
		catalogue->operations[catalogue->operation_count - 1], err);
}

static void hint_at_operation(const char *name, const struct name_set *known, struct error *err)
{
	const int length = (int)strcspn(name, "/");

	for (size_t i = 0; i < known->count; i++)
		if (name[length] && strlen(known->items[i]) == (size_t)length &&
			strncmp(known->items[i], name, (size_t)length) == 0)
			error_hint(err, "write it as: %s --family %s", known->items[i],
				name + length + 1);
	if (string_ends_with(name, ".cu"))
		error_hint(err,
			"a kernel needs a file that describes it; draft one: tiletune new %s -o "
			"%.*s.json",
			name, (int)strlen(name) - 3, name);
}

static enum status unknown_operation(const struct catalogue *catalogue, const char *name,
	const struct name_set *known, struct error *err)
{
	CLEANUP(text_release) struct text list = {0}, folders = {0};

	for (size_t i = 0; i < known->count; i++)
		text_append_listed(&list, known->items[i]);
	for (char **folder = catalogue->template_folders; *folder; folder++)
		text_append_listed(&folders, *folder);
	error_set(err, STATUS_BAD_INPUT,
		"unknown operation \"%s\"; the template folders (%s) have: %s", name,
		folders.length ? folders.data : "there are none", list.length ? list.data : "none");
	error_hint(err, folders_hint);
	hint_at_operation(name, known, err);
	return known->count ? name_hint(name, (const char *const *)known->items, err)
			    : STATUS_BAD_INPUT;
}

static enum status load_named(struct catalogue *catalogue, const char *name,
	const struct name_set *known, struct error *err)
{
	struct own_kernel *own;

	if (known->count == 0 || name_find(name, (const char *const *)known->items) < 0)
		return unknown_operation(catalogue, name, known, err);
	own = find_own(catalogue, name);
	if (own)
		return load_own(catalogue, own, err);
	TRY(load_operation(catalogue, name, err));
	return load_families(catalogue, catalogue->operations[catalogue->operation_count - 1], err);
}

static int compare_operations(const void *a, const void *b)
{
	return strcmp((*(struct operation *const *)a)->name, (*(struct operation *const *)b)->name);
}

static int compare_families(const void *a, const void *b)
{
	return strcmp((*(struct family *const *)a)->name, (*(struct family *const *)b)->name);
}

static enum status load_all(struct catalogue *catalogue, const char *only, struct error *err)
{
	CLEANUP(name_set_release) struct name_set known = {0};

	TRY(list_operations(catalogue, &known, err));
	if (only)
		TRY(load_named(catalogue, only, &known, err));
	for (size_t i = 0; i < known.count && !only; i++)
		TRY(load_named(catalogue, known.items[i], &known, err));
	return STATUS_OK;
}

static enum status add_own(struct catalogue *catalogue, const char *file, struct error *err)
{
	struct own_kernel own;
	const struct own_kernel *other;

	for (size_t i = 0; i < catalogue->own_count; i++)
		if (strcmp(catalogue->own[i].file, file) == 0)
			return STATUS_OK;
	TRY(own_kernel_load(file, &own, err));
	other = find_own(catalogue, own.name);
	if (other) {
		error_set(err, STATUS_BAD_INPUT, "%s: %s already has the name \"%s\"", file,
			other->file, own.name);
		own_kernel_release(&own);
		return STATUS_BAD_INPUT;
	}
	catalogue->own =
		memory_resize(catalogue->own, catalogue->own_count + 1, sizeof(*catalogue->own));
	catalogue->own[catalogue->own_count++] = own;
	return STATUS_OK;
}

static enum status load_places(
	struct catalogue *catalogue, const char *const *places, const char *only, struct error *err)
{
	const bool is_file = only && own_kernel_is_file(only);
	size_t count = 0;

	if (is_file)
		TRY(add_own(catalogue, only, err));
	for (; *places; places++) {
		if (own_kernel_is_file(*places))
			TRY(add_own(catalogue, *places, err));
		else
			catalogue->template_folders[count++] = string_copy(*places);
	}
	return load_all(catalogue, is_file ? catalogue->own[0].name : only, err);
}

static enum status load_catalogue(
	const char *const *places, const char *only, struct catalogue *catalogue, struct error *err)
{
	size_t count = 0;
	enum status status;

	while (places[count])
		count++;
	catalogue->template_folders =
		memory_zeroed(count + 1, sizeof(*catalogue->template_folders));
	status = load_places(catalogue, places, only, err);
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

enum status catalogue_load(
	const char *const *places, const char *only, struct catalogue *catalogue, struct error *err)
{
	*catalogue = (struct catalogue){0};
	return load_catalogue(places, only, catalogue, err);
}

enum status catalogue_list(
	const char *const *places, const char *only, struct catalogue *catalogue, struct error *err)
{
	*catalogue = (struct catalogue){.without_sources = true};
	return load_catalogue(places, only, catalogue, err);
}

void catalogue_show_defaults(const struct catalogue *catalogue, bool shows_defaults)
{
	for (size_t i = 0; i < catalogue->operation_count; i++)
		catalogue->operations[i]->shows_defaults = shows_defaults;
}

void catalogue_release(struct catalogue *catalogue)
{
	for (size_t i = 0; i < catalogue->family_count; i++)
		family_free(catalogue->families[i]);
	for (size_t i = 0; i < catalogue->operation_count; i++)
		operation_free(catalogue->operations[i]);
	for (char **folder = catalogue->template_folders; folder && *folder; folder++)
		free(*folder);
	for (size_t i = 0; i < catalogue->own_count; i++)
		own_kernel_release(&catalogue->own[i]);
	free(catalogue->own);
	free(catalogue->families);
	free(catalogue->operations);
	free(catalogue->template_folders);
	*catalogue = (struct catalogue){0};
}

enum status catalogue_operation(const struct catalogue *catalogue, const char *name,
	const struct operation **operation, struct error *err)
{
	CLEANUP(memory_free)
	const char **names = memory_zeroed(catalogue->operation_count + 1, sizeof(*names));

	*operation = NULL;
	for (size_t i = 0; i < catalogue->operation_count; i++) {
		names[i] = catalogue->operations[i]->name;
		if (strcmp(names[i], name) == 0 ||
			strcmp(catalogue->operations[i]->file, name) == 0)
			*operation = catalogue->operations[i];
	}
	if (*operation)
		return STATUS_OK;
	name_unknown("operation", name, names, err);
	if (err && !err->hint[0])
		error_hint(err, folders_hint);
	return STATUS_BAD_INPUT;
}

enum status catalogue_family(const struct catalogue *catalogue, const struct operation *operation,
	const char *name, const struct family **family, struct error *err)
{
	bool is_full = strchr(name, '/') != NULL || !operation;
	CLEANUP(memory_free)
	const char **names = memory_zeroed(catalogue->family_count + 1, sizeof(*names));
	size_t count = 0;

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
	return *family ? STATUS_OK : name_unknown("family", name, names, err);
}

enum status catalogue_expect_families(const struct catalogue *catalogue,
	const struct operation *operation, const char *const *names, struct error *err)
{
	const struct family *family;

	for (; names && *names; names++)
		TRY(catalogue_family(catalogue, operation, *names, &family, err));
	return STATUS_OK;
}

static void list_unused(const struct own_kernel *own, struct text *unused)
{
	static const char *const filled_in[] = {"format", "name", "summary", NULL};
	const struct json_at root = json_root(own->operation_tree, own->file);
	struct json_at member = {0};

	while (unused && json_next(&root, &member))
		if (name_find(member.key, filled_in) < 0)
			text_append_listed(unused, member.key);
}

enum status catalogue_load_outside(const struct catalogue *catalogue, const char *file,
	const struct operation *operation, struct family **family, struct text *unused,
	struct error *err)
{
	CLEANUP(own_kernel_release) struct own_kernel own = {0};
	CLEANUP(memory_free) char *folder = path_parent(file);
	const struct source_place place = {folder, NULL};
	CLEANUP(json_release) struct json *tree = NULL;
	CLEANUP(memory_free) char *name = NULL;
	struct json *family_tree;
	struct json_at root;

	TRY(json_load(file, &tree, err));
	root = json_root(tree, file);
	if (json_string_of(&root, "format") &&
		strcmp(json_string_of(&root, "format"), "tiletune.family/1") == 0) {
		family_tree = tree;
		tree = NULL;
	} else {
		TRY(own_kernel_load(file, &own, err));
		list_unused(&own, unused);
		family_tree = own.family_tree;
		own.family_tree = NULL;
		json_put_string(family_tree, "operation", operation->name);
	}
	name = string_copy_bytes(path_name(file), strcspn(path_name(file), "."));
	return family_load(family_tree, file, &place, name, operation,
		(const char *const *)catalogue->template_folders, family, err);
}

static void hash_tree(struct hash *hash, const char *name, const struct json *tree)
{
	char *text = json_print(tree, false);

	hash_add_string(hash, name);
	hash_add_string(hash, text);
	free(text);
}

/* Hashes the elements of a tensor's file. Skips an unreadable file, which the run reports. */
static void hash_data(struct hash *hash, const struct operation *operation, const char *name)
{
	CLEANUP(memory_free) char *folder = path_parent(operation->file), *path = NULL;
	CLEANUP(text_release) struct text content = {0};

	if (!name || file_expect_inside(folder, name, NULL) != STATUS_OK)
		return;
	path = path_join(folder, name);
	if (file_read_regular(path, &content, NULL) == STATUS_OK)
		hash_add(hash, content.data, content.length);
}

static void hash_operation(struct hash *hash, const struct operation *operation)
{
	hash_tree(hash, operation->name, operation->tree);
	for (size_t i = 0; i < operation->references.count; i++) {
		const struct reference *reference = &operation->references.items[i];

		if (reference->source)
			hash_add_string(hash, reference->source);
		hash_data(hash, operation, reference->file);
	}
	for (size_t i = 0; i < operation->tensor_count; i++)
		hash_data(hash, operation, operation->tensors[i].file);
}

void catalogue_hash(const struct catalogue *catalogue, struct hash *hash)
{
	for (size_t i = 0; i < catalogue->operation_count; i++)
		hash_operation(hash, catalogue->operations[i]);
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];

		hash_tree(hash, family->name, family->tree);
		for (size_t k = 0; k < family->source_count; k++)
			hash_add_string(hash, family->program ? family->sources[k].text
							      : family_device_code(family, k));
	}
}
