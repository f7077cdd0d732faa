/* SPDX-License-Identifier: MIT
 *
 * One tuner per GPU: an advisory lock on a file named after the GPU's UUID, in a folder that all
 * users of the machine share ($TILETUNE_LOCK_FOLDER, else /tmp/tiletune-locks). The file holds the
 * process id of the holder; the kernel drops the lock when that process ends, however it ends. A
 * file that another user made unusable (a FIFO, a link, no permission) is replaced by a lock in
 * this user's cache folder.
 */
#ifndef DEVICE_GPU_LOCK_H
#define DEVICE_GPU_LOCK_H

#include <stddef.h>

#include "base/error.h"

/* Waits up to wait_s. STATUS_NO_DEVICE names the holder; STATUS_FAILED if the folder or file cannot
 * be made. *fd is to be closed to unlock. */
enum status gpu_lock_acquire(const char *uuid, double wait_s, int *fd, struct error *err);
/* "process 1234", or "" if no process holds it. */
void gpu_lock_holder(const char *uuid, char *holder, size_t size);

#endif
