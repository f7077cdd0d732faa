/* SPDX-License-Identifier: MIT
 *
 * Makes a resolved tree smaller: computes what is constant, drops what cannot be reached.
 */
#ifndef EXPR_FOLDER_H
#define EXPR_FOLDER_H

#include "expr/node.h"

/* Returns the new root; new nodes lie in the arena. What would fail is left for the run. */
struct node *fold(struct node *root, struct arena *arena);

/* A copy in which slots that have a value (type other than VALUE_NONE) are constants. */
struct node *node_specialise(
	const struct node *root, const struct value *values, struct arena *arena);

#endif
