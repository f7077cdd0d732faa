/* SPDX-License-Identifier: MIT
 *
 * Finding sheets by name: files under <folder>/devices, and the one that is built in.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "spec/device_spec.h"
#include "spec/embedded.h"

static const char embedded_file[] = "built-in device sheet";

static enum status load_embedded(struct device_spec **spec, struct error *err)
{
	return device_spec_parse(
		device_spec_default_json, device_spec_default_json_size, embedded_file, spec, err);
}

/* <folder>/devices/<name>.json; the caller frees it. */
static char *sheet_path(const char *folder, const char *name)
{
	return string_format("%s/devices/%s.json", folder, name);
}

static enum status load_file(
	const char *path, const char *name, struct device_spec **spec, struct error *err)
{
	struct text content = {0};
	enum status status = file_read(path, &content, err);

	if (status == STATUS_OK)
		status = device_spec_parse(text_string(&content), content.length, path, spec, err);
	text_release(&content);
	if (status == STATUS_OK && strcmp((*spec)->name, name) != 0) {
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: $.name: expected \"%s\" as the file is named, found \"%s\"", path,
			name, (*spec)->name);
		device_spec_free(*spec);
		*spec = NULL;
	}
	return status;
}

struct name_set {
	char **names;
	size_t count, capacity;
};

static void name_set_add(struct name_set *set, const char *name, size_t length)
{
	for (size_t i = 0; i < set->count; i++)
		if (strlen(set->names[i]) == length && strncmp(set->names[i], name, length) == 0)
			return;
	ARRAY_GROW(set->names, set->count + 1, set->capacity);
	set->names[set->count++] = string_copy_bytes(name, length);
	set->names[set->count] = NULL;
}

static enum status visit_sheet(const char *name, void *context, struct error *err)
{
	(void)err;
	if (string_ends_with(name, ".json") && name[0] != '.')
		name_set_add(context, name, strlen(name) - strlen(".json"));
	return STATUS_OK;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **device_spec_names(const char *const *config_folders)
{
	struct name_set set = {.names = memory_zeroed(1, sizeof(char *)), .capacity = 1};
	struct device_spec *embedded;

	for (; config_folders && *config_folders; config_folders++) {
		char *folder = path_join(*config_folders, "devices");

		if (directory_exists(folder))
			directory_list(folder, visit_sheet, &set, NULL);
		free(folder);
	}
	if (load_embedded(&embedded, NULL) == STATUS_OK) {
		name_set_add(&set, embedded->name, strlen(embedded->name));
		device_spec_free(embedded);
	}
	qsort(set.names, set.count, sizeof(*set.names), compare_names);
	return set.names;
}

static enum status not_found(const char *name, const char *const *config_folders, struct error *err)
{
	char **names = device_spec_names(config_folders);
	const char *nearest = name_nearest(name, (const char *const *)names);
	struct text known = {0};

	for (size_t i = 0; names[i]; i++)
		text_appendf(&known, "%s%s", i ? ", " : "", names[i]);
	error_set(err, STATUS_BAD_INPUT, "device sheet: expected one of %s, found \"%s\"",
		text_string(&known), name);
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	else
		error_hint(
			err, "a sheet is a file devices/%s.json in a configuration folder", name);
	text_release(&known);
	for (size_t i = 0; names[i]; i++)
		free(names[i]);
	free(names);
	return STATUS_BAD_INPUT;
}

enum status device_spec_load(const char *name, const char *const *config_folders,
	struct device_spec **spec, struct error *err)
{
	enum status status;

	*spec = NULL;
	if (!name || !*name)
		return load_embedded(spec, err);
	for (size_t i = 0; config_folders && config_folders[i] && !strchr(name, '/'); i++) {
		char *path = sheet_path(config_folders[i], name);
		bool exists = file_exists(path);

		status = exists ? load_file(path, name, spec, err) : STATUS_OK;
		free(path);
		if (exists)
			return status;
	}
	status = load_embedded(spec, err);
	if (status != STATUS_OK || strcmp((*spec)->name, name) == 0)
		return status;
	device_spec_free(*spec);
	*spec = NULL;
	return not_found(name, config_folders, err);
}
