/* SPDX-License-Identifier: MIT
 *
 * The worker process: loads one NVRTC, compiles what it is sent, reads logs and cubins (so that
 * their faults stay here).
 */
#ifndef COMPILE_WORKER_H
#define COMPILE_WORKER_H

#include "process/worker.h"

#include "compile/compiler.h"

/* The hidden command `worker-compile`: serves until its input closes. */
int compile_worker_main(void);

/* ---- messages ---- */
enum compile_message {
	COMPILE_LOAD =
		1,       /* to the worker, before any unit, until it has one: struct compile_load */
	COMPILE_LOADED,  /* from it, once it has the library: struct compile_loaded */
	COMPILE_REFUSED, /* or it cannot load it: struct error */
	COMPILE_UNIT,    /* to the worker: struct compile_request */
	COMPILE_RESULT,  /* from it: struct compile_result */
};

/* To load a library, and to compile something small with it. */
struct compile_load {
	char *path;
};
RECORD_DECLARE(struct compile_load, compile_load_record);

struct compile_loaded {
	char *path; /* where the loader found it */
	char *identity;
	int32_t major;
};
RECORD_DECLARE(struct compile_loaded, compile_loaded_record);

struct compile_request {
	struct build_unit unit;
	char *arch;
	char *tile_folder, *tile_nvrtc; /* struct tile_toolkit of a tile kernel; else NULL */
};
RECORD_DECLARE(struct compile_request, compile_request_record);

/* Without from_cache, which is the caller's. */
RECORD_DECLARE(struct compile_result, compile_result_record);

#endif
