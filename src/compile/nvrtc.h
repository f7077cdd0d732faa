/* SPDX-License-Identifier: MIT
 *
 * NVRTC, loaded at run time in a worker process.
 */
#ifndef COMPILE_NVRTC_H
#define COMPILE_NVRTC_H

#include <nvrtc.h>

#include "base/text.h"
#include "candidate/build.h"
#include "compile/toolkit.h"
#include "format/result.h"
#include "process/library.h"

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
	/* functions for tile kernels; NULL before CUDA 13.3 */
	nvrtcResult (*tile_ir_size)(nvrtcProgram, size_t *);
	nvrtcResult (*tile_ir)(nvrtcProgram, char *);
};

struct nvrtc {
	struct library library, builtins;
	struct nvrtc_functions functions;
	int major, minor;
	bool refused_extras[4];
	struct name_set missing;
	char identity[96]; /* "NVRTC 13.0 (V13.0.88)", with the build because nvrtcVersion() hides
			      patch releases */
};

/* path is a file, or a name for the dynamic loader. The caller releases nvrtc even after a
 * failure. */
enum status nvrtc_load(struct nvrtc *nvrtc, const char *path, struct error *err);
void nvrtc_release(struct nvrtc *nvrtc);

/* Returns the version ("V13.0.88") in a toolkit's library or program, else a hash of the file
 * ("file 0123..."); NULL if it cannot be read. The caller frees the text. */
char *nvrtc_file_build(const char *path);

/* Tests the installation by compiling an empty kernel, and sets the identity. */
enum status nvrtc_try(struct nvrtc *nvrtc, struct error *err);

/* Returns ok, compile_failed (the source or the options are wrong) or compile_crashed.
 * arch "sm_90a" gives a cubin and "compute_90a" PTX; a tile kernel needs "compute_90" and gives
 * Tile IR. Sets `log` to the compiler's output. On success symbols[i], which the caller frees, is
 * the name of entry i in the code. Headers that `toolkit`, which may be NULL, lacks are empty,
 * because most serve only host code; a line of the log names them. */
enum outcome nvrtc_compile(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *arch, char **symbols, struct text *image,
	struct text *log);

#endif
