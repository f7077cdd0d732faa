/* SPDX-License-Identifier: MIT */
#include "candidate/launch_work.h"
#include "candidate/build.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "family/family.h"
#include "source/host_code.h"
#include "source/source.h"

/* Makes the name of a string's macro, "DTYPE_bf16", with the string up to a colon. */
static enum status string_macro(
	const char *name, const char *string, char **macro, struct error *err)
{
	const size_t chosen = strcspn(string, ":");

	for (const char *c = string; c < string + chosen; c++)
		if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && *c != '_'))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected a name of letters, digits and _, found \"%s\"", name,
				string);
	*macro = string_format("%s_%.*s", name, (int)chosen, string);
	for (size_t i = 0; i < strlen(name); i++)
		(*macro)[i] = (char)toupper((unsigned char)(*macro)[i]);
	return STATUS_OK;
}

/* Adds NAME=value (booleans as 0 or 1) or, for a string, NAME_value=1. With AS_MACRO, the macro
 * replaces NAME, and a string is passed unchanged. Lists are refused. */
static enum status define_add(struct named_values *list, const char *name,
	const struct define_binding *binding, struct value value, struct error *err)
{
	const bool is_macro = binding->as == AS_MACRO;
	CLEANUP(memory_free) char *of_string = NULL;

	name = is_macro ? binding->macro : name;
	if (value.type == VALUE_NONE || value.type == VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number or a string, found %s", name,
			value_type_name(value.type));
	if (value.type == VALUE_BOOL)
		value = value_int(value.boolean);
	if (value.type == VALUE_STRING && is_macro && strpbrk(value.string, "\n\r\\"))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected one line of text without a backslash, found \"%s\"", name,
			value.string);
	if (value.type == VALUE_STRING && !is_macro) {
		TRY(string_macro(name, value.string, &of_string, err));
		value = value_int(1);
	}
	named_values_add(list, of_string ? of_string : name, value);
	return STATUS_OK;
}

static char *define_option(const struct named_value *define)
{
	switch (define->value.type) {
	case VALUE_INT:
		return string_format("-D%s=%" PRId64, define->name, define->value.integer);
	case VALUE_REAL:
		return string_format("-D%s=%.17g", define->name, define->value.real);
	default:
		return string_format("-D%s=%s", define->name, define->value.string);
	}
}

static int compare_defines(const void *a, const void *b)
{
	return strcmp(((const struct named_value *)a)->name, ((const struct named_value *)b)->name);
}

static void sort_defines(struct named_values *list)
{
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), compare_defines);
}

enum status operation_defines(const struct operation *operation, const struct value *values,
	struct named_values *list, struct error *err)
{
	for (size_t i = 0; i < operation->key_count; i++)
		if (operation->keys[i].is_constant)
			TRY(define_add(list, operation->keys[i].name, &operation->keys[i].binding,
				values[i], err));
	sort_defines(list);
	return STATUS_OK;
}

static enum status family_defines(const struct family *family, const struct value *values,
	struct named_values *list, struct error *err)
{
	const struct scope *scope = &family->scope;

	TRY(operation_defines(family->operation, values, list, err));
	for (size_t i = 0; i < family->parameter_count; i++) {
		const struct parameter *parameter = &family->parameters[i];
		const size_t index = scope->parameter_at + i;

		if (!parameter->is_argument && parameter->binding.as != AS_OPTION &&
			(parameter->binding.as != AS_DEFAULT ||
				!family_entries_read(family, index)))
			TRY(define_add(
				list, parameter->name, &parameter->binding, values[index], err));
	}
	for (size_t i = 0; i < family->constant_count; i++) {
		const struct constant *constant = &family->constants[i];
		const size_t index = scope->constant_at + i;

		if (!constant->is_for_model &&
			(constant->binding.as != AS_DEFAULT || !family_entries_read(family, index)))
			TRY(define_add(
				list, constant->name, &constant->binding, values[index], err));
	}
	sort_defines(list);
	return STATUS_OK;
}

struct named_values candidate_defines(const struct bound_family *bound, const struct value *values)
{
	struct named_values list = named_values_new(0);

	if (family_defines(bound->family, values, &list, NULL) == STATUS_OK)
		return list;
	named_values_release(&list);
	return named_values_new(0);
}

enum status candidate_options(const struct bound_family *bound, const struct value *values,
	struct name_set *options, struct error *err)
{
	const struct family *family = bound->family;

