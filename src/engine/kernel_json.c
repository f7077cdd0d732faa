/* SPDX-License-Identifier: MIT */
#include "engine/kernel_json.h"

static struct json *strings_json(char *const *strings, size_t count)
{
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(list, json_new_string(strings[i]));
	return list;
}

static struct json *units_json(const struct kernel_description *description)
{
	struct json *units = json_new_array();
	struct json_at resources = json_root(description->resources, "");

	for (size_t i = 0; i < description->build->unit_count; i++) {
		const struct build_unit *unit = &description->build->units[i];
		struct json *json = json_new_object();

		json_put_string(json, "name", unit->name);
		json_put_string(json, "file", description->files[i]);
		json_put(json, "options", strings_json(unit->options, unit->option_count));
		json_put(json, "entries", strings_json(unit->entries, unit->entry_count));
		if (description->resources) {
			struct json_at item = json_item(&resources, i);

			json_put(json, "resources", json_copy(item.node));
		}
		json_push(units, json);
	}
	return units;
}

struct json *kernel_to_json(const struct kernel_description *description)
{
	struct json *json = json_new_object();

	json_put_string(json, "format", KERNEL_FORMAT);
	json_put_string(json, "kind", description->kind);
	json_put_string(json, "operation", description->operation);
	json_put(json, "problem", named_values_to_json(description->problem));
	json_put_string(json, "family", description->family);
	json_put(json, "configuration", named_values_to_json(description->configuration));
	json_put_string(json, "arch", description->arch);
	json_put_string(json, "compiler", description->compiler);
	json_put_string(json, "kernel_hash", description->build->kernel_hash);
	json_put(json, "units", units_json(description));
	json_put(json, "plan", plan_to_json(description->plan));
	return json;
}
