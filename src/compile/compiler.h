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
	unsigned workers;         /* 0: one per core, bounded by memory */
	const char *worker_path;  /* NULL: this executable; started as `PATH worker-compile` */
	const char *nvrtc_path;   /* NULL: search, see compiler_places() */
	int driver_cuda_version;  /* 13000 for 13.0; 0: no driver; newer major versions of NVRTC are
				   * left out */
	const char *cache_folder; /* NULL: no cache */
	const char *cache_seed;   /* another one, which is only read; NULL: see compile/cache.h */
	double timeout_s;         /* per unit; 0: 120 */
};

struct compiler_entry {
	char *name;                        /* of the build unit's entries */
	char *symbol;                      /* what the cubin calls it */
	struct kernel_resources resources; /* blocks_per_sm not set */
};

struct compile_result {
	enum outcome outcome; /* ok, compile_failed, compile_crashed, compile_timeout */
	struct text cubin;    /* PTX text for an arch "compute_90a"; empty unless ok */
	char *log; /* NULL: it is not there yet. ok: warnings, without the report; else why not, in
		    * at most 12 lines */
	struct compiler_entry *entries; /* of the build unit, in its order; ok only */
	size_t entry_count;
	double seconds;  /* that the compiler took, now or when the cached one was made */
	bool from_cache; /* nothing was compiled for it */
};

/* STATUS_NO_DEVICE if there is no usable NVRTC: says what was looked for and where. */
enum status compiler_open(
	const struct compiler_options *options, struct compiler **compiler, struct error *err);
/* Where NVRTC is looked for, a line each, as the caller frees it. Nothing is loaded. */
char *compiler_places(const struct compiler_options *options);
void compiler_close(struct compiler *compiler);                 /* kills the workers */
const char *compiler_identity(const struct compiler *compiler); /* "NVRTC 13.0 (V13.0.88)" */
const char *compiler_path(const struct compiler *compiler);
unsigned compiler_worker_count(const struct compiler *compiler);
/* Why the cache could not be written to, the first time it failed; NULL: it never did. */
const char *compiler_cache_problem(const struct compiler *compiler);

/* The toolkit that compiles tile kernels, borrowed (toolkit may be NULL). It is looked for at the
 * first call. Errors: those of tile_toolkit_find(). */
enum status compiler_find_tile(
	struct compiler *compiler, const struct tile_toolkit **toolkit, struct error *err);

/* Queues a unit (copied). arch: "sm_90a". The result, which the caller keeps until then and
 * releases, is zeroed, and filled by a call of compiler_poll() or, where it is cached, by this one.
 * Results come in any order. */
enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, struct compile_result *result, struct error *err);
bool compile_is_done(const struct compile_result *result);
size_t compiler_pending(const struct compiler *compiler); /* submitted, not yet filled */
/* True if results were filled since the last call; false when none were within timeout_s (0: only
 * look, infinite: no limit), at once when nothing is pending. */
bool compiler_poll(struct compiler *compiler, double timeout_s);
/* Its processes, to be waited for together with others. */
struct pool *compiler_pool(struct compiler *compiler);
void compile_result_release(struct compile_result *result);

#endif
