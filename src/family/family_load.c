/* SPDX-License-Identifier: MIT
 *
 * A family with "extends": "NAME" inherits all members that its JSON does not state from NAME.json
 * in the same folder.
 */
#include "family/family.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "source/definitions.h"
#include "source/host_code.h"
#include "source/source.h"
#include "source/words.h"

/* ---- members of the base ---- */
/* Members that are merged by name. Any other member comes from the family if present, else from the
 * base. */
static const struct joined {
	const char *name;
	const char *key;   /* for lists: the member that names an item */
	bool is_new_first; /* for objects: new names precede the names of the base */
} joined_members[] = {
	{.name = "parameters", .is_new_first = true},
	{.name = "defaults"},
	{.name = "constants"}, /* new constants follow, because they may read constants of the base
				*/
	{.name = "symbols"},
	{.name = "constraints", .key = "why"},
	{.name = "prune", .key = "why"},
	{.name = "workspaces", .key = "name"},
	{.name = "tensor_maps", .key = "name"},
	{.name = "launches", .key = "entry"},
};

static void put_all(struct json *into, const struct json_at *from, const struct json_at *unless)
{
	struct json_at item = {0}, other;

	while (json_next(from, &item))
		if (!unless || !json_find(unless, item.key, &other))
			json_put(into, item.key, json_copy(item.node));
}

/* Merges two objects. Names of the base keep their order. */
static struct json *join_objects(
	const struct json_at *base, const struct json_at *own, bool is_new_first)
{
	struct json *made = json_new_object();

	if (is_new_first)
		put_all(made, own, base);
	put_all(made, base, NULL);
	put_all(made, own, NULL);
	return made;
}

static bool find_same(const struct json_at *item, const char *key, const struct json_at *list,
	struct json_at *found)
{
	const char *name = json_string_of(item, key), *other;

