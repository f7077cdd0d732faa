/* SPDX-License-Identifier: MIT
 *
 * Run-time compilation: NVRTC in persistent worker processes, ahead of the GPU, behind a
 * content-addressed cache. A compiler that crashes or hangs is killed and costs one unit.
 *
 *	compiler_open -> { compiler_submit* , compiler_poll* }* -> compiler_close
 */
#ifndef COMPILE_COMPILER_H
#define COMPILE_COMPILER_H

#include "candidate/build.h"
#include "format/result.h"

struct compiler;
struct pool;
struct tile_toolkit;

struct compiler_options {
	unsigned workers; /* number of worker processes; 0: one per core, limited by memory */
	const char
		*worker_path; /* program, started as `PATH worker-compile`; NULL: this executable */
	const char *nvrtc_path;   /* NULL: search for it, see compiler_places() */
	int driver_cuda_version;  /* 13000 for 13.0; 0: no driver. NVRTC of a newer major version is
				     not used */
	const char *cache_folder; /* NULL: a temporary one, removed by compiler_close() */
	const char *cache_seed;   /* a second cache that is only read; NULL: see compile/cache.h */
	double timeout_s;         /* time limit per unit; 0: 120 s */
};

struct compiler_entry {
	char *name;                        /* name of an entry of the build unit */
	char *symbol;                      /* its name in the cubin */
	struct kernel_resources resources; /* without blocks_per_sm */
};

/* Begins the line of a log, also of a successful compilation, that lists missing headers. */
#define COMPILER_MISSING "headers that were not found are empty here: "

struct compile_result {
	enum outcome outcome; /* ok, compile_failed, compile_crashed, compile_timeout */
	struct text cubin;    /* PTX text for an arch "compute_90a"; empty unless ok */
	char *path;           /* of the cache's file with the cubin, for kernel_code_read(); NULL
				 unless ok, or if it could not be stored */
	char *log; /* NULL: the result is not ready. If ok, the warnings without the report of
		      ptxas; else the reason, in at most 12 lines */
	struct compiler_entry *entries; /* the unit's entries in its order; only if ok */
	size_t entry_count;
	bool exceeds_smem; /* it failed because a kernel declares too much shared memory */
	double seconds;    /* compile time, also of a result from the cache */
	bool from_cache;   /* taken from the cache */
};

/* Fails with STATUS_NO_DEVICE if there is no usable NVRTC; the message lists what was searched
 * for and where. */
enum status compiler_open(
	const struct compiler_options *options, struct compiler **compiler, struct error *err);
/* Lists the places where NVRTC is searched for, one per line, and loads nothing. The caller
 * frees the text. */
char *compiler_places(const struct compiler_options *options);
void compiler_close(struct compiler *compiler);                 /* kills the workers */
const char *compiler_identity(const struct compiler *compiler); /* "NVRTC 13.0 (V13.0.88)" */
const char *compiler_path(const struct compiler *compiler);
unsigned compiler_worker_count(const struct compiler *compiler);
/* Why the cache could not be written to when it first failed; NULL: it never failed. */
const char *compiler_cache_problem(const struct compiler *compiler);

/* Gets the toolkit that compiles tile kernels, which is borrowed; toolkit may be NULL. The first
 * call searches for it. Errors are those of tile_toolkit_find(). */
enum status compiler_find_tile(
	struct compiler *compiler, const struct tile_toolkit **toolkit, struct error *err);

/* Queues a copy of the unit for an architecture ("sm_90a"). `result` is zeroed at once, and
 * filled by compiler_poll(), or by this call if the kernel is in the cache. It must stay valid
 * until then; the caller releases it. Results come in any order. */
enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, struct compile_result *result, struct error *err);
bool compile_is_done(const struct compile_result *result);
size_t compiler_pending(const struct compiler *compiler); /* submitted and not filled yet */
/* Waits for results. Returns true if any were filled since the last call. Returns false after
 * timeout_s (0: do not wait; infinite: no limit), or at once if nothing is pending. */
bool compiler_poll(struct compiler *compiler, double timeout_s);
/* The pool of worker processes, for waiting for several pools at once. */
struct pool *compiler_pool(struct compiler *compiler);
void compile_result_release(struct compile_result *result);
/* Reads the code in a cache's file or in a plain cubin. */
enum status kernel_code_read(const char *path, struct text *code, struct error *err);

#endif
