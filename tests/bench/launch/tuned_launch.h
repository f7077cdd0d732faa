/* SPDX-License-Identifier: MIT
 *
 * libtuned_launch.so: a kernel that `tiletune export --format cubin` wrote, launched from another
 * program (Python through ctypes) on that program's tensors and stream.
 *
 *	tuned_launch_open("k.cubin.json") -> tuned_launch_bind(addresses) ->
 *tuned_launch_queue(stream)
 *
 * Everything happens in the CUDA context that is current in the calling thread; queueing is
 * allowed while a stream is captured into a graph. Functions that fail return 0 or NULL and leave
 * the reason in `message`. Not thread-safe; single GPU.
 */
#ifndef LAUNCH_TUNED_LAUNCH_H
#define LAUNCH_TUNED_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct tuned_launch; /* a kernel, loaded */
struct tuned_bound;  /* with its buffers */

/* path: the metadata; its cubins lie beside it. Caller closes. */
struct tuned_launch *tuned_launch_open(const char *path, char *message, size_t message_size);
void tuned_launch_close(struct tuned_launch *launch);

/* Tensors in the operation's order, then workspaces. A name is borrowed. */
size_t tuned_launch_buffer_count(const struct tuned_launch *launch);
const char *tuned_launch_buffer_name(const struct tuned_launch *launch, size_t buffer);
uint64_t tuned_launch_buffer_bytes(const struct tuned_launch *launch, size_t buffer);

/* addresses: one device pointer per buffer, 16-byte aligned, owned by the caller; workspaces that
 * must be zero once are zeroed here. Release before closing the kernel. */
struct tuned_bound *tuned_launch_bind(
	struct tuned_launch *launch, const uint64_t *addresses, char *message, size_t message_size);
void tuned_launch_unbind(struct tuned_bound *bound);
/* Queues one run on the stream (a CUstream). 1, or 0. */
int tuned_launch_queue(
	struct tuned_bound *bound, uint64_t stream, char *message, size_t message_size);

#pragma GCC visibility pop

#endif
