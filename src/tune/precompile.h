/* SPDX-License-Identifier: MIT
 *
 * Kernels compiled into the cache on a machine without a GPU, for the runs on GPUs of that model.
 */
#ifndef TUNE_PRECOMPILE_H
#define TUNE_PRECOMPILE_H

#include "tune/session.h"

/* What session_run() would try on a device model, with the helper kernels and references that only
 * a GPU needs. Nothing is written but the cache. Errors as session_run(). */
enum status precompile_run(struct session *session, struct error *err);

#endif
