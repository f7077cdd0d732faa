/* SPDX-License-Identifier: MIT
 *
 * Finds the NVRTC to work with: lets a worker load one candidate after another and try a
 * compilation. A library that crashes or hangs costs that worker and is passed over.
 */
#ifndef COMPILE_PROBE_H
#define COMPILE_PROBE_H

#include "base/error.h"
#include "compile/nvrtc_find.h"
#include "compile/worker.h"

struct probe {
	char *library_path; /* where the loader found it */
	char *identity;
};

/* On success the worker is idle, with the library loaded. STATUS_NO_DEVICE: none works; the error
 * says what was looked for, where, and why each candidate was refused. */
enum status probe_run(const struct nvrtc_search *search, const char *worker_path,
	struct worker *worker, struct probe *probe, struct error *err);
void probe_release(struct probe *probe);

/* Takes an answer to worker_load(); STATUS_NO_DEVICE and the worker's reason if it is a refusal.
 * major may be NULL. */
enum status probe_answer(
	const struct message *message, struct probe *probe, int *major, struct error *err);

#endif