	for (const char **option = family->options; option && *option; option++)
		name_set_add(options, *option, strlen(*option));
	for (size_t i = 0; i < family->parameter_count; i++) {
		const struct parameter *parameter = &family->parameters[i];
		CLEANUP(memory_free) char *option = NULL;

		if (parameter->binding.as != AS_OPTION)
			continue;
		TRY(compile_option_of(parameter->name, &parameter->binding,
			values[family->scope.parameter_at + i], &option, err));
		if (option)
			name_set_add(options, option, strlen(option));
	}
	return STATUS_OK;
}

/* Options of all units; a later step adds the architecture. */
static const char *const fixed_options[] = {
	"--std=c++17", "-default-device", "-DNDEBUG", "--ptxas-options=-v", NULL};
static const char *const tile_options[] = {"--std=c++20", "-enable-tile", "-DNDEBUG", NULL};

/* Makes a unit without entries. `options` is NULL-terminated or NULL. */
static void unit_make(struct build_unit *unit, const char *name, const char *source, bool is_tile,
	char *const *options, const struct named_values *defines)
{
	const char *const *fixed = is_tile ? tile_options : fixed_options;
	size_t count = 0, given = 0;
	bool has_standard = false;

	for (; options && options[given]; given++)
		has_standard |= compile_option_is_standard(options[given]);
	*unit = (struct build_unit){.name = string_copy(name),
		.source = string_copy(source ? source : ""),
		.is_tile = is_tile};
	unit->options = memory_zeroed(
		ARRAY_COUNT(fixed_options) + given + defines->count + 1, sizeof(*unit->options));
	for (; *fixed; fixed++)
		if (!has_standard || !compile_option_is_standard(*fixed))
			unit->options[count++] = string_copy(*fixed);
	for (size_t i = 0; i < given; i++)
		unit->options[count++] = string_copy(options[i]);
	for (size_t i = 0; i < defines->count; i++)
		unit->options[count++] = define_option(&defines->items[i]);
	unit->option_count = count;
}

static void unit_add_entry(struct build_unit *unit, const char *entry)
{
	for (size_t i = 0; i < unit->entry_count; i++)
		if (strcmp(unit->entries[i], entry) == 0)
			return;
	unit->entries = memory_resize(unit->entries, unit->entry_count + 2, sizeof(*unit->entries));
	unit->entries[unit->entry_count++] = string_copy(entry);
	unit->entries[unit->entry_count] = NULL;
}

/* Returns the condition for compiling a launch, or NULL if it is always compiled. */
static const struct expression *built_when(const struct launch *launch)
{
	return launch->always_built ? NULL : launch->when;
}

/* Replaces the files of compiler controls by their full paths. */
static enum status find_controls(struct name_set *options, const char *file, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(file);

	for (char **option = options->items; option && *option; option++) {
		const char *name = compile_option_controls(*option);
		CLEANUP(memory_free) char *path = name ? path_join(folder, name) : NULL;

		if (!name)
			continue;
		if (!file_is_regular(path))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: no file \"%s\" with compiler controls", file, path);
		free(*option);
		*option = string_format("%s%s", COMPILE_OPTION_CONTROLS, path);
	}
	return STATUS_OK;
}

/* Hashes an option. For compiler controls, hashes the file's content, not its path. */
static void add_option(struct hash *hash, const char *option)
{
	const char *file = compile_option_controls(option);
	CLEANUP(text_release) struct text controls = {0};

	if (file && file_read(file, &controls, NULL) == STATUS_OK)
		hash_add(hash, controls.data, controls.length);
	else
		hash_add_string(hash, option);
}

static void add_strings(struct hash *hash, char *const *strings, size_t count)
{
	hash_add(hash, &(uint64_t){count}, sizeof(uint64_t));
	for (size_t i = 0; i < count; i++)
		hash_add_string(hash, strings[i]);
}

void build_unit_hash(const struct build_unit *unit, struct hash *hash)
{
	hash_add_string(hash, unit->source);
	hash_add(hash, &(uint64_t){unit->option_count}, sizeof(uint64_t));
	for (size_t i = 0; i < unit->option_count; i++)
		add_option(hash, unit->options[i]);
	add_strings(hash, unit->entries, unit->entry_count);
}

void build_finish(struct build *build)
{
	struct hash *whole = hash_new();

	for (size_t i = 0; i < build->unit_count; i++) {
		struct build_unit *unit = &build->units[i];
		struct hash *hash = hash_new();

		build_unit_hash(unit, hash);
		hash_finish(hash, unit->hash);
		hash_add_string(whole, unit->hash);
	}
	hash_finish(whole, build->kernel_hash);
}

