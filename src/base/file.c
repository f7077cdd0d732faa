/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"

static const size_t file_size_max = (size_t)1 << 30;

static enum status file_error(struct error *err, const char *path, const char *participle)
{
	return error_set(
		err, STATUS_BAD_INPUT, "%s: cannot be %s: %s", path, participle, strerror(errno));
}

/* Suggests a similar name if the file is missing. */
static enum status cannot_open(const char *path, struct error *err)
{
	const bool is_missing = errno == ENOENT;
	CLEANUP(memory_free) char *folder = path_parent(path);
	CLEANUP(name_set_release) struct name_set names = {0};

	file_error(err, path, "opened");
	if (!err || !is_missing)
		return STATUS_BAD_INPUT;
	if (!directory_exists(folder))
		return error_hint(err, "there is no folder %s", folder);
	(void)directory_names(folder, "", &names, NULL);
	return names.count ? name_hint(path_name(path), (const char *const *)names.items, err)
			   : STATUS_BAD_INPUT;
}

enum status file_write_all(int fd, const void *data, size_t size, struct error *err)
{
	const char *at = data;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_set(
				err, STATUS_FAILED, "cannot be written: %s", strerror(errno));
		at += written;
		size -= (size_t)written;
	}
	return STATUS_OK;
}

/* ---- reading; zlib also reads uncompressed files ---- */
static enum status gzip_status(const struct file_lines *lines, struct error *err)
{
	int number;
	const char *reason = gzerror(lines->file, &number);

	if (number == Z_ERRNO)
		return file_error(err, lines->path, "read");
	return number == Z_OK || number == Z_STREAM_END
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT,
				 "%s: the gzip data is damaged or truncated (%s)", lines->path,
				 reason);
}

static enum status append_piece(
	struct text *content, const char *piece, size_t size, const char *path, struct error *err)
{
	if (content->length + size > file_size_max) {
		error_set(err, STATUS_BAD_INPUT, "%s: the file is larger than 1 GiB", path);
		return error_hint(
			err, "divide the file, or start another journal with --journal FILE");
	}
	text_append_bytes(content, piece, size);
	return STATUS_OK;
}

enum status file_lines_open(const char *path, struct file_lines *lines, struct error *err)
{
	struct stat info;
	int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);

	*lines = (struct file_lines){.path = path};
	if (fd < 0)
		return cannot_open(path, err);
	if (fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
		close(fd);
		return error_set(err, STATUS_BAD_INPUT, "%s: this is a folder, not a file", path);
	}
	lines->file = gzdopen(fd, "rb");
	if (!lines->file)
		memory_exhausted(0);
	return STATUS_OK;
}

void file_lines_close(struct file_lines *lines)
{
	if (lines->file)
		gzclose_r(lines->file);
	text_release(&lines->line);
	*lines = (struct file_lines){0};
}

enum status file_lines_next(struct file_lines *lines, bool *any, struct error *err)
{
	struct text *line = &lines->line;
	char piece[65536];

	text_append_bytes(line, "", 0); /* the text of an empty line is terminated */
	text_clear(line);
	lines->is_ended = false;
	while (!lines->is_ended) {
		const z_off_t from = gztell(lines->file); /* a piece may contain NUL */

		if (!gzgets(lines->file, piece, sizeof(piece)))
			break;
		TRY(append_piece(
			line, piece, (size_t)(gztell(lines->file) - from), lines->path, err));
		lines->is_ended = line->data[line->length - 1] == '\n';
	}
	*any = line->length > 0;
	if (lines->is_ended)
		text_cut(line, line->length - 1);
	return lines->is_ended ? STATUS_OK : gzip_status(lines, err);
}

enum status file_lines_rest(struct file_lines *lines, struct text *content, struct error *err)
{
	char piece[65536];
	int got;

	*content = lines->line;
	lines->line = (struct text){0};
	text_append(content, lines->is_ended ? "\n" : "");
	while ((got = gzread(lines->file, piece, sizeof(piece))) > 0)
		TRY(append_piece(content, piece, (size_t)got, lines->path, err));
	return gzip_status(lines, err);
}

