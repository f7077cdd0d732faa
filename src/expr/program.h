/* SPDX-License-Identifier: MIT
 *
 * The program of an expression: instructions over one array of registers, which holds the
 * constants, then the values of the slots that are read (copied at the start of a run), then
 * loop variables and intermediate results.
 */
#ifndef EXPR_PROGRAM_H
#define EXPR_PROGRAM_H

#include "base/error.h"
#include "expr/list.h"
#include "expr/node.h"

enum {
	PROGRAM_STEPS_MAX = 1 << 22 /* loop iterations and list elements looked at, per run */
};

struct instruction {
	uint16_t opcode;
	uint16_t out, left, right; /* registers; what else they can be is in opcode.def */
};

struct program {
	struct instruction *code;
	uint32_t *columns; /* of each instruction, for messages */
	size_t code_count;
	struct value *registers;
	size_t register_count, constant_count;
	int *slots; /* ascending; slot i is copied to register constant_count + i */
	size_t slot_count;
	struct list_pool pool;
};

/* Generates the program of a resolved tree. Strings and lists of its constants stay where they
 * are. Error: more than 65535 instructions or registers. */
enum status program_build(
	struct program *program, struct node *root, const char *where, struct error *err);
void program_release(struct program *program);

/* Runs it; *result points to a register and is valid until the next run. `where` for messages. */
enum status program_run(struct program *program, const struct value *values, int64_t steps_max,
	const struct value **result, const char *where, struct error *err);

#endif
