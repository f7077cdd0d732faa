/* SPDX-License-Identifier: MIT */
#include "family/own_kernel.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_schema.h"
#include "family/family.h"
#include "import/draft.h"
#include "import/t1.h"

static const char format[] = "tiletune.own_kernel/1";

bool own_kernel_is_file(const char *name)
{
	return string_ends_with(name, ".json") && !directory_exists(name);
}

/* "a/Vector-add.t1.json" -> "Vector_add": a name that tuned files and -p may use. */
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

/* ---- what is not filled in ---- */
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
		json_error(at, err, "what the source does not say, filled in");
		return error_hint(err, "\"" DRAFT_MARK "\" stands in %zu places", count);
	}
	while (json_next(at, &item))
		if (count_marks(&item))
			return refuse_marks(&item, count, err);
	BUG("a mark was counted and is gone");
}

/* ---- whose a member is ---- */
static bool has_member(const struct record_slots *slots, const char *name)
{
	return record_slot_find(slots, name, 0) != SIZE_MAX;
}

static void add_names(const struct record_slots *slots, struct name_set *names)
{
	for (size_t i = 0; i < slots->count; i++) {
		const struct record_member *member = slots->items[i].member;

		if (record_is_json(member))
			name_set_add(names, member->name, strlen(member->name));
	}
}

/* "launches[0]" of the family; NULL where there is none. */
static const char *first_entry(const struct json_at *root)
{
	struct json_at launches, launch, entry;
	const char *name;

	if (!json_find(root, "launches", &launches) || json_type(&launches) != JSON_ARRAY ||
		!json_count(&launches))
		return NULL;
	launch = json_item(&launches, 0);
	return json_find(&launch, "entry", &entry) &&
			       json_get_string(&entry, &name, NULL) == STATUS_OK
		       ? name
		       : NULL;
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
	struct record_slots of_operation, of_family;
	const char *summary = first_entry(root), *name = own->name, *source;
	struct json_at member = {0};

	record_slots_fill(&operation_record, &of_operation);
	record_slots_fill(&family_record, &of_family);
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
	if (json_find(root, "source", &member) &&
		json_get_string(&member, &source, NULL) == STATUS_OK)
		own->family = stem(source);
	else
		own->family = string_copy(own->name);
	own->operation_tree = tree_new("tiletune.operation/1", summary ? summary : own->name);
	own->family_tree = tree_new("tiletune.family/1", summary ? summary : own->name);
	json_put_string(own->operation_tree, "name", own->name);
	json_put_string(own->family_tree, "operation", own->name);
	member = (struct json_at){0};
	while (json_next(root, &member)) {
		if (name_find(member.key, apart) >= 0)
			continue;
		json_put(
			has_member(&of_family, member.key) ? own->family_tree : own->operation_tree,
			member.key, json_copy(member.node));
	}
	return STATUS_OK;
}

enum status own_kernel_read(const char *path, struct json **tree, bool *is_t1, struct error *err)
{
	CLEANUP(json_release) struct json *read = NULL;
	struct json_at root;

	*tree = NULL;
	TRY(json_load(path, &read, err));
	root = json_root(read, path);
	*is_t1 = t1_is(&root);
	if (*is_t1)
		return t1_convert(&root, tree, err);
	*tree = read;
	read = NULL;
	return STATUS_OK;
}

enum status own_kernel_load(const char *path, struct own_kernel *own, struct error *err)
{
	CLEANUP(json_release) struct json *tree = NULL;
	enum status status;
	struct json_at root;
	size_t marks;

	*own = (struct own_kernel){0};
	TRY(own_kernel_read(path, &tree, &own->is_t1, err));
	own->file = string_copy(path);
	own->name = stem(path);
	root = json_root(tree, own->file);
	status = json_expect(&root, JSON_OBJECT, err);
	marks = count_marks(&root);
	if (status == STATUS_OK && marks)
		status = refuse_marks(&root, marks, err);
	if (status == STATUS_OK)
		status = split(&root, own, err);
	if (status != STATUS_OK)
		own_kernel_release(own);
	return status;
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

/* ---- schema ---- */
/* Puts the members of `from`, called so, among those of `to`. */
static void merge_object(struct json *to, const struct json *from, const char *name)
{
	const struct json_at to_root = json_root(to, ""), from_root = json_root(from, "");
	struct json_at to_at, from_at, item = {0};

	if (!json_find(&to_root, name, &to_at) || !json_find(&from_root, name, &from_at))
		BUG("a schema without %s", name);
	while (json_next(&from_at, &item))
		json_put((struct json *)to_at.node, item.key, json_copy(item.node));
}

/* The elements of both lists of this name, without those that a file need not say. */
static void merge_list(struct json *to, const struct json *from, const char *name)
{
	static const char *const known[] = {"name", "summary", "operation", NULL};
	const struct json *const schemas[] = {to, from};
	CLEANUP(name_set_release) struct name_set seen = {0};
	struct json *list = json_new_array();

	for (size_t i = 0; i < ARRAY_COUNT(schemas); i++) {
		const struct json_at root = json_root(schemas[i], "");
		struct json_at at, item = {0};
		const char *text;

		if (!json_find(&root, name, &at))
			continue;
		while (json_next(&at, &item)) {
			const bool is_text = json_get_string(&item, &text, NULL) == STATUS_OK;
			const size_t before = seen.count;

			if (is_text && name_find(text, known) >= 0)
				continue;
			if (is_text)
				name_set_add(&seen, text, strlen(text));
			if (!is_text || seen.count > before)
				json_push(list, json_copy(item.node));
		}
	}
	json_put(to, name, list);
}

struct json *own_kernel_schema(const char *title)
{
	struct json *schema = record_schema(&operation_record, title), *constant;
	CLEANUP(json_release) struct json *of_family = record_schema(&family_record, title);
	const struct json_at root = json_root(schema, "");
	struct json_at properties;

	merge_object(schema, of_family, "properties");
	merge_object(schema, of_family, "definitions");
	merge_list(schema, of_family, "required");
	merge_list(schema, of_family, "allOf");
	constant = json_new_object();
	json_put_string(constant, "const", format);
	json_find(&root, "properties", &properties);
	json_put((struct json *)properties.node, "format", constant);
	return schema;
}
