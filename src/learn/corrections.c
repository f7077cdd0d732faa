/* SPDX-License-Identifier: MIT
 *
 * The corrections of a device: all files of its folders.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "learn/correction.h"

/* A folder on its way. */
struct search {
	const char *folder, *device;
	const struct catalogue *catalogue;
	struct corrections *corrections;
};

/* "gemm-wgmma.json" is for "gemm/wgmma"; other files and other operations' are passed over. */
static const struct family *family_of(const struct catalogue *catalogue, const char *file_name)
{
	const size_t length = strlen(file_name) - strlen(".json");

	for (size_t i = 0; i < catalogue->family_count; i++) {
		const char *name = family_name(catalogue->families[i]);
		const size_t operation = strcspn(name, "/");

		if (strlen(name) == length && strncmp(name, file_name, operation) == 0 &&
			file_name[operation] == '-' &&
			strncmp(name + operation + 1, file_name + operation + 1,
				length - operation - 1) == 0)
			return catalogue->families[i];
	}
	return NULL;
}

static enum status visit(const char *name, void *context, struct error *err)
{
	const struct search *search = context;
	struct corrections *corrections = search->corrections;
	struct correction *correction;
	const struct family *family;
	enum status status;
	char *path;

	if (!string_ends_with(name, ".json") || name[0] == '.')
		return STATUS_OK;
	family = family_of(search->catalogue, name);
	if (!family || corrections_find(corrections, family))
		return STATUS_OK;
	path = path_join(search->folder, name);
	status = correction_load(path, search->device, search->catalogue, &correction, err);
	free(path);
	if (status == STATUS_OK) {
		ARRAY_GROW(corrections->items, corrections->count, corrections->capacity);
		corrections->items[corrections->count++] = correction;
		if (!corrections_find(corrections, family))
			status = error_set(err, STATUS_BAD_INPUT,
				"%s/%s: $.family: expected \"%s\" as the file is named",
				search->folder, name, family_name(family));
	}
	return status;
}

enum status corrections_load(const char *const *config_folders, const char *device,
	const struct catalogue *catalogue, struct corrections *corrections, struct error *err)
{
	enum status status = STATUS_OK;

	*corrections = (struct corrections){0};
	for (; *config_folders && status == STATUS_OK; config_folders++) {
		char *folder = string_format("%s/corrections/%s", *config_folders, device);
		struct search search = {folder, device, catalogue, corrections};

		if (directory_exists(folder))
			status = directory_list(folder, visit, &search, err);
		free(folder);
	}
	if (status != STATUS_OK)
		corrections_release(corrections);
	return status;
}

const struct correction *corrections_find(
	const struct corrections *corrections, const struct family *family)
{
	for (size_t i = 0; corrections && i < corrections->count; i++)
		if (correction_family(corrections->items[i]) == family)
			return corrections->items[i];
	return NULL;
}

void corrections_release(struct corrections *corrections)
{
	for (size_t i = 0; i < corrections->count; i++)
		correction_free(corrections->items[i]);
	free(corrections->items);
	*corrections = (struct corrections){0};
}