enum status file_read(const char *path, struct text *content, struct error *err)
{
	CLEANUP(file_lines_close) struct file_lines lines = {0};
	const size_t before = content->length;
	enum status status;

	TRY(file_lines_open(path, &lines, err));
	lines.line = *content;
	status = file_lines_rest(&lines, content, err);
	if (status != STATUS_OK)
		text_cut(content, before);
	return status;
}

/* Returns whether another user may have created the link. */
static bool is_foreign_link(const char *path, const struct stat *link)
{
	CLEANUP(memory_free) char *folder = path_parent(path);
	struct stat info;

	return stat(folder, &info) != 0 || info.st_mode & S_IWOTH ||
	       (link->st_uid != geteuid() && link->st_uid != 0);
}

enum status path_to_write(const char *path, char **target, struct error *err)
{
	char to[PATH_MAX];
	struct stat link, info;
	ssize_t length;

	*target = string_copy(path);
	if (lstat(path, &link) != 0 || !S_ISLNK(link.st_mode) ||
		(stat(path, &info) == 0 && !S_ISREG(info.st_mode)))
		return STATUS_OK;
	if (is_foreign_link(path, &link)) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: another user may have made this symbolic link, so it is not followed",
			path);
		return error_hint(err, "give the path of the file that the link points to");
	}
	free(*target);
	*target = realpath(path, NULL);
	if (!*target && (length = readlink(path, to, sizeof(to) - 1)) > 0) { /* dangling link */
		CLEANUP(memory_free) char *folder = path_parent(path);

		to[length] = '\0';
		*target = path_join(folder, to);
	}
	return *target ? STATUS_OK : file_error(err, path, "followed as a link");
}

int file_open_append(const char *path, struct error *err)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC;
	CLEANUP(memory_free) char *target = NULL;
	struct stat info;
	int fd;

	if (path_to_write(path, &target, err) != STATUS_OK)
		return -1;
	/* A regular file may have become a link since; /dev/stdout links to none. */
	fd = open(target, flags | O_NOFOLLOW, 0666);
	if (fd < 0 && errno == ELOOP) {
		fd = open(target, flags & ~O_CREAT);
		if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
			close(fd);
			fd = -1;
			errno = ELOOP;
		}
	}
	if (fd < 0)
		file_error(err, path, "opened");
	return fd;
}

static enum status write_through(const char *path, const void *data, size_t size, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	enum status status;

	if (fd < 0)
		return file_error(err, path, "opened for writing");
	status = file_write_all(fd, data, size, err);
	close(fd);
	return status == STATUS_OK ? status : error_context(err, "%s", path);
}

#define TEMPORARY ".tmp-"

/* Creates a locked file in target's folder. The caller frees *path. */
static int create_temporary(const char *target, char **path)
{
	struct timespec now;
	int fd;

	clock_gettime(CLOCK_MONOTONIC, &now);
	*path = string_format("%s" TEMPORARY "%ld-%ld", target, (long)getpid(), now.tv_nsec);
	fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd >= 0)
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

/* Removes unlocked temporary files that are at least a minute old: their writers were killed. */
static void remove_leftovers(const char *target, const char *folder)
{
	const double age_min_s = 60;
	CLEANUP(memory_free) char *prefix = string_format("%s" TEMPORARY, path_name(target));
	CLEANUP(name_set_release) struct name_set names = {0};

	(void)directory_list(folder, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(memory_free) char *path = path_join(folder, names.items[i]);
		const int fd = string_starts_with(names.items[i], prefix)
				       ? open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
				       : -1;
		struct stat info;

		if (fd < 0)
			continue;
		if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
			difftime(time(NULL), info.st_mtime) >= age_min_s &&
			flock(fd, LOCK_EX | LOCK_NB) == 0)
			unlink(path);
		close(fd);
	}
}

