/* SPDX-License-Identifier: MIT
 *
 * Finds the NVRTC to work with: lets a worker load one candidate after another and try a
 * compilation. A library that crashes or hangs costs that worker and is passed over.
 */
#ifndef COMPILE_PROBE_H
#define COMPILE_PROBE_H

#include "base/error.h"
#include "compile/nvrtc_find.h"
#include "compile/protocol.h"
#include "compile/workers.h"

/* On success the slot is idle, with the library loaded. STATUS_NO_DEVICE: none works; the error
 * says what was looked for, where, and why each candidate was refused. */
enum status probe_run(const struct nvrtc_search *search, const char *worker_path, struct slot *slot,
	struct compile_loaded *loaded, struct error *err);

#endif
