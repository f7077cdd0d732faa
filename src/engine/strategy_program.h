/* SPDX-License-Identifier: MIT
 *
 * --strategy program:CMD, a strategy in any language: a process that gets the space, the
 * predictions and each result, and answers with the next configuration, in lines of JSON (README.md
 * has a transcript). A proposal that is not in the space, was tried before, or answers an earlier
 * question is answered with an error line; 20 of them in a row end the search, and so does silence
 * of 60 s.
 */
#ifndef ENGINE_STRATEGY_PROGRAM_H
#define ENGINE_STRATEGY_PROGRAM_H

#include <signal.h>

#include "engine/candidates.h"

extern const struct strategy strategy_program; /* not opened by its table, but by: */
/* command: words that are separated by spaces. worker_path: as in process/worker.h. The pool
 * outlives the state. */
enum status strategy_program_open(const char *command, const char *worker_path,
	const struct candidates *pool, volatile sig_atomic_t *interrupted, void **state,
	struct error *err);
/* clock_seconds() after which no answer is awaited; without a call there is no such time. */
void strategy_program_until(void *state, double until_s);
/* Why the program proposes nothing more; borrowed. */
const char *strategy_program_why(const void *state);

#endif
