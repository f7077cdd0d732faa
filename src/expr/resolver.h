/* SPDX-License-Identifier: MIT
 *
 * Gives every name of a tree its meaning: a loop variable, or a slot of the name table.
 */
#ifndef EXPR_RESOLVER_H
#define EXPR_RESOLVER_H

#include "expr/expression.h"
#include "expr/node.h"

/* *unknown (may be NULL): set, and STATUS_OK returned, where a name is not known; with NULL that is
 * an error. */
enum status resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err);

#endif
