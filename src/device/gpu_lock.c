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
#include "base/memory.h"
#include "base/text.h"

static const double retry_s = 0.1;

static const char *lock_folder(void)
{
	const char *chosen = getenv("TILETUNE_LOCK_FOLDER");

	return chosen && chosen[0] ? chosen : "/tmp/tiletune-locks";
}

/* A name that a program gives may be any text: it must not lead out of the folder. */
static char *lock_path(const char *uuid)
{
	char *path = string_format("%s/%s.lock", lock_folder(), uuid);

	for (char *at = path + strlen(lock_folder()) + 1; *at; at++)
		if (*at == '/')
			*at = '_';
	return path;
}

/* Opens without O_CREAT first: in a sticky folder the kernel may refuse it for another user's file.
 */
static int lock_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
		if (fd >= 0)
			(void)!fchmod(fd, 0666);
	}
	return fd;
}

static long holder_read(int fd)
{
	char digits[24] = "";
	ssize_t got = pread(fd, digits, sizeof(digits) - 1, 0);

	return got > 0 ? strtol(digits, NULL, 10) : 0;
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

/* Waits until this process has the lock, or the time is over. */
static enum status lock_wait(
	int fd, const char *uuid, const char *path, double deadline, struct error *err)
{
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return lock_error(path, err);
		if (clock_seconds() >= deadline) {
			error_set(err, STATUS_NO_DEVICE,
				"GPU %s is busy: process %ld is measuring on it (lock %s)", uuid,
				holder_read(fd), path);
			return error_hint(err, "wait for it with --wait 10m");
		}
		clock_sleep(retry_s);
	}
	return STATUS_OK;
}

enum status gpu_lock_acquire(const char *uuid, double wait_s, int *fd, struct error *err)
{
	const double deadline = clock_seconds() + wait_s;
	const char *folder = lock_folder();
	CLEANUP(memory_free) char *path = lock_path(uuid);
	enum status status;

	/* Shared by all users, like /tmp itself: sticky, writable for everybody. */
	if (mkdir(folder, 0777) == 0)
		(void)!chmod(folder, 01777);
	*fd = lock_open(path);
	if (*fd < 0)
		return lock_error(path, err);
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
	CLEANUP(memory_free) char *path = lock_path(uuid);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	holder[0] = '\0';
	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
		snprintf(holder, size, "process %ld", holder_read(fd));
	close(fd);
}
