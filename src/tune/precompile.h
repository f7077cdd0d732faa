/* SPDX-License-Identifier: MIT
 *
 * Fills the cache of kernels on a machine without the GPU (`tune --compile-only`).
 */
#ifndef TUNE_PRECOMPILE_H
#define TUNE_PRECOMPILE_H

#include "tune/run.h"

/* Also compiles the helper kernels and references that only a GPU needs. */
enum status precompile_run(struct tune_run *run, struct error *err);

#endif
