/* SPDX-License-Identifier: MIT
 *
 * Instructions of the machine; one row of opcode.def each.
 */
#ifndef SPACE_OPCODE_H
#define SPACE_OPCODE_H

enum opcode {
#define OPCODE(id, symbol) OPCODE_##id,
#include "space/opcode.def"
#undef OPCODE
	OPCODE_COUNT
};

const char *opcode_symbol(enum opcode opcode);

#endif
