/* SPDX-License-Identifier: MIT
 *
 * Who tunes which problem of the queue. One GPU takes them in their order. Of several each that has
 * nothing to do takes the longest of those that are left, once the steps of composite families
 * before it are done; what a GPU had under way when it was lost goes to another.
 */
#ifndef TUNE_DEAL_H
#define TUNE_DEAL_H

#include "tune/session.h"

/* All of session->queue. Errors as session_run(). */
enum status deal_queue(struct session *session, struct error *err);

#endif
