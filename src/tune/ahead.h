/* SPDX-License-Identifier: MIT
 *
 * The next problem's candidates, found and scored while the GPU is at another's.
 */
#ifndef TUNE_AHEAD_H
#define TUNE_AHEAD_H

#include "tune/search.h"

struct ahead;

/* A thread prepares this problem (search_prepare()). NULL: it cannot be known yet, or no thread is
 * to be had. session outlives it. */
struct ahead *ahead_begin(struct session *session, size_t number);
/* Waits for it, in which time others have their turns. */
enum status ahead_end(struct ahead *ahead, struct search **search, struct error *err);
void ahead_drop(struct ahead *ahead); /* NULL is fine */

#endif