enum status family_units(
	const struct family *family, const struct value *values, int *units, struct error *err)
{
	int count = 0;

	for (size_t i = 0; i < family->source_count; i++)
		units[i] = -1;
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		bool is_built;

		TRY(expression_test(built_when(launch), values, &is_built, err));
		if (is_built && units[launch->source] < 0)
			units[launch->source] = count++;
	}
	return STATUS_OK;
}

enum status candidate_build(const struct bound_family *bound, const struct value *values,
	struct build *build, struct error *err)
{
	const struct family *family = bound->family;
	CLEANUP(memory_free) int *units = memory_zeroed(family->source_count + 1, sizeof(*units));
	CLEANUP(named_values_release) struct named_values defines = {0};
	CLEANUP(name_set_release) struct name_set options = {0};
	CLEANUP(build_release) struct build made = {0};

	*build = (struct build){0};
	if (family_defines(family, values, &defines, err) != STATUS_OK)
		return error_context(err, "%s", family->file);
	if (family->program) {
		build_of_source(
			build, family->sources[0].name, family->sources[0].text, &defines, NULL);
		return STATUS_OK;
	}
	TRY(candidate_options(bound, values, &options, err));
	TRY(find_controls(&options, family->file, err));
	TRY(family_units(family, values, units, err));
	made.units = memory_zeroed(family->source_count + 1, sizeof(*made.units));
	for (size_t i = 0; i < family->source_count; i++) {
		const struct family_source *source = &family->sources[i];

		if (units[i] < 0)
			continue;
		unit_make(&made.units[units[i]], source->name, family_device_code(family, i),
			family->language == LANGUAGE_TILE, options.items, &defines);
		made.unit_count++;
	}
	for (size_t i = 0; i < family->launch_count; i++) {
		const struct launch *launch = &family->launches[i];
		bool is_built;

		CLEANUP(memory_free) char *entry = NULL;

		TRY(expression_test(built_when(launch), values, &is_built, err));
		if (!is_built)
			continue;
		TRY(entry_evaluate(&launch->entry, values, &entry, err));
		unit_add_entry(&made.units[units[launch->source]], entry);
	}
	build_finish(&made);
	*build = made;
	made = (struct build){0};
	return STATUS_OK;
}

void build_of_source(struct build *build, const char *name, const char *source,
	const struct named_values *defines, const char *entry)
{
	*build = (struct build){.units = memory_zeroed(1, sizeof(*build->units)), .unit_count = 1};
	unit_make(&build->units[0], name, source, false, NULL, defines);
	if (entry)
		unit_add_entry(&build->units[0], entry);
	build_finish(build);
}

void build_append(struct build *build, struct build *part)
{
	build->units = memory_resize(
		build->units, build->unit_count + part->unit_count + 1, sizeof(*build->units));
	memcpy(build->units + build->unit_count, part->units,
		part->unit_count * sizeof(*part->units));
	build->unit_count += part->unit_count;
	part->unit_count = 0;
}

static void unit_release(struct build_unit *unit)
{
	for (size_t i = 0; i < unit->option_count; i++)
		free(unit->options[i]);
	for (size_t i = 0; i < unit->entry_count; i++)
		free(unit->entries[i]);
	free(unit->options);
	free(unit->entries);
	free(unit->source);
	free(unit->name);
	*unit = (struct build_unit){0};
}

void build_release(struct build *build)
{
	for (size_t i = 0; i < build->unit_count; i++)
		unit_release(&build->units[i]);
	free(build->units);
	*build = (struct build){0};
}

static enum status not_found(
	const char *const *template_folders, const char *name, struct error *err)
{
	CLEANUP(text_release) struct text folders = {0};

	for (; *template_folders; template_folders++)
		text_appendf(&folders, "%s%s", folders.length ? ", " : "", *template_folders);
	error_set(err, STATUS_BAD_INPUT, "%s: this file is in none of the template folders: %s",
		name, folders.length ? folders.data : "(there are none)");
	error_hint(err, "name the folder that holds templates/ with --path DIR or TILETUNE_PATH");
	return STATUS_BAD_INPUT;
}

enum status plain_build(const char *const *template_folders, const char *name, struct build *build,
	struct error *err)
{
	const struct named_values no_defines = {0};
	CLEANUP(memory_free) char *source = NULL, *device_code = NULL;
	const char *const *folder = template_folders;

	*build = (struct build){0};
	for (; *folder; folder++) {
		CLEANUP(memory_free) char *path = path_join(*folder, name);

		if (file_exists(path))
			break;
	}
	if (!*folder)
		return not_found(template_folders, name, err);
	TRY(source_expand(*folder, name, template_folders, NULL, &source, err));
	device_code = host_code_removed(source);
	build_of_source(build, name, device_code, &no_defines, NULL);
	return STATUS_OK;
}
