/* SPDX-License-Identifier: MIT
 *
 * tiletune families: operations, their keys, families and parameters.
 */
#include <stdio.h>

#include "base/memory.h"
#include "record/record_write.h"
#include "cli/common.h"

struct families_options {
	struct common_options common;
};

#define AT(member) offsetof(struct families_options, member)

static const struct option families_option_table[] = {
	COMMON_OPTIONS,
	{0},
};

/* What each takes, where one operation is asked for; else their names. */
static void print_keys(const struct operation *operation, bool alone)
{
	common_print(stdout, "  keys:");
	for (size_t i = 0; i < operation->key_count; i++) {
		const struct key *key = &operation->keys[i];
		CLEANUP(text_release) struct text values = {0};

		if (!alone) {
			common_print(stdout, " %s", key->name);
			continue;
		}
		key_describe(key, &values);
		common_print(stdout, "\n    %-12s %s", key->name, text_string(&values));
		if (key->default_value)
			common_print(
				stdout, "; if left out: %s", expression_text(key->default_value));
	}
	putchar('\n');
}

static void print_operation(
	const struct catalogue *catalogue, const struct operation *operation, bool alone)
{
	common_print(stdout, "%s: %s\n", operation->name, operation->summary);
	print_keys(operation, alone);
	for (size_t i = 0; i < catalogue->family_count; i++)
		if (catalogue->families[i]->operation == operation)
			common_print(stdout, "  %-22s %s\n", catalogue->families[i]->name,
				catalogue->families[i]->summary);
}

struct family_line {
	const char *name, *summary;
	bool composite;
};

struct operation_line {
	const char *name, *summary;
	const char **keys; /* NULL at the end */
	struct family_line *families;
	size_t family_count;
};

static const struct record_member family_members[] = {
	RECORD_VALUE(struct family_line, name, "family"),
	RECORD_VALUE(struct family_line, summary, "summary"),
	RECORD_VALUE(struct family_line, composite, "composite"),
};
static RECORD_DEFINE(struct family_line, family_line_record, family_members, .name = "family");

static const struct record_member operation_members[] = {
	RECORD_VALUE(struct operation_line, name, "operation"),
	RECORD_VALUE(struct operation_line, summary, "summary"),
	RECORD_STRINGS(struct operation_line, keys, "keys"),
	RECORD_RECORDS(
		struct operation_line, families, family_count, family_line_record, "families"),
};
static RECORD_DEFINE(
	struct operation_line, operation_line_record, operation_members, .name = "operation");

static struct json *operation_json(
	const struct catalogue *catalogue, const struct operation *operation)
{
	CLEANUP(memory_free)
	const char **keys = memory_zeroed(operation->key_count + 1, sizeof(*keys));
	CLEANUP(memory_free)
	struct family_line *families =
		memory_zeroed(catalogue->family_count + 1, sizeof(*families));
	struct operation_line line = {operation->name, operation->summary, keys, families, 0};

	for (size_t i = 0; i < operation->key_count; i++)
		keys[i] = operation->keys[i].name;
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];

		if (family->operation == operation)
			families[line.family_count++] = (struct family_line){
				family->name, family->summary, family->step_count};
	}
	return record_to_json(&operation_line_record, &line);
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct families_options *options = options_;
	const char *only = positional->count ? positional->items[0] : NULL;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(json_release) struct json *list = json_new_array();

	TRY(catalogue_load(folders.templates, only, &catalogue, err));
	for (size_t i = 0; i < catalogue.operation_count; i++) {
		const struct operation *operation = catalogue.operations[i];

		if (options->common.json)
			json_push(list, operation_json(&catalogue, operation));
		else
			print_operation(&catalogue, operation, only != NULL);
	}
	return options->common.json ? common_write_json("-", list, err) : STATUS_OK;
}

const struct command command_families = {
	.name = "families",
	.summary = "List operations, the keys of their problems, and the families that compete",
	.arguments = "[OPERATION]",
	.options = families_option_table,
	.options_size = sizeof(struct families_options),
	.positional_max = 1,
	.run = run,
};
