/* SPDX-License-Identifier: MIT
 *
 * Reading "workspaces" and "tensor_maps" of a family.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/family.h"

/* A buffer's name stands in "args" beside expressions: nothing else may have it. */
static enum status check_free(const struct json_at *item, const struct family *family,
	const char *name, struct error *err)
{
	struct json_at at;
	bool taken = scope_find(&family->scope, name) >= 0;

	for (size_t i = 0; i < family->operation->tensor_count; i++)
		taken = taken || strcmp(family->operation->tensors[i].name, name) == 0;
	for (size_t i = 0; i < family->workspace_count; i++)
		taken = taken || strcmp(family->workspaces[i].name, name) == 0;
	for (size_t i = 0; i < family->tensor_map_count; i++)
		taken = taken || strcmp(family->tensor_maps[i].name, name) == 0;
	if (!taken)
		return STATUS_OK;
	json_find(item, "name", &at);
	return json_error(&at, err, "a name that nothing else has");
}

static enum status read_workspaces(
	const struct json_at *root, struct family *family, struct error *err)
{
	struct json_at list;

	if (!json_find(root, "workspaces", &list))
		return STATUS_OK;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	family->workspaces = memory_zeroed(json_count(&list) + 1, sizeof(*family->workspaces));
	for (size_t i = 0; i < json_count(&list); i++) {
		struct json_at at = json_item(&list, i);
		struct workspace *workspace = &family->workspaces[i];
		enum status status = workspace_read(&at, &family->names, workspace, err);

		if (status == STATUS_OK)
			status = check_free(&at, family, workspace->name, err);
		family->workspace_count++;
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

enum status family_buffers_read(
	const struct json_at *root, struct family *family, struct error *err)
{
	const char **buffers;
	struct json_at list;
	enum status status = read_workspaces(root, family, err);

	if (status != STATUS_OK || !json_find(root, "tensor_maps", &list))
		return status;
	if (json_expect(&list, JSON_ARRAY, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	family->tensor_maps = memory_zeroed(json_count(&list) + 1, sizeof(*family->tensor_maps));
	buffers = family_buffer_names(family);
	for (size_t i = 0; i < json_count(&list) && status == STATUS_OK; i++) {
		struct json_at at = json_item(&list, i);
		struct tensor_map *map = &family->tensor_maps[i];

		status = tensor_map_read(&at, buffers, &family->names, map, err);
		if (status == STATUS_OK)
			status = check_free(&at, family, map->name, err);
		family->tensor_map_count++;
	}
	free(buffers);
	return status;
}
