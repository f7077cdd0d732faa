/* SPDX-License-Identifier: MIT
 *
 * The worker process loads NVRTC, compiles the units that it gets, and reads logs and cubins, so
 * that their faults cannot harm the main process.
 */
#ifndef COMPILE_WORKER_H
#define COMPILE_WORKER_H

#include "process/worker.h"

#include "compile/compiler.h"

/* The hidden command `worker-compile`. Returns when its input closes. */
int compile_worker_main(void);

/* ---- messages ---- */
enum compile_message {
	COMPILE_LOAD = 1, /* to the worker, before any unit and until a library is loaded: struct
			     compile_load */
	COMPILE_LOADED,   /* reply: the library is loaded: struct compile_loaded */
	COMPILE_REFUSED,  /* reply: it could not be loaded: struct error */
	COMPILE_UNIT,     /* to the worker: struct compile_request */
	COMPILE_RESULT,   /* reply: struct compile_result */
};

/* Asks to load a library, and to compile a small kernel as a test. */
struct compile_load {
	char *path;
};
RECORD_DECLARE(struct compile_load, compile_load_record);

struct compile_loaded {
	char *path; /* where the dynamic loader found it */
	char *identity;
	int32_t major;
};
RECORD_DECLARE(struct compile_loaded, compile_loaded_record);

struct compile_request {
	struct build_unit unit;
	char *arch;
	char *tile_folder, *tile_nvrtc; /* from struct tile_toolkit for a tile kernel, else NULL */
};
RECORD_DECLARE(struct compile_request, compile_request_record);

/* Does not contain from_cache, which the caller sets. */
RECORD_DECLARE(struct compile_result, compile_result_record);

#endif
