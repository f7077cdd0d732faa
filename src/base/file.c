/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

static const size_t file_size_max = (size_t)1 << 30;
static const size_t inflated_size_max = (size_t)1 << 29;

static enum status file_error(struct error *err, const char *path, const char *doing)
{
	return error_set(err, STATUS_BAD_INPUT, "%s: %s: %s", path, doing, strerror(errno));
}

enum status file_write_all(int fd, const void *data, size_t size, struct error *err)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
		at += written;
		size -= (size_t)written;
	}
	return STATUS_OK;
}

static enum status read_all(int fd, const char *path, struct text *content, struct error *err)
{
	char buffer[65536];

	for (;;) {
		ssize_t got = read(fd, buffer, sizeof(buffer));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return file_error(err, path, "reading");
		if (got == 0)
			return STATUS_OK;
		if (content->length + (size_t)got > file_size_max)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected at most 1 GiB, found more", path);
		text_append_bytes(content, buffer, (size_t)got);
	}
}

static enum status inflate_text(const char *path, struct text *content, struct error *err)
{
	CLEANUP(text_release) struct text packed = *content;
	z_stream stream = {0};
	char buffer[65536];
	int result = Z_OK;

	*content = (struct text){0};
	/* 16 + 15: a gzip header, the largest window */
	if (inflateInit2(&stream, 16 + 15) != Z_OK)
		return error_set(err, STATUS_FAILED, "%s: zlib does not start", path);
	stream.next_in = (unsigned char *)packed.data;
	stream.avail_in = (unsigned)packed.length;
	while (result == Z_OK && content->length <= inflated_size_max) {
		stream.next_out = (unsigned char *)buffer;
		stream.avail_out = sizeof(buffer);
		result = inflate(&stream, Z_NO_FLUSH);
		if (result == Z_OK || result == Z_STREAM_END)
			text_append_bytes(content, buffer, sizeof(buffer) - stream.avail_out);
		/* members may follow one another, as gzip allows */
		if (result == Z_STREAM_END && stream.avail_in)
			result = inflateReset(&stream);
	}
	inflateEnd(&stream);
	if (content->length > inflated_size_max)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected gzip data that inflate to at most 512 MiB, found more", path);
	if (result != Z_STREAM_END)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected gzip data, found damaged or truncated data", path);
	return STATUS_OK;
}

enum status file_read(const char *path, struct text *content, struct error *err)
{
	CLEANUP(text_release) struct text data = {0};
	enum status status;
	struct stat info;
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return file_error(err, path, "opening");
	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode))
		status = error_set(
			err, STATUS_BAD_INPUT, "%s: expected a file, found a folder", path);
	else
		status = read_all(fd, path, &data, err);
	close(fd);
	TRY(status);
	if (data.length >= 2 && (unsigned char)data.data[0] == 0x1f &&
		(unsigned char)data.data[1] == 0x8b)
		TRY(inflate_text(path, &data, err));
	text_append_bytes(content, "", 0); /* terminated, even if there is nothing */
	if (content->length) {
		text_append_bytes(content, data.data, data.length);
	} else if (data.length) {
		text_release(content);
		*content = data;
		data = (struct text){0};
	}
	return STATUS_OK;
}

/* Where the data really goes: the end of a chain of symbolic links. Caller frees. */
static char *resolve_target(const char *path)
{
	char *resolved = realpath(path, NULL);

	return resolved ? resolved : string_copy(path);
}

static enum status write_through(const char *path, const void *data, size_t size, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	enum status status;

	if (fd < 0)
		return file_error(err, path, "opening for writing");
	status = file_write_all(fd, data, size, err);
	close(fd);
	return status == STATUS_OK ? status : error_context(err, "%s", path);
}

static enum status write_replacing(
	const char *target, const void *data, size_t size, mode_t mode, struct error *err)
{
	char *temporary = string_format("%s.tmp-XXXXXX", target);
	enum status status;
	int fd = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0) {
		status = file_error(err, target, "creating a temporary file beside it");
		free(temporary);
		return status;
	}
	flock(fd, LOCK_EX); /* until it is closed: sweep_temporaries() leaves it alone */
	status = file_write_all(fd, data, size, err);
	if (status == STATUS_OK && (fchmod(fd, mode) != 0 || fsync(fd) != 0))
		status = error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
	if (close(fd) != 0 && status == STATUS_OK)
		status = error_set(err, STATUS_FAILED, "writing: %s", strerror(errno));
	if (status == STATUS_OK && rename(temporary, target) != 0)
		status = error_set(err, STATUS_FAILED, "renaming: %s", strerror(errno));
	if (status != STATUS_OK) {
		unlink(temporary);
		error_context(err, "%s", target);
		error_hint(err, "the old file, if any, is as it was");
	}
	free(temporary);
	return status;
}

enum status file_write(const char *path, const void *data, size_t size, struct error *err)
{
	char *target = resolve_target(path);
	struct stat info;
	enum status status;
	mode_t mask = umask(0);
	mode_t mode = 0666 & ~mask;

