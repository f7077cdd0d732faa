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
#include "base/text.h"

static const double retry_s = 0.1;

static char *lock_path(const char *uuid, char **folder)
{
	const char *chosen = getenv("TILETUNE_LOCK_FOLDER");

	*folder = string_copy(chosen && chosen[0] ? chosen : "/tmp/tiletune-locks");
	return string_format("%s/%s.lock", *folder, uuid);
}

/* Shared by all users, like /tmp itself: sticky, writable for everybody. */
static void folder_make(const char *folder)
{
	if (mkdir(folder, 0777) == 0)
		(void)!chmod(folder, 01777);
}

/* In a sticky folder the kernel may refuse O_CREAT on another user's file: open first. */
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

enum status gpu_lock_acquire(const char *uuid, double wait_s, int *fd, struct error *err)
{
	double deadline = clock_seconds() + wait_s;
	char *folder = NULL, *path = lock_path(uuid, &folder);
	enum status status = STATUS_OK;

	folder_make(folder);
	*fd = lock_open(path);
	if (*fd < 0)
		status = error_set(err, STATUS_FAILED, "GPU lock %s: %s", path, strerror(errno));
	while (status == STATUS_OK && flock(*fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK) {
			status = error_set(
				err, STATUS_FAILED, "GPU lock %s: %s", path, strerror(errno));
		} else if (clock_seconds() >= deadline) {
			status = error_set(err, STATUS_NO_DEVICE,
				"GPU %s: busy, process %ld is measuring on it (lock %s)", uuid,
				holder_read(*fd), path);
			error_hint(err, "--wait 10m waits for it");
		} else {
			clock_sleep(retry_s);
		}
	}
	if (status == STATUS_OK) {
		holder_write(*fd);
	} else if (*fd >= 0) {
		close(*fd);
		*fd = -1;
	}
	free(folder);
	free(path);
	return status;
}

void gpu_lock_holder(const char *uuid, char *holder, size_t size)
{
	char *folder = NULL, *path = lock_path(uuid, &folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	holder[0] = '\0';
	if (fd >= 0) {
		if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
			snprintf(holder, size, "process %ld", holder_read(fd));
		close(fd);
	}
	free(folder);
	free(path);
}
