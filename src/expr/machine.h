/* SPDX-License-Identifier: MIT
 *
 * Runs programs. What changes in a run belongs to the run, so that threads can run one program at
 * the same time.
 *
 *	struct run run;
 *	status = run_program(&run, program, values, RUN_STEPS_MAX, where, err);
 *	... *run.result ...
 *	run_end(&run);
 */
#ifndef EXPR_MACHINE_H
#define EXPR_MACHINE_H

#include "expr/program.h"

enum {
	RUN_STEPS_MAX = 1 << 22, /* loop iterations and list elements looked at */
	RUN_REGISTERS_NEAR = 48  /* as many as nearly all programs have */
};

struct run {
	const struct value *result; /* points into the run */
	struct value *registers;
	struct list_pool pool;
	struct value near[RUN_REGISTERS_NEAR];
};

/* values: one per slot. `where` for messages. run needs no initialisation; release it also after an
 * error. */
enum status run_program(struct run *run, const struct program *program, const struct value *values,
	int64_t steps_max, const char *where, struct error *err);
void run_end(struct run *run);

#endif
