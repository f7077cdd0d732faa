/* SPDX-License-Identifier: MIT
 *
 * CUDA Tile C++: NVRTC 13.3 or newer produces Tile IR, and the assembler `tileiras` a cubin. Both
 * come from one folder, because the assembler fails with libraries of an older toolkit.
 */
#ifndef COMPILE_TILE_H
#define COMPILE_TILE_H

#include "base/error.h"
#include "base/text.h"
#include "format/result.h"

struct tile_toolkit {
	char *folder; /* contains bin/tileiras */
	char *nvrtc;
	char *identity; /* "NVRTC V13.5.37, tileiras V13.5.37" */
};

/* Finds the newest complete toolkit. executable_folder is the program's folder. Fails with
 * STATUS_NO_DEVICE and a list of what each place lacks. */
enum status tile_toolkit_find(
	const char *executable_folder, struct tile_toolkit *toolkit, struct error *err);
void tile_toolkit_release(struct tile_toolkit *toolkit);

/* Returns ok, compile_failed, compile_crashed or compile_timeout. Runs the assembler of `folder`
 * for an arch like "sm_90". The log gets the assembler's output, or how the process ended. */
enum outcome tile_assemble(const char *folder, const char *arch, const struct text *tile_ir,
	struct text *cubin, struct text *log);

#endif
