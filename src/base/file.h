/* SPDX-License-Identifier: MIT
 *
 * Files and paths. A write replaces a regular file atomically: it writes a temporary file in the
 * same folder, calls fsync, and renames it. Pipes and devices are written directly.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Reads a whole file and decompresses gzip, which it recognises by content. "-" is standard input.
 * Refuses contents above 1 GiB after decompression. A failure leaves content unchanged. */
enum status file_read(const char *path, struct text *content, struct error *err);

/* Replaces the file as described above. A failure leaves the old file intact. */
enum status file_write(const char *path, const void *data, size_t size, struct error *err);

/* Fails with STATUS_BAD_INPUT unless file_write() could create or replace the file. Removes
 * temporary files that killed processes left next to it. */
enum status file_expect_writable(const char *path, struct error *err);

/* Refuses symbolic links, even dangling ones, at a path that the program chose itself, because the
 * link could lead anywhere. Errors: STATUS_BAD_INPUT. */
enum status file_expect_no_link(const char *path, struct error *err);

/* Opens a file to append to, and creates it if it is missing. Follows links as path_to_write()
 * does. Returns -1 and an error if that fails. */
int file_open_append(const char *path, struct error *err);

/* Locks a file against other processes while this process reads and replaces it. The lock is a file
 * in the same folder, because the file itself is replaced, and only users who may write to the
 * folder can hold it. Pipes and devices are not locked. Fails if another process holds the lock for
 * half a minute. */
struct file_lock {
	int fd; /* -1: not locked */
	char *path;
};
enum status file_lock(const char *path, struct file_lock *lock, struct error *err);
void file_unlock(struct file_lock *lock); /* for CLEANUP() */

bool file_exists(const char *path);
bool file_is_regular(const char *path);
/* Works like file_read(), but refuses pipes and devices, which could block forever. Used for files
 * that another file names, and for files that are read twice. */
static inline enum status file_read_regular(
	const char *path, struct text *content, struct error *err)
{
	if (!file_exists(path) || file_is_regular(path))
		return file_read(path, content, err);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a regular file, found a pipe or a device", path);
}
/* Returns whether two paths lead to the same file. Devices and missing files are the same only if
 * their folder and name are equal. */
bool file_is_same(const char *a, const char *b);
bool directory_exists(const char *path);

/* Returns whether path is below folder after all links are resolved; true for a missing path. */
bool file_is_below(const char *path, const char *folder);
/* Checks a file name from a JSON file in `folder`: refuses links that lead out of that folder. If
 * the name itself leaves the folder ("../x", "/x"), links must stay in the folder that it names. */
enum status file_expect_inside(const char *folder, const char *name, struct error *err);

/* Creates path and its parents with mode 0777 less the umask. */
enum status directory_make(const char *path, struct error *err);

/* Creates a folder, with mode 0700, that only this user may write to. Refuses links and folders
 * that others may write to. */
enum status directory_make_own(const char *path, struct error *err);

typedef enum status directory_visit(const char *name, void *context, struct error *err);
/* Calls visit for every entry but . and .. in alphabetical order; stops at the first failure. */
enum status directory_list(
	const char *path, directory_visit *visit, void *context, struct error *err);
struct name_set;
/* Adds the names of entries that end with the suffix, without the suffix. Skips names that begin
 * with a full stop. A missing folder adds no names. */
enum status directory_names(
	const char *path, const char *suffix, struct name_set *names, struct error *err);

/* Sets *target to the file that a write to path replaces: the target of a link to a file, else
 * path. Refuses links that another user owns and links in folders that everybody may write to. The
 * caller frees *target, also on failure. */
enum status path_to_write(const char *path, char **target, struct error *err);
/* The caller frees the path. An absolute name replaces the folder. */
char *path_join(const char *folder, const char *name);
char *path_parent(const char *path);     /* "a/b" -> "a", "b" -> "."; caller frees */
const char *path_name(const char *path); /* "a/b.c" -> "b.c"; points into path */
char *path_executable(void);             /* path of this program; caller frees */
/* Sets *folder to `chosen`. If that is NULL, to $XDG_CACHE_HOME/tiletune, ~/.cache/tiletune, or a
 * folder in /tmp that is created and must belong to this user only. The caller frees *folder, also
 * on failure. */
enum status path_cache_folder(const char *chosen, char **folder, struct error *err);

/* Writes all of data; retries after short writes and EINTR. */
enum status file_write_all(int fd, const void *data, size_t size, struct error *err);

#endif
