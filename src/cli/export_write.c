/* SPDX-License-Identifier: MIT */
#include "cli/export_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"

/* "x.cubin" -> "x.cubin", or "x.0.cubin", "x.1.cubin" where there are several. */
static char *unit_path(
	const char *output, const struct export_image *image, size_t unit, size_t count)
{
	size_t length = strlen(output);

	if (string_ends_with(output, image->suffix))
		length -= strlen(image->suffix);
	if (count == 1)
		return string_format("%.*s%s", (int)length, output, image->suffix);
	return string_format("%.*s.%zu%s", (int)length, output, unit, image->suffix);
}

static enum status write_files(const struct export_kernel *kernel, const struct export_image *image,
	const struct compiler *compiler, const char *output, struct error *err)
{
	size_t count = kernel->build.unit_count;
	char **paths = memory_zeroed(count + 1, sizeof(*paths));
	char **names = memory_zeroed(count + 1, sizeof(*names));
	enum status status = STATUS_OK;
	struct json *json;
	char *metadata;

	for (size_t i = 0; i < count; i++) {
		paths[i] = unit_path(output, image, i, count);
		names[i] = string_copy(path_name(paths[i]));
	}
	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		status =
			file_write(paths[i], kernel->images[i].data, kernel->images[i].length, err);
	json = export_kernel_json(kernel, image, compiler, names);
	metadata = unit_path(output, image, 0, 1);
	if (status == STATUS_OK) {
		char *path = string_format("%s.json", metadata);

		status = common_write_json(path, json, err);
		if (status == STATUS_OK)
			fprintf(stderr, "wrote %s%s and %s\n", paths[0], count > 1 ? ", ..." : "",
				path);
		free(path);
	}
	for (size_t i = 0; i < count; i++) {
		free(paths[i]);
		free(names[i]);
	}
	free(paths);
	free(names);
	free(metadata);
	json_free(json);
	return status;
}

enum status export_kernel_write(const struct export_kernel *kernel,
	const struct export_image *image, const struct compiler *compiler, const char *output,
	struct error *err)
{
	const struct text *first = &kernel->images[0];

	if (strcmp(output, "-") != 0)
		return write_files(kernel, image, compiler, output, err);
	if (kernel->build.unit_count != 1) {
		error_set(err, STATUS_BAD_INPUT,
			"export: expected a kernel of one source for standard output, found %zu",
			kernel->build.unit_count);
		return error_hint(err, "-o NAME%s writes them beside each other", image->suffix);
	}
	if (fwrite(first->data, 1, first->length, stdout) != first->length || fflush(stdout) != 0)
		return error_set(err, STATUS_FAILED, "writing to standard output");
	return STATUS_OK;
}
