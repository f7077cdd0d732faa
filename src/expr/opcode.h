/* SPDX-License-Identifier: MIT
 *
 * Instructions of the machine; one row of opcode.def each.
 */
#ifndef EXPR_OPCODE_H
#define EXPR_OPCODE_H

enum opcode {
#define OPCODE(id, symbol) OPCODE_##id,
#include "expr/opcode.def"
#undef OPCODE
	OPCODE_COUNT
};

const char *opcode_symbol(enum opcode opcode);

#endif
