/* SPDX-License-Identifier: MIT
 *
 * Fills the cache of compiled kernels on a machine without the GPU (`tune --compile-only`).
 */
#ifndef TUNE_PRECOMPILE_H
#define TUNE_PRECOMPILE_H

#include "tune/run.h"

/* Compiles all that tune_problems() would try on a device model, and the helper kernels and
 * references that only a GPU needs. */
enum status precompile_run(struct tune_run *run, struct error *err);

#endif
