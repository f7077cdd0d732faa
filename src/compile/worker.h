/* SPDX-License-Identifier: MIT
 *
 * The worker process loads NVRTC, compiles units, and reads logs and cubins. A crash in this work
 * cannot harm the main process.
 */
#ifndef COMPILE_WORKER_H
#define COMPILE_WORKER_H

#include "process/worker.h"

#include "compile/compiler.h"

/* Runs the hidden command `worker-compile`. Returns when its input closes. */
int compile_worker_main(void);

/* ---- messages: lines of JSON ---- */
struct compile_unit {
	struct build_unit unit;
	char *arch;
	char *tile_folder, *tile_nvrtc; /* set for a tile kernel, else NULL */
};

/* A request has exactly one of the members. */
struct compile_request {
	char *load; /* library to load, before any unit; repeated until one is loaded */
	struct compile_unit *compile;
};
RECORD_DECLARE(struct compile_request, compile_request_record);

struct compile_loaded {
	char *path;
	char *identity;
	int32_t major;
};
RECORD_DECLARE(struct compile_loaded, compile_loaded_record);

/* The message lacks from_cache and path, which the parent sets. */
RECORD_DECLARE(struct compile_result, compile_result_record);

/* An answer has exactly one of the members. */
struct compile_answer {
	struct compile_loaded *loaded;
	struct error error;
	bool failed;
	struct compile_result *result;
};
RECORD_DECLARE(struct compile_answer, compile_answer_record);

#endif
