/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

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
			status = error_set(err, STATUS_BAD_INPUT,
				"%s: the folder cannot be created: %s", part, strerror(errno));
		*at = end;
		if (end == '\0')
			break;
	}
	free(part);
	return status;
}

enum status directory_make_own(const char *path, struct error *err)
{
	CLEANUP(memory_free) char *parent = path_parent(path);
	struct stat info;

	TRY(directory_make(parent, err));
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return error_set(err, STATUS_BAD_INPUT, "%s: the folder cannot be created: %s",
			path, strerror(errno));
	if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
		!(info.st_mode & (S_IWGRP | S_IWOTH)))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"%s: other users can write to this folder, so its files cannot be trusted", path);
	return error_hint(err, "if the folder is yours, run: chmod go-w %s", path);
}

static int not_dots(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp(
		(*a)->d_name, (*b)->d_name); /* unlike alphasort(), independent of the locale */
}

enum status directory_list(const char *path, struct name_set *names, struct error *err)
{
	struct dirent **entries = NULL;
	const int count = scandir(path, &entries, not_dots, compare_names);

	if (count < 0)
		return error_set(err, STATUS_BAD_INPUT, "%s: the folder cannot be read: %s", path,
			strerror(errno));
	for (int i = 0; i < count; i++) {
		name_set_add(names, entries[i]->d_name, strlen(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	return STATUS_OK;
}

enum status directory_names(
	const char *path, const char *suffix, struct name_set *names, struct error *err)
{
	CLEANUP(name_set_release) struct name_set all = {0};

	if (directory_exists(path))
		TRY(directory_list(path, &all, err));
	for (size_t i = 0; i < all.count; i++) {
		const char *name = all.items[i];

		if (name[0] != '.' && string_ends_with(name, suffix))
			name_set_add(names, name, strlen(name) - strlen(suffix));
	}
	return STATUS_OK;
}
