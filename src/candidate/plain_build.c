/* SPDX-License-Identifier: MIT */
#include "candidate/plain_build.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "candidate/build_make.h"
#include "family/source.h"

static enum status not_found(
	const char *const *template_folders, const char *name, struct error *err)
{
	struct text folders = {0};
	enum status status;

	for (; *template_folders; template_folders++)
		text_appendf(&folders, "%s%s", folders.length ? ", " : "", *template_folders);
	status = error_set(err, STATUS_BAD_INPUT,
		"%s: expected it in a template folder, found it in "
		"none of: %s",
		name, folders.length ? folders.data : "(no folder)");
	error_hint(err, "--path DIR or TILETUNE_PATH name the folder that holds templates/");
	text_release(&folders);
	return status;
}

enum status plain_build(const char *const *template_folders, const char *name, struct build *build,
	struct error *err)
{
	const struct define_list no_defines = {0};
	char *source = NULL;
	const char *const *folder = template_folders;
	enum status status;

	*build = (struct build){0};
	for (; *folder; folder++) {
		char *path = path_join(*folder, name);
		bool found = file_exists(path);

		free(path);
		if (found)
			break;
	}
	if (!*folder)
		return not_found(template_folders, name, err);
	status = source_expand(*folder, name, template_folders, &source, err);
	if (status != STATUS_OK)
		return status;
	build->units = memory_zeroed(1, sizeof(*build->units));
	build->unit_count = 1;
	build_unit_make(&build->units[0], name, source, &no_defines);
	build_finish(build);
	free(source);
	return STATUS_OK;
}
