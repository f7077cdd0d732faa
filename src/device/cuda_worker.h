/* SPDX-License-Identifier: MIT
 *
 * The measuring worker of cuda:N as a process: starting, asking, starting again.
 */
#ifndef DEVICE_CUDA_WORKER_H
#define DEVICE_CUDA_WORKER_H

#include "measure/protocol.h"

struct cuda_worker {
	char *path;     /* of the executable; NULL: this one */
	char *selector; /* which GPU */
	struct measure_open open;
	struct measure_helpers helpers; /* empty: not given yet */
	struct worker process;
	unsigned generation; /* counts processes, from 1 */
};

/* A process that holds nothing yet; asks it for its GPU. */
enum status cuda_worker_hello(
	struct cuda_worker *worker, struct measure_gpu *gpu, struct error *err);
enum status cuda_worker_open(struct cuda_worker *worker, struct error *err);    /* does not wait */
enum status cuda_worker_helpers(struct cuda_worker *worker, struct error *err); /* waits */
/* After a failure: a fresh process with context and helpers; tries several times. */
enum status cuda_worker_restart(struct cuda_worker *worker, struct error *err);
void cuda_worker_release(struct cuda_worker *worker);

/* Every GPU of the machine, from a process of its own; the caller releases. No driver, no GPU are
 * an answer, not an error: *why, which the caller frees. */
enum status cuda_worker_list(
	const char *path, struct measure_gpus *gpus, char **why, struct error *err);

/* Ends one that did not answer in that time; returns what to say of it, which the caller frees. One
 * that hung in a reference waits for those of other problems no longer than for kernels. */
char *cuda_worker_kill(struct cuda_worker *worker, double allowed_s, bool in_reference);

#endif
