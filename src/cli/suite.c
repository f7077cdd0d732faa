/* SPDX-License-Identifier: MIT */
#include "cli/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/command.h"

static char *find_file(const char *name, char *const *roots)
{
	char *path;

	if (file_exists(name))
		return string_copy(name);
	for (; *roots; roots++) {
		path = string_format("%s/configs/suites/%s%s", *roots, name,
			string_ends_with(name, ".json") ? "" : ".json");
		if (file_exists(path))
			return path;
		free(path);
	}
	return NULL;
}

/* Every name once: several roots may hold the same suites. */
static enum status add_name(const char *name, void *context, struct error *err)
{
	struct string_list *names = context;
	char *stem;
	bool known = false;

	(void)err;
	if (!string_ends_with(name, ".json"))
		return STATUS_OK;
	stem = string_format("%.*s", (int)(strlen(name) - strlen(".json")), name);
	for (size_t i = 0; i < names->count && !known; i++)
		known = strcmp(names->items[i], stem) == 0;
	if (known)
		free(stem);
	else
		string_list_add(names, stem); /* freed with the list, in not_found() */
	return STATUS_OK;
}

static enum status not_found(const char *name, char *const *roots, struct error *err)
{
	struct string_list list = {0};
	struct text names = {0};

	for (; *roots; roots++) {
		char *folder = string_format("%s/configs/suites", *roots);

		if (directory_exists(folder))
			directory_list(folder, add_name, &list, NULL);
		free(folder);
	}
	for (size_t i = 0; i < list.count; i++)
		text_appendf(&names, "%s%s", i ? ", " : "", list.items[i]);
	for (size_t i = 0; i < list.count; i++)
		free((void *)(uintptr_t)list.items[i]);
	string_list_release(&list);
	error_set(err, STATUS_BAD_INPUT,
		"suite \"%s\": expected a file, or a name under configs/suites, found neither",
		name);
	if (names.data)
		error_hint(err, "there are: %s", names.data);
	text_release(&names);
	return STATUS_BAD_INPUT;
}

static enum status read_strings(
	const struct json_at *object, const char *key, const char ***strings, struct error *err)
{
	struct json_at list;

	*strings = memory_zeroed(1, sizeof(**strings));
	if (!json_find(object, key, &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	free(*strings);
	*strings = memory_zeroed(json_count(&list) + 1, sizeof(**strings));
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at item = json_item(&list, i);

		if (json_get_string(&item, &(*strings)[i], err) != STATUS_OK)
			return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static enum status read_suite(struct suite *suite, struct error *err)
{
	static const char *const keys[] = {"format", "name", "summary", "operation", "problems",
		"where", "families", "effort", NULL};
	struct json_at root = json_root(suite->root, suite->file), at;

	if (json_expect_keys(&root, keys, err) != STATUS_OK ||
		json_expect_format(&root, "tiletune.suite/1", err) != STATUS_OK ||
		json_member_string(&root, "operation", &suite->operation, err) != STATUS_OK ||
		json_member(&root, "problems", &at, err) != STATUS_OK ||
		read_strings(&root, "problems", &suite->problems, err) != STATUS_OK ||
		read_strings(&root, "families", &suite->families, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(&root, "where", &at) && json_get_string(&at, &suite->where, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (json_find(&root, "effort", &at) &&
		json_get_string(&at, &suite->effort, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return STATUS_OK;
}

enum status suite_load(const char *name, char *const *roots, struct suite *suite, struct error *err)
{
	enum status status;

	*suite = (struct suite){0};
	suite->file = find_file(name, roots);
	if (!suite->file)
		return not_found(name, roots, err);
	status = json_load(suite->file, &suite->root, err);
	if (status == STATUS_OK)
		status = read_suite(suite, err);
	if (status != STATUS_OK)
		suite_release(suite);
	return status;
}

void suite_release(struct suite *suite)
{
	json_free(suite->root);
	free(suite->file);
	free(suite->problems);
	free(suite->families);
	*suite = (struct suite){0};
}
