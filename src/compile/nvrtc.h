/* SPDX-License-Identifier: MIT
 *
 * NVRTC, loaded at run time in a worker process. A single thread compiles one program at a time.
 */
#ifndef COMPILE_NVRTC_H
#define COMPILE_NVRTC_H

#include <nvrtc.h>

#include "base/text.h"
#include "candidate/build.h"
#include "compile/toolkit.h"
#include "process/library.h"

/* CALL(member, name as in NVRTC's header) */
#define NVRTC_CALLS(CALL)                                                                          \
	CALL(version, nvrtcVersion)                                                                \
	CALL(error_string, nvrtcGetErrorString)                                                    \
	CALL(create, nvrtcCreateProgram)                                                           \
	CALL(destroy, nvrtcDestroyProgram)                                                         \
	CALL(compile, nvrtcCompileProgram)                                                         \
	CALL(log_size, nvrtcGetProgramLogSize)                                                     \
	CALL(log, nvrtcGetProgramLog)                                                              \
	CALL(cubin_size, nvrtcGetCUBINSize)                                                        \
	CALL(cubin, nvrtcGetCUBIN)                                                                 \
	CALL(ptx_size, nvrtcGetPTXSize)                                                            \
	CALL(ptx, nvrtcGetPTX)                                                                     \
	CALL(add_expression, nvrtcAddNameExpression)                                               \
	CALL(lowered_name, nvrtcGetLoweredName)

struct nvrtc_functions {
#define CALL(member, name) __typeof__(name) *member;
	NVRTC_CALLS(CALL)
#undef CALL
	/* for tile kernels, since CUDA 13.3; NULL in older versions */
	nvrtcResult (*tile_ir_size)(nvrtcProgram, size_t *);
	nvrtcResult (*tile_ir)(nvrtcProgram, char *);
};

struct nvrtc {
	struct library library, builtins;
	struct nvrtc_functions functions;
	int major, minor;
	bool refused_extras[4];  /* extra options that this version does not support */
	struct name_set missing; /* headers that sources include but that do not exist */
	char identity[96];       /* "NVRTC 13.0 (V13.0.88)" with the full build number, because
				    nvrtcVersion() hides patch releases */
};

enum nvrtc_answer {
	NVRTC_COMPILED,
	NVRTC_REFUSED, /* the source or the options are wrong; the result is reproducible */
	NVRTC_BROKEN,  /* the compiler failed: out of memory, internal error */
	NVRTC_LATE,    /* the assembler of tile kernels took too long */
};

/* Loads a file, or a name that the dynamic loader finds. The caller releases nvrtc even after a
 * failure. */
enum status nvrtc_load(struct nvrtc *nvrtc, const char *path, struct error *err);
void nvrtc_release(struct nvrtc *nvrtc);

/* Reads the full version ("V13.0.88") of a toolkit's library or program from its file. Without a
 * version it returns a hash of the file ("file 0123..."), and NULL if the file cannot be read.
 * The caller frees the text. */
char *nvrtc_file_build(const char *path);

/* Compiles an empty kernel to test that the installation is complete, and sets the identity. */
enum status nvrtc_try(struct nvrtc *nvrtc, struct error *err);

/* Compiles a unit. arch "sm_90a" gives a cubin and "compute_90a" PTX text. A tile kernel needs
 * an arch like "compute_90" and gives Tile IR, which compile/tile.h assembles. Every answer sets
 * `log` to the compiler's output with the report of ptxas. On success symbols[i] is the name in the
 * code of entry i, which may be a C++ name expression; the caller frees it. `toolkit` has the
 * headers that the unit may include; it may be NULL. Other headers are taken as empty, because most
 * of them serve only code of the host; a line of the log names them. */
enum nvrtc_answer nvrtc_compile(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *arch, char **symbols, struct text *image,
	struct text *log);

#endif