	*found = (struct json_at){0};
	while (name && json_next(list, found)) {
		other = json_string_of(found, key);
		if (other && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

/* Adds the members of the base's item that `own` omits. For a launch, also completes its model. */
static struct json *family_load_complete(const struct json_at *base, const struct json_at *own)
{
	struct json *made = join_objects(base, own, false);
	struct json_at base_model, own_model;

	if (json_find(base, "model", &base_model) && json_find(own, "model", &own_model) &&
		json_type(&base_model) == JSON_OBJECT && json_type(&own_model) == JSON_OBJECT)
		json_put(made, "model", join_objects(&base_model, &own_model, false));
	return made;
}

/* Returns the family's items, then the base's items with other names. */
static struct json *join_lists(
	const struct json_at *base, const struct json_at *own, const struct joined *how)
{
	struct json *made = json_new_array();
	struct json_at item = {0}, other;

	while (json_next(own, &item))
		json_push(made, find_same(&item, how->key, base, &other)
					? family_load_complete(&other, &item)
					: json_copy(item.node));
	item = (struct json_at){0};
	while (json_next(base, &item))
		if (!find_same(&item, how->key, own, &other))
			json_push(made, json_copy(item.node));
	return made;
}

static struct json *join_member(const struct json_at *base, const struct json_at *own)
{
	for (size_t i = 0; i < ARRAY_COUNT(joined_members); i++) {
		const struct joined *how = &joined_members[i];

		if (strcmp(how->name, own->key) != 0 ||
			json_type(base) != (how->key ? JSON_ARRAY : JSON_OBJECT) ||
			json_type(own) != json_type(base))
			continue;
		return how->key ? join_lists(base, own, how)
				: join_objects(base, own, how->is_new_first);
	}
	return json_copy(own->node);
}

static struct json *join(const struct json_at *base, const struct json_at *own)
{
	/* members that are not inherited */
	static const char *const not_taken[] = {
		"format", "operation", "name", "summary", "help", "examples", NULL};
	struct json *made = json_new_object();
	struct json_at item = {0}, other;

	while (json_next(base, &item))
		if (name_find(item.key, not_taken) < 0)
			json_put(made, item.key, json_copy(item.node));
	item = (struct json_at){0};
	while (json_next(own, &item))
		if (strcmp(item.key, "extends") != 0)
			json_put(made, item.key,
				json_find(base, item.key, &other) ? join_member(&other, &item)
								  : json_copy(item.node));
	return made;
}

enum status family_extend(struct json **tree, const char *file, const char *folder,
	const char *const *names, const char **base, struct error *err)
{
	const struct json_at own = json_root(*tree, file);
	CLEANUP(json_release) struct json *base_tree = NULL;
	CLEANUP(memory_free) char *path = NULL;
	struct json_at at, root, other;
	const char *name;
	struct json *made;
	int found;

	*base = NULL;
	if (!json_find(&own, "extends", &at))
		return STATUS_OK;
	TRY(json_get_string(&at, &name, err));
	found = name_find(name, names);
	if (found < 0) {
		json_error(&at, err, "the name of a family in the same folder");
		return name_hint(name, names, err);
	}
	path = string_format("%s/%s.json", folder, name);
	TRY(json_load(path, &base_tree, err));
	root = json_root(base_tree, path);
	TRY(json_expect_format(&root, "tiletune.family/1", err));
	if (json_find(&root, "extends", &other))
		return json_error(&at, err, "a family that does not itself extend another");
	made = join(&root, &own);
	json_free(*tree);
	*tree = made;
	*base = names[found];
	return STATUS_OK;
}

static bool is_in_folder(const char *path, const char *folder)
{
	CLEANUP(memory_free) char *real = realpath(path, NULL), *top = realpath(folder, NULL);

	return file_is_below(path, folder) || (real && top && strcmp(real, top) == 0);
}

/* Allows only paths whose files compiler messages may reveal. */
static bool is_allowed_path(const char *path, const char *root, const char *const *template_folders)
{
	const char *const toolkits[] = {
		getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};

	if (is_in_folder(path, root))
		return true;
	for (size_t i = 0; i < ARRAY_COUNT(toolkits); i++)
		if (toolkits[i] && is_in_folder(path, toolkits[i]))
			return true;
	for (; template_folders && *template_folders; template_folders++) {
		CLEANUP(memory_free) char *top = path_parent(*template_folders);

		if (is_in_folder(path, top))
			return true;
	}
	return false;
}

/* Adds the folders of the include paths to `paths`, and refuses other folders. */
static enum status include_paths(const struct json_at *root, const struct family *family,
	const struct source_place *place, const char *const *template_folders,
	struct name_set *paths, struct error *err)
{
	struct json_at list, item;

	for (size_t i = 0; family->include_paths && family->include_paths[i]; i++) {
		CLEANUP(memory_free)
		char *path = place->folder
				     ? include_normalized(place->folder, family->include_paths[i])
				     : string_copy(family->include_paths[i]);
		CLEANUP(memory_free) char *folder = path ? path_join(place->root, path) : NULL;

		if (folder &&
			(place->folder || is_allowed_path(folder, place->root, template_folders))) {
			name_set_add(paths, folder, strlen(folder));
			continue;
		}
		json_find(root, "include_paths", &list);
		item = json_item(&list, i);
		if (!folder)
			return json_error(&item, err, "a folder below the templates folder");
		json_error(&item, err, "a folder below the folder of this JSON file");
		return error_hint(err, "allow this folder with --path %s", folder);
	}
	return STATUS_OK;
}

/* ---- macros for the compiler ---- */
bool family_entries_read(const struct family *family, size_t index)
{
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct expression_list *read = &family->launches[i].entry.values;

		for (size_t k = 0; k < read->count; k++) {
			size_t count;
			const int *indices = expression_indices(read->items[k], &count);

			for (size_t j = 0; j < count; j++)
				if ((size_t)indices[j] == index)
					return true;
		}
	}
	return false;
}

static const char *macro_name(const char *name, const struct define_binding *binding)
{
	return binding->as == AS_MACRO ? binding->macro : name;
}

/* Returns whether entries read the value, so that it is not passed as a macro. */
static bool is_for_entries(
	const struct family *family, const struct define_binding *binding, size_t index)
{
	return binding->as == AS_DEFAULT && family_entries_read(family, index);
}

const char *family_device_code(const struct family *family, size_t source)
{
	struct family_source *made = &family->sources[source];
	CLEANUP(name_set_release) struct name_set macros = {0};
	struct text text = {0};

	if (made->device_code || !made->text)
		return made->device_code;
	for (size_t i = 0; i < family->parameter_count; i++) {
		const struct parameter *parameter = &family->parameters[i];
		const char *macro = macro_name(parameter->name, &parameter->binding);

		if (!parameter->is_argument && !is_for_entries(family, &parameter->binding,
						       family->scope.parameter_at + i))
			name_set_add(&macros, macro, strlen(macro));
	}
	for (size_t i = 0; i < family->constant_count; i++) {
		const struct constant *constant = &family->constants[i];
		const char *macro = macro_name(constant->name, &constant->binding);

		if (!constant->is_for_model &&
			!is_for_entries(family, &constant->binding, family->scope.constant_at + i))
			name_set_add(&macros, macro, strlen(macro));
	}
	text_append(&text, made->text);
	host_code_blank(&text);
	definitions_blank(&text, &macros);
	made->device_code = text_detach(&text);
	return made->device_code;
}

bool family_reads_macro(const struct family *family, const char *macro)
{
	const size_t length = strlen(macro);
	CLEANUP(memory_free) char *of_string = string_format("%s_", macro);

	for (char *c = of_string; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	for (size_t i = 0; i < family->source_count; i++)
		for (const char *c = family_device_code(family, i); c && *c;) {
			const size_t word = text_word_length(c);

			if (text_word_is(c, word, macro) ||
				(word > length && string_starts_with(c, of_string)))
				return true;
			c += word ? word : 1;
		}
	return false;
}

/* Passes parameters that no source reads as arguments. As -D, each value would be compiled
 * separately, and the macro could replace a word in a header. */
static void pass_unread_as_arguments(struct family *family)
{
	const struct scope *scope = &family->scope;

	for (size_t i = 0; i < family->parameter_count; i++) {
		struct parameter *parameter = &family->parameters[i];

		parameter->is_argument |= parameter->binding.as == AS_DEFAULT &&
					  !family_entries_read(family, scope->parameter_at + i) &&
					  !family_reads_macro(family, parameter->name);
	}
	for (size_t i = 0; i < family->constant_count; i++) {
		struct constant *constant = &family->constants[i];

		constant->is_for_model |= constant->binding.as == AS_DEFAULT &&
					  !family_entries_read(family, scope->constant_at + i) &&
					  !family_reads_macro(family, constant->name);
	}
	for (size_t i = 0; i < family->launch_count; i++)
		launch_find_built(&family->launches[i], family);
}

enum status family_load_sources(struct family *family, const struct source_place *place,
	const char *const *template_folders, struct error *err)
{
	struct json_at root = json_root(family->tree, family->file), launches, at;
	CLEANUP(name_set_release) struct name_set paths = {0};

	if (family->program) {
		family->sources = memory_zeroed(1, sizeof(*family->sources));
		family->source_count = 1;
		family->sources[0].name = string_copy(family->program[0]);
		return source_of_command(
			family->file, family->program, &family->sources[0].text, err);
	}
	TRY(include_paths(&root, family, place, template_folders, &paths, err));
	json_find(&root, "launches", &launches);
	for (size_t i = 0; i < family->launch_count; i++) {
		struct json_at launch = json_item(&launches, i);
		struct family_source *source = &family->sources[family->launches[i].source];

		if (source->text)
			continue;
		if (!json_find(&launch, "source", &at))
			json_find(&root, "source", &at);
		free(source->name);
		source->name = NULL;
		TRY(source_json_load(&at, place, template_folders, (const char *const *)paths.items,
			&source->name, &source->text, err));
	}
	if (!place->folder)
		pass_unread_as_arguments(family);
	return STATUS_OK;
}
