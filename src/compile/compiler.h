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
	unsigned workers; /* 0 starts one per core, limited by memory */
	/* started as `PATH worker-compile`; NULL selects this executable */
	const char *worker_path;
	const char *nvrtc_path;   /* NULL searches for NVRTC */
	int driver_cuda_version;  /* 13000 for 13.0, the newest major version allowed for NVRTC; 0
				     sets no limit */
	const char *cache_folder; /* NULL selects a temporary folder */
	const char *cache_seed;   /* second, read-only cache (compile/cache.h), or NULL */
	double timeout_s;         /* time limit per unit; 0 selects 120 s */
};

struct compiler_entry {
	char *name;
	char *symbol;
	struct kernel_resources resources; /* without blocks_per_sm */
};

/* Begins a line of the log, even after a successful compilation. */
#define COMPILER_MISSING "headers that were not found are empty here: "

struct compile_result {
	enum outcome outcome; /* ok, compile_failed, compile_crashed, compile_timeout */
	struct text cubin;    /* PTX for an arch "compute_90a"; empty unless outcome is ok */
	char *path;           /* file for kernel_code_read(); NULL if the kernel is not stored */
	char *log; /* warnings, or the error in at most 12 lines; NULL until the result is ready */
	struct compiler_entry *entries; /* entries in the unit's order; only if outcome is ok */
	size_t entry_count;
	bool exceeds_smem; /* the kernel needs too much shared memory */
	double seconds;    /* compile time, even of a result from the cache */
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
/* Returns why a write to the cache failed, or NULL if none failed. */
const char *compiler_cache_problem(const struct compiler *compiler);

/* Finds the toolkit for tile kernels; *toolkit is borrowed, and toolkit may be NULL. Fails like
 * tile_toolkit_find(). */
enum status compiler_find_tile(
	struct compiler *compiler, const struct tile_toolkit **toolkit, struct error *err);

/* Queues a copy of the unit for an architecture ("sm_90a"). `result` is filled by compiler_poll(),
 * or by this call if the kernel is in the cache, and must stay valid until then. The caller
 * releases it. */
enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, struct compile_result *result, struct error *err);
bool compile_is_done(const struct compile_result *result);
size_t compiler_pending(const struct compiler *compiler);
/* Waits for new results. Returns false after timeout_s, or if nothing is pending. */
bool compiler_poll(struct compiler *compiler, double timeout_s);
struct pool *compiler_pool(struct compiler *compiler);
void compile_result_release(struct compile_result *result);
/* Reads the code from a file of the cache or from a plain cubin. */
enum status kernel_code_read(const char *path, struct text *code, struct error *err);

#endif
