/* SPDX-License-Identifier: MIT */
#include "device/gpu_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"

static const double retry_s = 0.1;

static const char *lock_folder(void)
{
	const char *chosen = getenv("TILETUNE_LOCK_FOLDER");

	return chosen && chosen[0] ? chosen : "/tmp/tiletune-locks";
}

/* The UUID may come from a user's program, and must not lead out of the folder. */
static char *lock_path(const char *folder, const char *uuid)
{
	char *path = string_format("%s/%s.lock", folder, uuid);

	for (char *at = path + strlen(folder) + 1; *at; at++)
		if (*at == '/')
			*at = '_';
	return path;
}

/* Opening a FIFO would wait, and writing to a hard link would change another file. */
static int lock_open_existing(const char *path, int flags)
{
	const int fd = open(path, flags | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	struct stat info;

	if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

/* In a sticky folder, the kernel may refuse O_CREAT for another user's file. */
static int lock_open(const char *path)
{
	const int fd = lock_open_existing(path, O_RDWR);
	mode_t mask;
	int made;

	if (fd >= 0 || errno != ENOENT)
		return fd;
	mask = umask(0); /* a kill before a chmod() would lock others out */
	made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
	umask(mask);
	return made < 0 && errno == EEXIST ? lock_open_existing(path, O_RDWR) : made;
}

/* The holder writes its id after locking. */
static void holder_name(int fd, char *name, size_t size)
{
	char digits[24] = "";
	const ssize_t got = pread(fd, digits, sizeof(digits) - 1, 0);
	const long id = got > 0 ? strtol(digits, NULL, 10) : 0;

	if (id > 0)
		snprintf(name, size, "process %ld", id);
	else
		string_put(name, size, "another process");
}

static void holder_write(int fd)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%ld\n", (long)getpid());

	if (ftruncate(fd, 0) == 0)
		(void)!pwrite(fd, digits, (size_t)length, 0);
}

static enum status lock_error(const char *path, struct error *err)
{
	error_set(err, STATUS_FAILED, "GPU lock %s: %s", path, strerror(errno));
	return error_hint(err, "set TILETUNE_LOCK_FOLDER to another folder for locks");
}

static enum status lock_wait(
	int fd, const char *uuid, const char *path, double deadline, struct error *err)
{
	char holder[32];

	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return lock_error(path, err);
		if (clock_seconds() >= deadline) {
			holder_name(fd, holder, sizeof(holder));
			error_set(err, STATUS_NO_DEVICE,
				"GPU %s is busy: %s is measuring on it (lock %s)", uuid, holder,
				path);
			return error_hint(err, "wait for it with --wait 10m");
		}
		clock_sleep(retry_s);
	}
	return STATUS_OK;
}

/* If another user made the shared file unusable, a lock in the cache folder still excludes this
 * user's own processes. */
static enum status lock_open_usable(const char *uuid, char **path, int *fd, struct error *err)
{
	const char *folder = lock_folder();
	CLEANUP(memory_free) char *cache = NULL, *own = NULL;
	struct stat info;

	if (mkdir(folder, 0777) == 0)
		(void)!chmod(folder, 01777);
	*path = lock_path(folder, uuid);
	*fd = lock_open(*path);
	if (*fd >= 0)
		return STATUS_OK;
	if (lstat(*path, &info) != 0)
		return lock_error(*path, err);
	TRY(path_cache_folder(NULL, &cache, err));
	own = path_join(cache, "locks");
	TRY(directory_make_own(own, err));
	free(*path);
	*path = lock_path(own, uuid);
	*fd = lock_open(*path);
	return *fd < 0 ? lock_error(*path, err) : STATUS_OK;
}

enum status gpu_lock_acquire(const char *uuid, double wait_s, int *fd, struct error *err)
{
	const double deadline = clock_seconds() + wait_s;
	CLEANUP(memory_free) char *path = NULL;
	enum status status;

	TRY(lock_open_usable(uuid, &path, fd, err));
	status = lock_wait(*fd, uuid, path, deadline, err);
	if (status == STATUS_OK) {
		holder_write(*fd);
	} else {
		close(*fd);
		*fd = -1;
	}
	return status;
}

void gpu_lock_holder(const char *uuid, char *holder, size_t size)
{
	CLEANUP(memory_free) char *path = lock_path(lock_folder(), uuid);
	const int fd = lock_open_existing(path, O_RDONLY);

	holder[0] = '\0';
	if (fd < 0)
		return;
	if (flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		holder_name(fd, holder, size);
	close(fd);
}
