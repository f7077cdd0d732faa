/* SPDX-License-Identifier: MIT
 *
 * Run-time compilation by NVRTC in worker processes, behind a cache:
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
	unsigned workers;         /* 0: one per core, limited by memory */
	const char *worker_path;  /* started as `PATH worker-compile`; NULL: this executable */
	const char *nvrtc_path;   /* NULL: search for it */
	int driver_cuda_version;  /* 13000 for 13.0, whose major version limits NVRTC's; or 0 */
	const char *cache_folder; /* NULL: a temporary one */
	const char *cache_seed;   /* a second cache that is only read; or NULL (compile/cache.h) */
	double timeout_s;         /* per unit; 0: 120 s */
};

struct compiler_entry {
	char *name;
	char *symbol;
	struct kernel_resources resources; /* without blocks_per_sm */
};

/* Begins a line of the log, also of a successful compilation. */
#define COMPILER_MISSING "headers that were not found are empty here: "

struct compile_result {
	enum outcome outcome; /* ok, compile_failed, compile_crashed, compile_timeout */
	struct text cubin;    /* PTX for an arch "compute_90a"; empty unless ok */
	char *path;           /* of its file, for kernel_code_read(); NULL if it is not stored */
	char *log;            /* warnings, or the reason in at most 12 lines; NULL: not ready */
	struct compiler_entry *entries; /* in the unit's order; only if ok */
	size_t entry_count;
	bool exceeds_smem; /* why it failed */
	double seconds;    /* also of a result from the cache */
	bool from_cache;
};

/* Fails with STATUS_NO_DEVICE if there is no usable NVRTC. */
enum status compiler_open(
	const struct compiler_options *options, struct compiler **compiler, struct error *err);
/* Lists the places where NVRTC is searched for, one per line. The caller frees the text. */
char *compiler_places(const struct compiler_options *options);
void compiler_close(struct compiler *compiler);
const char *compiler_identity(const struct compiler *compiler); /* "NVRTC 13.0 (V13.0.88)" */
const char *compiler_path(const struct compiler *compiler);
unsigned compiler_worker_count(const struct compiler *compiler);
/* Why the cache could not be written to; NULL if it could. */
const char *compiler_cache_problem(const struct compiler *compiler);

/* Gets the toolkit that compiles tile kernels, which is borrowed; toolkit may be NULL. Errors are
 * those of tile_toolkit_find(). */
enum status compiler_find_tile(
	struct compiler *compiler, const struct tile_toolkit **toolkit, struct error *err);

/* Queues a copy of the unit for an architecture ("sm_90a"). `result` is filled by compiler_poll(),
 * or by this call if the kernel is in the cache, and must stay valid until then. The caller
 * releases it. */
enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, struct compile_result *result, struct error *err);
bool compile_is_done(const struct compile_result *result);
size_t compiler_pending(const struct compiler *compiler);
/* Waits until results were filled since the last call. Returns false after timeout_s, or if nothing
 * is pending. */
bool compiler_poll(struct compiler *compiler, double timeout_s);
struct pool *compiler_pool(struct compiler *compiler);
void compile_result_release(struct compile_result *result);
/* Reads the code in a file of the cache, or a plain cubin. */
enum status kernel_code_read(const char *path, struct text *code, struct error *err);

#endif
