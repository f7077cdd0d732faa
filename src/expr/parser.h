/* SPDX-License-Identifier: MIT
 *
 * From text to tree.
 */
#ifndef EXPR_PARSER_H
#define EXPR_PARSER_H

#include "base/error.h"
#include "expr/node.h"

enum {
	PARSER_TEXT_MAX = 65536, /* bytes */
	PARSER_CLAUSES_MAX = 16, /* `for` and `if` of one comprehension */
	PARSER_NESTING_MAX = 100 /* brackets, signs, `not`, `**` and `if` within each other */
};

/* Names are not resolved yet. Strings and nodes lie in the arena. */
enum status parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err);

#endif
