/* SPDX-License-Identifier: MIT
 *
 * NVRTC, loaded at run time, in a worker process. One program at a time, one thread.
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
	/* since CUDA 13.3, for tile kernels; NULL in older versions */
	nvrtcResult (*tile_ir_size)(nvrtcProgram, size_t *);
	nvrtcResult (*tile_ir)(nvrtcProgram, char *);
};

struct nvrtc {
	struct library library, builtins;
	struct nvrtc_functions functions;
	int major, minor;
	bool refused_extras[3]; /* options of ours that this version does not know */
	char identity[96];      /* "NVRTC 13.0 (V13.0.88)": the full build, because nvrtcVersion()
				 * hides patch releases */
};

enum nvrtc_answer {
	NVRTC_COMPILED,
	NVRTC_REFUSED, /* the source or the options are at fault: the same each time */
	NVRTC_BROKEN,  /* the compiler is: out of memory, an internal error */
};

/* path: a file, or a name for the loader. Released by the caller, also where it does not load. */
enum status nvrtc_load(struct nvrtc *nvrtc, const char *path, struct error *err);
void nvrtc_release(struct nvrtc *nvrtc);

/* The full version of a library or program of the toolkit ("V13.0.88"), from its own text; else a
 * hash of the file ("file 0123..."). NULL if it cannot be read. Caller frees. */
char *nvrtc_file_build(const char *path);

/* Compiles an empty kernel: shows that the installation is complete. */
enum status nvrtc_try(struct nvrtc *nvrtc, struct error *err);

/* arch: "sm_90a" gives a cubin, "compute_90a" PTX text. A tile kernel's unit gives Tile IR
 * (compile/tile.h assembles it). `log` is what the compiler said, with the
 * report of ptxas, with every answer. symbols[i], where the unit was compiled: what the code
 * calls the unit's i-th entry, which is a name or a C++ name expression (the caller frees it).
 * toolkit: whose headers it may include; NULL: none. */
enum nvrtc_answer nvrtc_compile(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *arch, char **symbols, struct text *image,
	struct text *log);

#endif
