/* SPDX-License-Identifier: MIT
 *
 * A scratch folder, with files in it, for tests of src/compile.
 */
#ifndef UNIT_COMPILE_FOLDER_H
#define UNIT_COMPILE_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static inline char *folder_new(void)
{
	char *folder = string_copy(TEST_SCRATCH "/tiletune-test-XXXXXX");

	if (!mkdtemp(folder))
		abort();
	return folder;
}

static inline int folder_unlink(
	const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

/* Deletes the folder and frees its name. */
static inline void folder_remove(char *folder)
{
	nftw(folder, folder_unlink, 16, FTW_DEPTH | FTW_PHYS);
	free(folder);
}

/* Writes folder/name, creates missing folders and returns the path, which the caller frees. A
 * name that leads out of the folder (an absolute path or "..") is a bug. */
static inline char *folder_put(const char *folder, const char *name, const char *content)
{
	char *path = string_format("%s/%s", folder, name);
	char *parent = path_parent(path);
	struct error err;

	if (!string_starts_with(folder, TEST_SCRATCH "/tiletune-test-") || name[0] == '/' ||
		strstr(name, ".."))
		BUG("a test would write to %s", path);
	if (directory_make(parent, &err) != STATUS_OK ||
		file_write(path, content, strlen(content), &err) != STATUS_OK) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
	free(parent);
	return path;
}

#endif
