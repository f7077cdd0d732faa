/* SPDX-License-Identifier: MIT
 *
 * tiletune families: lists operations, their keys, families and parameters.
 */
#include <stdio.h>

#include "base/memory.h"
#include "cli/common.h"

struct families_options {
	struct common_options common;
};

#define AT(member) offsetof(struct families_options, member)

static const struct option families_option_table[] = {
	COMMON_OPTIONS,
	{0},
};

/* Prints the keys: with their values if one operation was requested, else only the names. */
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

static struct json *operation_json(
	const struct catalogue *catalogue, const struct operation *operation)
{
	struct json *json = json_new_object(), *keys = json_new_array();
	struct json *families = json_new_array();

	json_put_string(json, "operation", operation->name);
	json_put_string(json, "summary", operation->summary);
	for (size_t i = 0; i < operation->key_count; i++)
		json_push(keys, json_new_string(operation->keys[i].name));
	json_put(json, "keys", keys);
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];
		struct json *item;

		if (family->operation != operation)
			continue;
		item = json_new_object();
		json_put_string(item, "family", family->name);
		json_put_string(item, "summary", family->summary);
		json_push(families, item);
	}
	json_put(json, "families", families);
	return json;
}

static enum status families_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct families_options *options = options_;
	const char *only = positional->count ? positional->items[0] : NULL;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(json_release) struct json *list = json_new_array();

	TRY(catalogue_list(folders.templates, only, &catalogue, err));
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
	COMMAND_OPTIONS(struct families_options, families_option_table),
	.positional_max = 1,
	.run = families_run,
};
