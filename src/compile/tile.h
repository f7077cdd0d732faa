/* SPDX-License-Identifier: MIT
 *
 * CUDA Tile C++: NVRTC 13.3 or newer makes Tile IR of a source, and the assembler `tileiras` makes
 * a cubin of it. Both come from one folder, because an assembler fails with libraries of an older
 * toolkit.
 */
#ifndef COMPILE_TILE_H
#define COMPILE_TILE_H

#include "base/error.h"
#include "base/text.h"

struct tile_toolkit {
	char *folder; /* has bin/tileiras, bin/ptxas, include/cuda_tile.h, and the two libraries */
	char *nvrtc;  /* the path of its library */
	char *identity; /* "NVRTC V13.5.37, tileiras V13.5.37": part of the keys of compiled
			 * kernels */
};

/* Looks for the newest one that is complete, and loads nothing: TILETUNE_TILE, CUDA_HOME,
 * CUDA_PATH, the wheels beside the program, usual places, the virtual environment, build/cuda.
 * executable_folder: where the program is. Errors: STATUS_NO_DEVICE with the places and what each
 * of them lacks; the hint names the command that installs it. */
enum status tile_toolkit_find(
	const char *executable_folder, struct tile_toolkit *toolkit, struct error *err);
void tile_toolkit_release(struct tile_toolkit *toolkit);

enum tile_answer {
	TILE_ASSEMBLED,
	TILE_REFUSED, /* the assembler's exit code says so: the same each time */
	TILE_BROKEN,  /* the assembler crashed or did not start */
};

/* Runs the assembler of `folder` in a process of its own, which ends with the caller. arch:
 * "sm_90". The log gets what it printed, or how it ended. */
enum tile_answer tile_assemble(const char *folder, const char *arch, const struct text *tile_ir,
	struct text *cubin, struct text *log);

#endif
