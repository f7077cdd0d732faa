/* SPDX-License-Identifier: MIT
 *
 * Files and paths. A regular file is replaced atomically, through a temporary file in its folder.
 * Pipes and devices are written directly.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Appends a whole file, decompressed if it is gzip; "-" is standard input. Refuses more than 1 GiB.
 * A failure leaves content unchanged. */
enum status file_read(const char *path, struct text *content, struct error *err);

/* Reads a file as file_read() does, but line by line. */
struct file_lines {
	struct text line; /* the line without its newline; the next call changes it */
	bool is_ended;    /* the line ended with a newline */
	/* ---- for file.c ---- */
	const char *path; /* borrowed */
	void *file;
};
enum status file_lines_open(const char *path, struct file_lines *lines, struct error *err);
/* *any is false after the last line. */
enum status file_lines_next(struct file_lines *lines, bool *any, struct error *err);
/* Gets the whole content. Only the first line may have been read before. */
enum status file_lines_rest(struct file_lines *lines, struct text *content, struct error *err);
void file_lines_close(struct file_lines *lines);
/* A failure leaves the old file intact. */
enum status file_write(const char *path, const void *data, size_t size, struct error *err);

/* Fails with STATUS_BAD_INPUT unless file_write() could create or replace the file. Removes
 * temporary files of killed processes. */
enum status file_expect_writable(const char *path, struct error *err);

/* Refuses symbolic links at a path that the program chose. Errors: STATUS_BAD_INPUT. */
enum status file_expect_no_link(const char *path, struct error *err);

/* Opens a file to append to, like path_to_write(). Returns -1 on failure. */
int file_open_append(const char *path, struct error *err);

/* Locks a file while this process reads and replaces it. The lock is a file in the same folder,
 * because the file itself is replaced; only users who may write to the folder can hold it. Pipes
 * and devices are not locked. Fails after half a minute. */
struct file_lock {
	int fd; /* -1 if not locked */
	char *path;
};
enum status file_lock(const char *path, struct file_lock *lock, struct error *err);
void file_unlock(struct file_lock *lock); /* for CLEANUP() */

bool file_exists(const char *path);
bool file_is_regular(const char *path);
/* Refuses pipes and devices, which could block forever. */
static inline enum status file_read_regular(
	const char *path, struct text *content, struct error *err)
{
	if (!file_exists(path) || file_is_regular(path))
		return file_read(path, content, err);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a regular file, found a pipe or a device", path);
}
/* Devices and missing files are the same only if folder and name are equal. */
bool file_is_same(const char *a, const char *b);
bool directory_exists(const char *path);

/* Resolves all links. Also returns true for a missing path. */
bool file_is_below(const char *path, const char *folder);
/* Checks a file name from a JSON file in `folder`: refuses links out of that folder. If the name
 * leaves it ("../x", "/x"), links must stay in the folder that it names. */
enum status file_expect_inside(const char *folder, const char *name, struct error *err);

/* Creates path and its parents. */
enum status directory_make(const char *path, struct error *err);

/* Creates a folder with mode 0700. Refuses links and folders that others may write to. */
enum status directory_make_own(const char *path, struct error *err);

/* Adds the names of all entries but . and .., in alphabetical order. */
enum status directory_list(const char *path, struct name_set *names, struct error *err);
/* Adds the names that end with the suffix, without the suffix. Skips names that begin with a full
 * stop. A missing folder has no names. */
enum status directory_names(
	const char *path, const char *suffix, struct name_set *names, struct error *err);

/* Sets *target to the file that a write to path replaces: path, or the file that it links to.
 * Refuses links that another user may have made. The caller frees *target, also on failure. */
enum status path_to_write(const char *path, char **target, struct error *err);
/* An absolute name replaces the folder. The caller frees the path. */
char *path_join(const char *folder, const char *name);
char *path_parent(const char *path);     /* "a/b" -> "a", "b" -> "."; caller frees */
const char *path_name(const char *path); /* "a/b.c" -> "b.c"; points into path */
char *path_executable(void);             /* path of this program; caller frees */
/* Sets *folder to `chosen` or, if NULL, $XDG_CACHE_HOME/tiletune, ~/.cache/tiletune, or a folder in
 * /tmp that only this user may write to. The caller frees *folder, also on failure. */
enum status path_cache_folder(const char *chosen, char **folder, struct error *err);

/* Retries after short writes and EINTR. */
enum status file_write_all(int fd, const void *data, size_t size, struct error *err);

#endif