/* *mode is that of the replaced file; mode is NULL for a new one. */
static enum status write_replacing(
	const char *target, const void *data, size_t size, const mode_t *mode, struct error *err)
{
	CLEANUP(memory_free) char *temporary = NULL;
	enum status status;
	const int fd = create_temporary(target, &temporary);

	if (fd < 0)
		return file_error(err, target,
			"replaced, because no temporary file can be created next to it");
	status = file_write_all(fd, data, size, err);
	if (status == STATUS_OK && ((mode && fchmod(fd, *mode & 07777) != 0) || fsync(fd) != 0))
		status = error_set(err, STATUS_FAILED, "cannot be written: %s", strerror(errno));
	if (close(fd) != 0 && status == STATUS_OK)
		status = error_set(err, STATUS_FAILED, "cannot be written: %s", strerror(errno));
	if (status == STATUS_OK && rename(temporary, target) != 0)
		status = error_set(
			err, STATUS_FAILED, "the new file cannot be renamed: %s", strerror(errno));
	if (status != STATUS_OK) {
		unlink(temporary);
		error_context(err, "%s", target);
		error_hint(err, "an existing file was not changed");
	}
	return status;
}

static enum status find_target(
	const char *path, char **target, struct stat *info, bool *exists, struct error *err)
{
	TRY(path_to_write(path, target, err));
	*exists = stat(*target, info) == 0;
	if (*exists && S_ISDIR(info->st_mode))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: cannot be written, because it is a folder", path);
	if (*exists && S_ISREG(info->st_mode) &&
		(!(info->st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) || access(*target, W_OK) != 0)) {
		error_set(err, STATUS_BAD_INPUT, "%s: the file is write-protected (mode %03o)",
			path, (unsigned)info->st_mode & 0777);
		return error_hint(err, "run chmod u+w on the file, or write to another one");
	}
	return STATUS_OK;
}

enum status file_write(const char *path, const void *data, size_t size, struct error *err)
{
	CLEANUP(memory_free) char *target = NULL;
	struct stat info;
	bool exists;

	TRY(find_target(path, &target, &info, &exists, err));
	return exists && !S_ISREG(info.st_mode)
		       ? write_through(target, data, size, err)
		       : write_replacing(target, data, size, exists ? &info.st_mode : NULL, err);
}

enum status file_expect_writable(const char *path, struct error *err)
{
	CLEANUP(memory_free) char *target = NULL, *folder = NULL, *temporary = NULL;
	struct stat info;
	bool exists;
	int fd;

	if (!*path)
		return error_set(err, STATUS_BAD_INPUT, "the name of the output file is empty");
	TRY(find_target(path, &target, &info, &exists, err));
	folder = path_parent(target);
	if (exists && !S_ISREG(info.st_mode))
		return access(path, W_OK) == 0 ? STATUS_OK : file_error(err, path, "written");
	if (!directory_exists(folder))
		return error_set(err, STATUS_BAD_INPUT, "%s: there is no folder %s to write into",
			path, folder);
	remove_leftovers(target, folder);
	fd = create_temporary(target, &temporary);
	if (fd < 0)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: cannot create files in the folder %s: %s", path, folder,
			strerror(errno));
	close(fd);
	unlink(temporary);
	return STATUS_OK;
}

enum status file_expect_no_link(const char *path, struct error *err)
{
	struct stat info;

	return lstat(path, &info) == 0 && S_ISLNK(info.st_mode)
		       ? error_set(err, STATUS_BAD_INPUT,
				 "%s: this is a symbolic link, and a file that was not named on "
				 "the command line is not written through a link",
				 path)
		       : STATUS_OK;
}

/* Opens the lock file for writing. Returns -1 if another user made it unusable. */
static int open_lock_file(const char *path, const char *folder)
{
	struct stat info;
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && stat(folder, &info) == 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0200);
		if (fd < 0 && errno == EEXIST)
			return open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			(void)!fchmod(fd, 0200 | (info.st_mode & 0022));
	}
	return fd;
}

