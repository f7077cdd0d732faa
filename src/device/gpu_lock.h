/* SPDX-License-Identifier: MIT
 *
 * One tuner per GPU: an advisory lock on a file named after the GPU's UUID, in a folder that all
 * users share ($TILETUNE_LOCK_FOLDER, else /tmp/tiletune-locks). The file holds the id of the
 * process whose end drops the lock.
 */
#ifndef DEVICE_GPU_LOCK_H
#define DEVICE_GPU_LOCK_H

#include <stddef.h>

#include "base/error.h"

/* Waits up to wait_s. Closing *fd unlocks. Errors: STATUS_NO_DEVICE, which names the holder;
 * STATUS_FAILED if the file cannot be made. */
enum status gpu_lock_acquire(const char *uuid, double wait_s, int *fd, struct error *err);
/* Sets holder to "process 1234", or to "" if no process holds the lock. */
void gpu_lock_holder(const char *uuid, char *holder, size_t size);

#endif
