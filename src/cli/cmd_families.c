/* SPDX-License-Identifier: MIT
 *
 * tiletune families: operations, their keys, families and parameters.
 */
#include <stdio.h>

#include "cli/common.h"

struct families_options {
	struct common_options common;
};

static const struct option families_option_table[] = {
	COMMON_OPTIONS(struct families_options),
	{0},
};

static void print_operation(const struct catalogue *catalogue, const struct operation *operation)
{
	printf("%s: %s\n  keys:", operation_name(operation), operation->summary);
	for (size_t i = 0; i < operation->key_count; i++)
		printf(" %s", operation->keys[i].name);
	putchar('\n');
	for (size_t i = 0; i < catalogue->family_count; i++)
		if (catalogue->families[i]->operation == operation)
			printf("  %-22s %s\n", family_name(catalogue->families[i]),
				catalogue->families[i]->summary);
}

static struct json *operation_json(
	const struct catalogue *catalogue, const struct operation *operation)
{
	struct json *json = json_new_object(), *keys = json_new_array();
	struct json *families = json_new_array();

	json_put_string(json, "operation", operation_name(operation));
	json_put_string(json, "summary", operation->summary);
	for (size_t i = 0; i < operation->key_count; i++)
		json_push(keys, json_new_string(operation->keys[i].name));
	json_put(json, "keys", keys);
	for (size_t i = 0; i < catalogue->family_count; i++) {
		const struct family *family = catalogue->families[i];
		struct json *row;

		if (family->operation != operation)
			continue;
		row = json_new_object();
		json_put_string(row, "family", family_name(family));
		json_put_string(row, "summary", family->summary);
		json_put_bool(row, "composite", family_is_composite(family));
		json_push(families, row);
	}
	json_put(json, "families", families);
	return json;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct families_options *options = options_;
	const char *only = positional->count ? positional->items[0] : NULL;
	struct folders folders = folders_find(&options->common.paths);
	struct catalogue catalogue = {0};
	struct json *list = json_new_array();
	enum status status =
		catalogue_load((const char *const *)folders.templates, only, &catalogue, err);

	for (size_t i = 0; i < catalogue.operation_count && status == STATUS_OK; i++) {
		const struct operation *operation = catalogue.operations[i];

		if (options->common.json)
			json_push(list, operation_json(&catalogue, operation));
		else
			print_operation(&catalogue, operation);
	}
	if (status == STATUS_OK && options->common.json)
		status = common_write_json("-", list, err);
	json_free(list);
	catalogue_release(&catalogue);
	folders_release(&folders);
	return status;
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
