/* SPDX-License-Identifier: MIT
 *
 * Files and paths. Whole files are replaced atomically (temporary file in the same folder, fsync,
 * rename), only where the resolved target is a regular file or absent; pipes and devices are
 * written through.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

/* Reads a whole file, decompressing gzip (by content, not by name). "-" is standard input.
 * Refuses more than 1 GiB, inflated. On failure content is as it was. */
enum status file_read(const char *path, struct text *content, struct error *err);

typedef enum status file_piece(const char *data, size_t size, void *context, struct error *err);
/* Reads it, too, of any size: take gets one piece after the other, until it fails. */
enum status file_read_pieces(const char *path, file_piece *take, void *context, struct error *err);

/* Replaces path by data as described above. On failure the old file is intact. */
enum status file_write(const char *path, const void *data, size_t size, struct error *err);
/* As above, for what `write` writes to the descriptor with file_write_all(), piece by piece. */
typedef enum status file_writer(int fd, const void *context, struct error *err);
enum status file_write_by(
	const char *path, file_writer *write, const void *context, struct error *err);

/* Whether file_write() could replace or make the file. Removes temporary files next to it that
 * killed processes left. Errors: STATUS_BAD_INPUT. */
enum status file_expect_writable(const char *path, struct error *err);

/* Refuses a link, dangling or not, in the place of a file or folder whose name the user did not
 * give: what it leads to is not to be written. Errors: STATUS_BAD_INPUT. */
enum status file_expect_no_link(const char *path, struct error *err);

/* A lock between processes, for the time of reading a file and replacing it; *lock is for
 * file_unlock(). It is that of the file's folder, as the file itself is replaced. Pipes and devices
 * have none. Errors: another process holds it for half a minute. */
enum status file_lock(const char *path, int *lock, struct error *err);
void file_unlock(int *lock); /* for CLEANUP() */

bool file_exists(const char *path);
bool file_is_regular(const char *path);
/* As file_read(), for a file that another one names, or that is read twice: no pipe, which could
 * wait for ever. */
static inline enum status file_read_regular(
	const char *path, struct text *content, struct error *err)
{
	if (!file_exists(path) || file_is_regular(path))
		return file_read(path, content, err);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a regular file, found a pipe or a device", path);
}
/* Whether two names are of one file. Devices and missing files are the same only if folder
 * and name are. */
bool file_is_same(const char *a, const char *b);
bool directory_exists(const char *path);

/* Whether path is below folder once all links are followed; of a missing file too. */
bool file_is_below(const char *path, const char *folder);
/* Of a file that a JSON file in `folder` names: refuses a link out of that folder, or out of the
 * folder that the name leads to where it says so itself ("../x", "/x"). */
enum status file_expect_inside(const char *folder, const char *name, struct error *err);

/* Makes path and its parents (mode 0777 less umask). */
enum status directory_make(const char *path, struct error *err);

/* As above, for one that only this user may write to (mode 0700 where it is new); not through a
 * link.
 */
enum status directory_make_own(const char *path, struct error *err);

typedef enum status directory_visit(const char *name, void *context, struct error *err);
/* Calls visit for every entry but . and .. in alphabetical order; stops at the first failure. */
enum status directory_list(
	const char *path, directory_visit *visit, void *context, struct error *err);
struct name_set;
/* Adds the names that end with the suffix, without it, but for those that begin with a full stop. A
 * folder that is not there has none. */
enum status directory_names(
	const char *path, const char *suffix, struct name_set *names, struct error *err);

/* The file that writing to path replaces: what path leads to if it is a link to a file, else path.
 * Refuses links that another user may have made: another user's, and any in a folder that everybody
 * can write to. Caller frees *target, on failure too. */
enum status path_to_write(const char *path, char **target, struct error *err);
char *path_join(const char *folder, const char *name); /* caller frees; absolute name wins */
char *path_parent(const char *path);                   /* "a/b" -> "a", "b" -> "."; caller frees */
const char *path_name(const char *path);               /* "a/b.c" -> "b.c"; borrowed */
char *path_executable(void);                           /* of this process; caller frees */
/* chosen, or where that is NULL $XDG_CACHE_HOME/tiletune, ~/.cache/tiletune, or a folder in /tmp
 * that is made, and must be, ours alone. Caller frees *folder, on failure too. */
enum status path_cache_folder(const char *chosen, char **folder, struct error *err);

/* Writes all of data, retrying short writes and EINTR. */
enum status file_write_all(int fd, const void *data, size_t size, struct error *err);

#endif
