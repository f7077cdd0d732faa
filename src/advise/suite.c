/* SPDX-License-Identifier: MIT */
#include "advise/suite.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "record/record_read.h"
#include "tune/budget.h"

static char *find_file(const char *name, const char *const *roots)
{
	char *path;

	if (file_exists(name))
		return string_copy(name);
	for (; *roots; roots++) {
		path = string_format("%s/configs/suites/%s%s", *roots, name,
			string_ends_with(name, ".json") ? "" : ".json");
		if (file_is_regular(path))
			return path;
		free(path);
	}
	return NULL;
}

static enum status not_found(const char *name, const char *const *roots, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = {0};
	CLEANUP(text_release) struct text list = {0};

	for (; *roots; roots++) {
		CLEANUP(memory_free) char *folder = string_format("%s/configs/suites", *roots);

		directory_names(folder, ".json", &names, NULL);
	}
	for (size_t i = 0; i < names.count; i++)
		text_append_listed(&list, names.items[i]);
	error_set(err, STATUS_BAD_INPUT,
		"suite \"%s\": there is no such file and no suite of this name", name);
	return names.count ? error_hint(err, "known suites: %s", text_string(&list))
			   : STATUS_BAD_INPUT;
}

static bool is_effort(const char *text)
{
	return effort_find(text) != NULL;
}

static const struct record_rule effort_rule = {
	.expected = "one of \"estimate\", \"quick\", \"thorough\", \"exhaustive\"",
	.accepts = is_effort};
static const struct record_rule problem_rule = {.expected = "a problem"},
				family_rule = {.expected = "a family"},
				operation_rule = {.expected = "an operation"};

static const struct record_member suite_members[] = {
	RECORD_CONSTANT("format", "tiletune.suite/1"),
	RECORD_COMMENT("name"),
	RECORD_COMMENT("summary"),
	RECORD_VALUE(struct suite, operation, "operation", .rule = &operation_rule),
	RECORD_STRINGS(struct suite, problems, "problems", .count_min = 1, .rule = &problem_rule),
	RECORD_VALUE(struct suite, where, "where", .flags = RECORD_OPTIONAL),
	RECORD_STRINGS(
		struct suite, families, "families", .flags = RECORD_OPTIONAL, .rule = &family_rule),
	RECORD_VALUE(
		struct suite, effort, "effort", .flags = RECORD_OPTIONAL, .rule = &effort_rule),
};
RECORD_DEFINE(struct suite, suite_record, suite_members, .name = "suite");

enum status suite_parse(
	const struct text *content, const char *path, struct suite *suite, struct error *err)
{
	struct json_at root;

	*suite = (struct suite){.file = string_copy(path)};
	TRY(json_parse(text_string(content), content->length, path, &suite->root, err));
	root = json_root(suite->root, suite->file);
	TRY(json_expect_format(&root, "tiletune.suite/1", err));
	return record_from_json(&suite_record, &root, suite, NULL, err);
}

enum status suite_load(
	const char *name, const char *const *roots, struct suite *suite, struct error *err)
{
	CLEANUP(memory_free) char *path = find_file(name, roots);
	CLEANUP(text_release) struct text content = {0};

	*suite = (struct suite){0};
	if (!path)
		return not_found(name, roots, err);
	TRY(file_read(path, &content, err));
	return suite_parse(&content, path, suite, err);
}

void suite_release(struct suite *suite)
{
	record_release(&suite_record, suite);
	json_free(suite->root);
	free(suite->file);
	*suite = (struct suite){0};
}
