/* SPDX-License-Identifier: MIT
 *
 * Which GPU tunes which problem of the queue. One GPU takes the problems in order. Of several GPUs
 * each idle one takes the longest remaining problem, once the earlier steps of its composite
 * families are done. A problem that was in progress on a lost GPU goes to another.
 */
#ifndef TUNE_DEAL_H
#define TUNE_DEAL_H

#include "tune/session.h"

/* All of session->queue. Errors as session_run(). */
enum status deal_queue(struct session *session, struct error *err);

/* Compiles what session_run() would try on a device model, with the helper kernels and references
 * that only a GPU needs. */
enum status deal_precompile(struct session *session, struct error *err);

#endif
