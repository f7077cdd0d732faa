/* SPDX-License-Identifier: MIT
 *
 * Implements --strategy program:CMD, a strategy in any language. The process gets the space, the
 * predictions and each result, and answers with the next configuration, in lines of JSON
 * (README.md has a transcript). It gets an error line if a proposal is not in the space, was
 * tried before, or answers an earlier question. 20 invalid proposals in a row, or no answer for
 * 60 s, end the search.
 */
#ifndef ENGINE_STRATEGY_PROGRAM_H
#define ENGINE_STRATEGY_PROGRAM_H

#include <signal.h>

#include "engine/candidates.h"

extern const struct strategy
	strategy_program; /* opened by the function below, not through the table */
/* Opens the strategy. `command` has words separated by spaces, worker_path is as in
 * process/worker.h, and the pool must outlive the state. */
enum status strategy_program_open(const char *command, const char *worker_path,
	const struct candidates *pool, volatile sig_atomic_t *interrupted, void **state,
	struct error *err);
/* Sets the clock_seconds() at which waiting for an answer ends; without this call there is no
 * limit. */
void strategy_program_until(void *state, double until_s);
/* Why the program makes no more proposals; borrowed. */
const char *strategy_program_why(const void *state);

#endif
