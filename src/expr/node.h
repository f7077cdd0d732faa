/* SPDX-License-Identifier: MIT
 *
 * The tree of an expression, between its text and its program: made by the parser, its names
 * resolved, then folded (what is constant is computed, what cannot be reached is dropped). Nodes
 * lie in an arena and are freed with it.
 */
#ifndef EXPR_NODE_H
#define EXPR_NODE_H

#include <stdint.h>

#include "base/error.h"
#include "expr/operator.h"
#include "expr/value.h"

enum {
	NODE_HEIGHT_MAX = 1000 /* of a tree: bounds the recursion of everything that walks it */
};

enum node_kind {
	NODE_CONSTANT,      /* value */
	NODE_NAME,          /* name; becomes NODE_SLOT or NODE_LOCAL when resolved */
	NODE_SLOT,          /* index: slot of the name table */
	NODE_LOCAL,         /* index: number of the loop variable */
	NODE_UNARY,         /* opcode */
	NODE_BINARY,        /* opcode */
	NODE_CHAIN,         /* a < b < c: children a, b, c; links */
	NODE_AND,           /* two children or more */
	NODE_OR,            /* two children or more */
	NODE_CONDITION,     /* children: what if true, the condition, what if false */
	NODE_LIST,          /* children: the elements */
	NODE_RANGE,         /* children: one to three arguments */
	NODE_COMPREHENSION, /* children: the element, then NODE_FOR and NODE_IF in order */
	NODE_FOR,           /* name, index of the loop variable; child: what it runs over */
	NODE_IF,            /* child: the condition */
};

/* A comparison in a chain. */
struct node_link {
	enum opcode opcode;
	uint32_t column;
};

struct node {
	enum node_kind kind;
	enum opcode opcode;
	uint32_t column; /* 1-based, in characters; of the operator where there is one */
	uint32_t height; /* 1 for a leaf */
	int index;
	int local_end; /* comprehension: its loop variables, and those in it, are index..local_end-1
			*/
	bool tried;    /* folding was tried and failed */
	struct value value;
	const char *name;
	struct node **children;
	size_t count;
	struct node_link *links; /* count - 1 of them */
};

struct node *node_new(struct value_arena *arena, enum node_kind kind, uint32_t column);
/* Sets the children (copied into the arena) and the height. */
void node_adopt(
	struct value_arena *arena, struct node *node, struct node *const *children, size_t count);

struct name_table; /* expr/expression.h */

/* Gives every name its meaning: a loop variable, or a slot of the name table. *unknown (may be
 * NULL): set, and STATUS_OK returned, where a name is not known; with NULL that is an error. */
enum status node_resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err);
/* Returns the new root; new nodes lie in the arena. What would fail is left for the run. */
struct node *node_fold(struct node *root, struct value_arena *arena);
/* A copy in which slots that have a value (type other than VALUE_NONE) are constants. */
struct node *node_specialise(
	const struct node *root, const struct value *values, struct value_arena *arena);

#endif
