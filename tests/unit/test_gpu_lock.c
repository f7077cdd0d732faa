/* SPDX-License-Identifier: MIT
 *
 * Locks of GPUs name their holder.
 */
#include "unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "device/gpu_lock.h"

/* A process writes its id only after it has the lock. */
TEST(a_holder_without_an_id_is_another_process)
{
	char folder[] = TEST_SCRATCH "/tiletune-lock-XXXXXX", holder[64], words[64];
	struct error err = {0};
	int fd, second;

	assert_non_null(mkdtemp(folder));
	setenv("TILETUNE_LOCK_FOLDER", folder, 1);
	gpu_lock_holder("GPU-1", holder, sizeof(holder));
	assert_string_equal(holder, "");
	assert_ok(gpu_lock_acquire("GPU-1", 0, &fd, &err));
	snprintf(words, sizeof(words), "process %ld", (long)getpid());
	gpu_lock_holder("GPU-1", holder, sizeof(holder));
	assert_string_equal(holder, words);
	assert_fails(gpu_lock_acquire("GPU-1", 0, &second, &err), STATUS_NO_DEVICE, words);
	assert_int_equal(ftruncate(fd, 0), 0);
	gpu_lock_holder("GPU-1", holder, sizeof(holder));
	assert_string_equal(holder, "another process");
	assert_fails(gpu_lock_acquire("GPU-1", 0, &second, &err), STATUS_NO_DEVICE,
		"busy: another process is measuring on it");
	close(fd);
	unsetenv("TILETUNE_LOCK_FOLDER");
}
