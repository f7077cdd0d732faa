/* SPDX-License-Identifier: MIT
 *
 * Paths and folders of base/file.h.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"

bool file_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool directory_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

enum status directory_make(const char *path, struct error *err)
{
	char *part = string_copy(path);
	enum status status = STATUS_OK;

	for (char *at = part + 1; status == STATUS_OK; at++) {
		char end = *at;

		if (end != '/' && end != '\0')
			continue;
		*at = '\0';
		if (mkdir(part, 0777) != 0 && !(errno == EEXIST && directory_exists(part)))
			status = error_set(err, STATUS_BAD_INPUT, "%s: making the folder: %s", part,
				strerror(errno));
		*at = end;
		if (end == '\0')
			break;
	}
	free(part);
	return status;
}

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name); /* not alphasort: it depends on the locale */
}

enum status directory_list(
	const char *path, directory_visit *visit, void *context, struct error *err)
{
	struct dirent **entries = NULL;
	enum status status = STATUS_OK;
	int count = scandir(path, &entries, not_dots, compare_names);

	if (count < 0)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: reading the folder: %s", path, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (status == STATUS_OK)
			status = visit(entries[i]->d_name, context, err);
		free(entries[i]);
	}
	free(entries);
	return status;
}

char *path_join(const char *folder, const char *name)
{
	if (name[0] == '/' || folder[0] == '\0')
		return string_copy(name);
	return string_format("%s%s%s", folder, string_ends_with(folder, "/") ? "" : "/", name);
}

char *path_parent(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return string_copy(".");
	if (slash == path)
		return string_copy("/");
	return string_copy_bytes(path, (size_t)(slash - path));
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_executable(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (length < 0)
		return string_copy("");
	return string_copy_bytes(path, (size_t)length);
}

char *path_cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	if (cache && cache[0] == '/')
		return path_join(cache, "tiletune");
	if (home && home[0] == '/')
		return path_join(home, ".cache/tiletune");
	return string_format("/tmp/tiletune-%u", (unsigned)getuid());
}
