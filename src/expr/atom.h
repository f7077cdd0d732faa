/* SPDX-License-Identifier: MIT
 *
 * The atoms of the grammar: numbers, strings, names, calls, parentheses, lists, comprehensions.
 */
#ifndef EXPR_ATOM_H
#define EXPR_ATOM_H

#include "expr/parser.h"

struct node *parse_atom(struct parser *parser);
const char *const *function_names(void); /* of the language; NULL-terminated */

#endif
