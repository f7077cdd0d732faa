/* SPDX-License-Identifier: MIT
 *
 * The program of an expression: instructions over one array of registers, which holds the
 * constants, then the values of the slots that are read, then loop variables and intermediate
 * results. Nothing of it changes while it runs: the registers are those of the run (machine.h).
 */
#ifndef EXPR_PROGRAM_H
#define EXPR_PROGRAM_H

#include "base/error.h"
#include "expr/list.h"
#include "expr/node.h"

struct instruction {
	uint16_t opcode;
	uint16_t out, left, right; /* registers; what else they can be: see OPCODES */
};

struct program {
	struct instruction *code;
	uint32_t *columns; /* of each instruction, for messages */
	size_t code_count;
	struct value *constants;
	size_t register_count, constant_count;
	int *slots; /* ascending; slot i is copied to register constant_count + i */
	size_t slot_count;
};

/* Generates the program of a resolved tree. Strings and lists of its constants stay where they
 * are. Error: more than 65535 instructions or registers. */
enum status program_build(
	struct program *program, struct node *root, const char *where, struct error *err);
void program_release(struct program *program);

#endif