	umask(mask);
	if (stat(target, &info) == 0) {
		mode = info.st_mode & 07777;
		if (S_ISDIR(info.st_mode))
			status = error_set(err, STATUS_BAD_INPUT,
				"%s: expected a file to write, found a folder", path);
		else if (S_ISREG(info.st_mode))
			status = write_replacing(target, data, size, mode, err);
		else
			status = write_through(target, data, size, err);
	} else {
		status = write_replacing(target, data, size, mode, err);
	}
	free(target);
	return status;
}

/* Removes what killed writers left beside a file: older than a minute, locked by nobody. */
static void sweep_temporaries(const char *target, const char *folder)
{
	const time_t minute = 60;
	CLEANUP(memory_free) char *prefix = string_format("%s.tmp-", path_name(target));
	DIR *entries = opendir(folder);
	const struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
		struct stat info;
		int fd;

		if (!string_starts_with(entry->d_name, prefix) ||
			strlen(entry->d_name) != strlen(prefix) + strlen("XXXXXX"))
			continue;
		fd = openat(dirfd(entries), entry->d_name, flags);
		if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
			info.st_uid == geteuid() && time(NULL) - info.st_mtime > minute &&
			flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlinkat(dirfd(entries), entry->d_name, 0);
		if (fd >= 0)
			close(fd);
	}
	if (entries)
		closedir(entries);
}

enum status file_expect_writable(const char *path, struct error *err)
{
	CLEANUP(memory_free) char *target = resolve_target(path);
	CLEANUP(memory_free) char *folder = path_parent(target);
	CLEANUP(memory_free) char *temporary = string_format("%s.tmp-XXXXXX", target);
	struct stat info;
	const bool exists = stat(target, &info) == 0;
	int fd;

	if (!*path)
		return error_set(err, STATUS_BAD_INPUT,
			"expected the name of a file to write, found an empty one");
	if (exists && S_ISDIR(info.st_mode))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a file to write, found a folder", path);
	if (exists && !S_ISREG(info.st_mode))
		return access(path, W_OK) == 0 ? STATUS_OK : file_error(err, path, "writing");
	if (!directory_exists(folder))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a folder to write into, found none at %s", path, folder);
	sweep_temporaries(target, folder);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_set(err, STATUS_BAD_INPUT, "%s: writing into %s: %s", path, folder,
			strerror(errno));
	close(fd);
	unlink(temporary);
	return STATUS_OK;
}

/* NFS locks what is open for writing, and so no folder: a file in it, which stays there. */
static bool open_lock_file(const char *folder, int *lock)
{
	CLEANUP(memory_free) char *path = path_join(folder, ".tiletune.lock");
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return false;
	close(*lock);
	*lock = fd;
	return true;
}

enum status file_lock(const char *path, int *lock, struct error *err)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	CLEANUP(memory_free) char *target = resolve_target(path);
	CLEANUP(memory_free) char *folder = path_parent(target);
	struct stat info;

	*lock = -1;
	if (stat(target, &info) == 0 && !S_ISREG(info.st_mode))
		return STATUS_OK;
	*lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int tries = 0; *lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0; tries++) {
		if (errno == EBADF && !tries && open_lock_file(folder, lock))
			continue;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return STATUS_OK; /* this file system has none */
		if (tries == 6000)
			return error_set(err, STATUS_FAILED,
				"%s: expected to lock %s for writing, found it locked by another "
				"process",
				path, folder);
		nanosleep(&pause, NULL);
	}
	return STATUS_OK;
}

void file_unlock(int *lock)
{
	if (*lock >= 0)
		close(*lock);
	*lock = -1;
}

/* ---- paths and folders ---- */
bool file_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool file_is_same(const char *a, const char *b)
{
	struct stat one, other;

	if (stat(a, &one) != 0 || stat(b, &other) != 0 || !S_ISREG(one.st_mode))
		return strcmp(a, b) == 0;
	return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
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

enum status directory_make_own(const char *path, int group, struct error *err)
{
	CLEANUP(memory_free) char *parent = path_parent(path);
	struct stat info;

	TRY(directory_make(parent, err));
	if (mkdir(path, 0700) == 0) {
		if (group != GROUP_NONE && chown(path, (uid_t)-1, (gid_t)group) == 0)
			(void)!chmod(path, 02770);
	} else if (errno != EEXIST) {
		return error_set(
			err, STATUS_BAD_INPUT, "%s: making the folder: %s", path, strerror(errno));
	}
	if (lstat(path, &info) == 0 && S_ISDIR(info.st_mode) && !(info.st_mode & S_IWOTH) &&
		((info.st_uid == geteuid() && !(info.st_mode & S_IWGRP)) ||
			(group != GROUP_NONE && info.st_gid == (gid_t)group)))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"%s: expected a folder of this user that nobody else can write to, found another",
		path);
	return error_hint(err, "chmod go-w %s, if it is yours", path);
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

enum status path_cache_folder(const char *chosen, char **folder, struct error *err)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*folder = chosen                     ? string_copy(chosen)
		  : cache && cache[0] == '/' ? path_join(cache, "tiletune")
		  : home && home[0] == '/'   ? path_join(home, ".cache/tiletune")
					     : NULL;
	if (*folder)
		return STATUS_OK;
	/* everybody knows this name */
	*folder = string_format("/tmp/tiletune-%u", (unsigned)geteuid());
	return directory_make_own(*folder, GROUP_NONE, err);
}
