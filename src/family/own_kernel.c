/* SPDX-License-Identifier: MIT */
#include "family/own_kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "family/family.h"
#include "source/draft.h"

static const char format[] = "tiletune.own_kernel/1";

bool own_kernel_is_file(const char *name)
{
	return string_ends_with(name, ".json") && !directory_exists(name);
}

/* Returns "Vector_add" for "a/Vector-add.t1.json", a valid name for tuned files and -p. */
static char *stem(const char *path)
{
	const char *name = path_name(path);
	const int length = (int)strcspn(name, ".");
	char *made =
		string_format("%s%.*s", isdigit((unsigned char)*name) ? "_" : "", length, name);

	for (char *c = made; *c; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	return made;
}

/* ---- marks that were not replaced ---- */
static size_t count_marks(const struct json_at *at)
{
	struct json_at item = {0};
	const char *text;
	size_t count = 0;

	if (json_get_string(at, &text, NULL) == STATUS_OK)
		return strcmp(text, DRAFT_MARK) == 0;
	while (json_next(at, &item))
		count += count_marks(&item);
	return count;
}

static enum status refuse_marks(const struct json_at *at, size_t count, struct error *err)
{
	struct json_at item = {0};

	if (json_type(at) == JSON_STRING) {
		json_invalid(at, err, "replace \"" DRAFT_MARK "\" by a value");
		return error_hint(err, "the draft has %zu places with \"" DRAFT_MARK "\"", count);
	}
	while (json_next(at, &item))
		if (count_marks(&item))
			return refuse_marks(&item, count, err);
	BUG("a mark was counted and is gone");
}

static void add_names(const struct record_fields *fields, struct name_set *names)
{
	for (size_t i = 0; i < fields->count; i++) {
		const struct record_member *member = fields->items[i].member;

		if (!(member->flags & RECORD_NOT_JSON))
			name_set_add(names, member->name, strlen(member->name));
	}
}

static const char *first_entry(const struct json_at *root)
{
	struct json_at launches, launch;

	if (!json_find(root, "launches", &launches) || json_type(&launches) != JSON_ARRAY ||
		!json_count(&launches))
		return NULL;
	launch = json_item(&launches, 0);
	return json_string_of(&launch, "entry");
}

static struct json *tree_new(const char *tree_format, const char *summary)
{
	struct json *tree = json_new_object();

	json_put_string(tree, "format", tree_format);
	json_put_string(tree, "summary", summary);
	return tree;
}

static enum status split(const struct json_at *root, struct own_kernel *own, struct error *err)
{
	static const char *const apart[] = {"format", "name", "summary", NULL};
	CLEANUP(name_set_release) struct name_set names = {0};
	struct record_fields of_operation, of_family;
	const char *summary = first_entry(root), *name = own->name, *source;
	struct json_at member = {0};

	record_fields_fill(&operation_record, &of_operation);
	record_fields_fill(&family_record, &of_family);
	add_names(&of_operation, &names);
	add_names(&of_family, &names);
	TRY(json_expect_keys(root, (const char *const *)names.items, err));
	TRY(json_expect_format(root, format, err));
	if (json_find(root, "name", &member)) {
		TRY(json_get_string(&member, &name, err));
		free(own->name);
		own->name = string_copy(name);
	}
	if (json_find(root, "summary", &member))
		TRY(json_get_string(&member, &summary, err));
	source = json_string_of(root, "source");
	own->family = source ? stem(source) : string_copy(own->name);
	own->operation_tree = tree_new("tiletune.operation/1", summary ? summary : own->name);
	own->family_tree = tree_new("tiletune.family/1", summary ? summary : own->name);
	json_put_string(own->operation_tree, "name", own->name);
	json_put_string(own->family_tree, "operation", own->name);
	member = (struct json_at){0};
	while (json_next(root, &member)) {
		if (name_find(member.key, apart) >= 0)
			continue;
		json_put(record_field_find(&of_family, member.key, 0) != SIZE_MAX
				 ? own->family_tree
				 : own->operation_tree,
			member.key, json_copy(member.node));
	}
	return STATUS_OK;
}

/* Returns whether this is an input file of Kernel Tuner or KTT (T1,
 * github.com/odgaard/TuningSchema). */
static bool is_t1(const struct json_at *root)
{
	struct json_at member;

	return json_type(root) == JSON_OBJECT && json_find(root, "KernelSpecification", &member) &&
	       json_find(root, "ConfigurationSpace", &member);
}

enum status own_kernel_refuse_t1(const struct json_at *root, struct error *err)
{
	const char *file = root->file;
	const int stem = (int)strcspn(path_name(file), ".");

	if (!is_t1(root))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: this is a T1 file, not \"format\": \"%s\"", file,
		format);
	return error_hint(err, "convert it: python3 -m tiletune.t1 %s -o %.*s%s.json", file,
		(int)(path_name(file) - file) + stem, file,
		strcmp(path_name(file) + stem, ".json") == 0 ? ".tiletune" : "");
}

enum status own_kernel_refuse(const char *path, struct error *err)
{
	CLEANUP(json_release) struct json *tree = NULL;
	struct json_at root;

	if (!own_kernel_is_file(path))
		return STATUS_OK;
	TRY(json_load(path, &tree, err));
	root = json_root(tree, path);
	TRY(own_kernel_refuse_t1(&root, err));
	error_set(err, STATUS_BAD_INPUT, "%s: this is a JSON file, not a CUDA source", path);
	return error_hint(err, "to check it: tiletune validate %s", path);
}

/* Refuses another file of tiletune, a frequent mistake. */
static enum status refuse_other_format(const struct json_at *root, struct error *err)
{
	static const struct {
		const char *format, *what, *command;
	} others[] = {
		{"tiletune.tuned/", "a tuned file", "check"},
		{"tiletune.suite/", "a suite", "tune --suite"},
		{"tiletune.device/", "a device sheet", "validate"},
	};
	const char *found;

	if (json_member_string(root, "format", &found, NULL) != STATUS_OK)
		return STATUS_OK;
	for (size_t i = 0; i < ARRAY_COUNT(others); i++)
		if (string_starts_with(found, others[i].format)) {
			error_set(err, STATUS_BAD_INPUT, "%s: this is %s, not a kernel", root->file,
				others[i].what);
			return error_hint(err,
				"to use it: tiletune %s %s; to tune, name a kernel's JSON or an "
				"operation",
				others[i].command, root->file);
		}
	return STATUS_OK;
}

enum status own_kernel_load(const char *path, struct own_kernel *own, struct error *err)
{
	CLEANUP(json_release) struct json *tree = NULL;
	CLEANUP(own_kernel_release) struct own_kernel made = {0};
	struct json_at root;
	size_t marks;

	TRY(json_load(path, &tree, err));
	made.file = string_copy(path);
	made.name = stem(path);
	root = json_root(tree, made.file);
	TRY(own_kernel_refuse_t1(&root, err));
	TRY(json_expect(&root, JSON_OBJECT, err));
	TRY(refuse_other_format(&root, err));
	marks = count_marks(&root);
	if (marks)
		return refuse_marks(&root, marks, err);
	TRY(split(&root, &made, err));
	*own = made;
	made = (struct own_kernel){0};
	return STATUS_OK;
}

void own_kernel_release(struct own_kernel *own)
{
	free(own->file);
	free(own->name);
	free(own->family);
	json_free(own->operation_tree);
	json_free(own->family_tree);
	*own = (struct own_kernel){0};
}
