/* SPDX-License-Identifier: MIT
 *
 * Compiles CUDA Tile C++: NVRTC 13.3 or newer produces Tile IR, and the assembler `tileiras`
 * turns it into a cubin. Both come from one folder, because the assembler fails with libraries
 * of an older toolkit.
 */
#ifndef COMPILE_TILE_H
#define COMPILE_TILE_H

#include "base/error.h"
#include "base/text.h"

struct tile_toolkit {
	char *folder; /* has bin/tileiras, bin/ptxas, include/cuda_tile.h, and the two libraries */
	char *nvrtc;  /* path of its NVRTC library */
	char *identity; /* "NVRTC V13.5.37, tileiras V13.5.37"; part of the keys in the kernel cache
			 */
};

/* Finds the newest complete toolkit and loads nothing. The places are TILETUNE_TILE, CUDA_HOME,
 * CUDA_PATH, the wheels next to the program, the usual places, the virtual environment, and
 * build/cuda. executable_folder is the program's folder. Fails with STATUS_NO_DEVICE; the
 * message lists the places and what each lacks, and the hint names the command that installs the
 * toolkit. */
enum status tile_toolkit_find(
	const char *executable_folder, struct tile_toolkit *toolkit, struct error *err);
void tile_toolkit_release(struct tile_toolkit *toolkit);

enum tile_answer {
	TILE_ASSEMBLED,
	TILE_REFUSED, /* the assembler rejected the input; the result is reproducible */
	TILE_BROKEN,  /* the assembler crashed or did not start */
	TILE_LATE,    /* the assembler was ended because it took too long */
};

/* Runs the assembler of `folder` in a child process that ends with the caller. arch is like
 * "sm_90". The log gets the assembler's output, or how the process ended. */
enum tile_answer tile_assemble(const char *folder, const char *arch, const struct text *tile_ir,
	struct text *cubin, struct text *log);

#endif