/* Returns false if an earlier holder has removed the file. */
static bool is_named(int fd, const char *path)
{
	struct stat info, named;

	return fstat(fd, &info) == 0 && lstat(path, &named) == 0 && S_ISREG(info.st_mode) &&
	       info.st_ino == named.st_ino && info.st_dev == named.st_dev;
}

enum status file_lock(const char *path, struct file_lock *lock, struct error *err)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	CLEANUP(memory_free) char *target = NULL;
	CLEANUP(memory_free) char *folder = NULL;
	struct stat info;

	*lock = (struct file_lock){.fd = -1};
	TRY(path_to_write(path, &target, err));
	folder = path_parent(target);
	if (stat(target, &info) == 0 && !S_ISREG(info.st_mode))
		return STATUS_OK;
	lock->path = path_join(folder, ".tiletune.lock");
	for (int tries = 0; tries < 6000; tries++) {
		lock->fd = open_lock_file(lock->path, folder);
		if (lock->fd < 0)
			return STATUS_OK;
		if (flock(lock->fd, LOCK_EX | LOCK_NB) == 0) {
			if (is_named(lock->fd, lock->path))
				return STATUS_OK;
		} else if (errno != EWOULDBLOCK && errno != EINTR) {
			return STATUS_OK; /* the file system has no locks */
		}
		close(lock->fd);
		nanosleep(&pause, NULL);
	}
	lock->fd = -1;
	return error_set(err, STATUS_FAILED,
		"%s: another process has locked the folder %s for more than 30 s", path, folder);
}

void file_unlock(struct file_lock *lock)
{
	struct statfs system;

	if (lock->fd >= 0) {
		/* NFS clients may still see and lock a removed file */
		if (fstatfs(lock->fd, &system) == 0 && system.f_type != NFS_SUPER_MAGIC)
			unlink(lock->path);
		close(lock->fd);
	}
	free(lock->path);
	*lock = (struct file_lock){.fd = -1};
}

/* ---- paths and folders ---- */
bool file_exists(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISDIR(info.st_mode);
}

bool file_is_regular(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Makes a path absolute, even of a missing file. */
static char *whole_path(const char *path)
{
	CLEANUP(memory_free) char *parent = path_parent(path);
	CLEANUP(memory_free) char *folder = realpath(parent, NULL);

	return path_join(folder ? folder : parent, path_name(path));
}

bool file_is_same(const char *a, const char *b)
{
	CLEANUP(memory_free) char *whole_a = whole_path(a), *whole_b = whole_path(b);
	struct stat one, other;

	if (stat(a, &one) != 0 || stat(b, &other) != 0 || !S_ISREG(one.st_mode))
		return strcmp(whole_a, whole_b) == 0;
	return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

bool file_is_below(const char *path, const char *folder)
{
	CLEANUP(memory_free) char *real = realpath(path, NULL), *top = realpath(folder, NULL);
	const size_t length = top ? strlen(top) : 0;

	return !real || (top && strncmp(real, top, length) == 0 &&
				(real[length] == '/' || strcmp(top, "/") == 0));
}

enum status file_expect_inside(const char *folder, const char *name, struct error *err)
{
	CLEANUP(memory_free) char *path = path_join(folder, name), *parent = path_parent(path);
	const bool leaves =
		name[0] == '/' || string_starts_with(name, "../") || strstr(name, "/../");

	return file_is_below(path, leaves ? parent : folder)
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT,
				 "%s: this link leads out of the folder %s", path,
				 leaves ? parent : folder);
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

	*folder = NULL;
	if (chosen && !*chosen)
		return error_set(err, STATUS_BAD_INPUT, "the name of the cache folder is empty");
	*folder = chosen                     ? string_copy(chosen)
		  : cache && cache[0] == '/' ? path_join(cache, "tiletune")
		  : home && home[0] == '/'   ? path_join(home, ".cache/tiletune")
					     : NULL;
	if (*folder)
		return STATUS_OK;
	/* other users can predict this name */
	*folder = string_format("/tmp/tiletune-%u", (unsigned)geteuid());
	return directory_make_own(*folder, err);
}
