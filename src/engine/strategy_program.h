/* SPDX-License-Identifier: MIT
 *
 * --strategy program:CMD: a strategy in another process, which gets the space, the predictions and
 * each result, and answers with the next configuration, in lines of JSON (README.md has a
 * transcript). 20 invalid proposals in a row, or no answer for 60 s, end the search.
 */
#ifndef ENGINE_STRATEGY_PROGRAM_H
#define ENGINE_STRATEGY_PROGRAM_H

#include <signal.h>

#include "engine/candidates.h"

extern const struct strategy strategy_program;
/* Spaces separate the words of `command`. worker_path is as in process/worker.h. The pool must
 * outlive the state. */
enum status strategy_program_open(const char *command, const char *worker_path,
	const struct candidates *pool, volatile sig_atomic_t *interrupted, void **state,
	struct error *err);
/* Sets the clock_seconds() at which waiting for an answer ends. */
void strategy_program_until(void *state, double until_s);
/* Returns why the program makes no more proposals; borrowed. */
const char *strategy_program_why(const void *state);

#endif
