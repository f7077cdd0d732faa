/* SPDX-License-Identifier: MIT
 *
 * The tree of an expression: made by the parser, its names resolved, then folded (constants are
 * computed, branches that cannot be reached are dropped), then walked as often as it is evaluated.
 * Nodes lie in an arena and are freed with it.
 */
#ifndef EXPR_NODE_H
#define EXPR_NODE_H

#include "base/error.h"
#include "expr/operator.h"

enum {
	NODE_HEIGHT_MAX = 1000, /* of a tree: bounds the recursion of all that walks it */
	NODE_TEXT_MAX = 65536,  /* bytes */
	NODE_CLAUSES_MAX = 16,  /* `for` and `if` of one comprehension */
	NODE_NESTING_MAX = 100  /* brackets, signs, `not`, `**` and `if` within each other */
};

enum node_kind {
	NODE_CONSTANT,      /* value */
	NODE_NAME,          /* name; becomes NODE_VALUE or NODE_LOCAL when resolved */
	NODE_VALUE,         /* index: of the name table */
	NODE_LOCAL,         /* index: of the loop variable among those known here */
	NODE_UNARY,         /* opcode */
	NODE_BINARY,        /* opcode */
	NODE_IN_RANGE,      /* opcode IN or NOT_IN; children: a value, a NODE_RANGE */
	NODE_CHAIN,         /* a < b < c: children a, then a NODE_LINK for each comparison */
	NODE_LINK,          /* opcode; child: the right operand */
	NODE_LOGICAL,       /* opcode AND or OR; two children or more */
	NODE_CONDITION,     /* children: what if true, the condition, what if false */
	NODE_LIST,          /* children: the elements */
	NODE_RANGE,         /* children: one to three arguments */
	NODE_COMPREHENSION, /* children: the element, then NODE_FOR and NODE_IF in order; index: of
			       its first loop variable */
	NODE_FOR,           /* name, index of the loop variable; child: the list or range */
	NODE_IF,            /* child: the condition */
};

/* Small, and children lie side by side: evaluation waits for memory more than for anything else. */
struct node {
	uint8_t kind, opcode; /* enum node_kind, enum opcode */
	uint16_t height;      /* 1 for a leaf */
	uint32_t column;      /* 1-based, in characters; of the operator where there is one */
	int32_t index;
	uint32_t count; /* of children */
	union {
		struct value value; /* of a constant */
		struct {
			struct node *children;
			const char *name;
		};
	};
};

struct node *node_new(struct value_arena *arena, enum node_kind kind, uint32_t column);
/* Appends a copy of the child, which is complete; the height follows. */
void node_push(struct value_arena *arena, struct node *node, const struct node *child);

/* From text to tree. Names are not resolved yet. Strings and nodes lie in the arena. */
enum status node_parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err);

struct name_table; /* expr/expression.h */
struct value_range;

/* Gives every name its meaning: a loop variable, or an index of the name table. *unknown (may be
 * NULL): set, and STATUS_OK returned, where a name is not known; with NULL that is an error. */
enum status node_resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err);
/* Lists lie in the arena. What would fail is left for the evaluation. */
void node_fold(struct node *root, struct value_arena *arena);
/* A copy in which names that have a value (type other than VALUE_NONE) are constants. */
void node_specialise(const struct node *root, const struct value *values, struct value_arena *arena,
	struct node *copy);

/* The value of a resolved tree: in the tree, in the values, or in *room. NULL after an error. */
const struct value *node_evaluate(
	struct evaluation *evaluation, const struct node *node, struct value *room);

struct value_range node_range(const struct node *root,
	struct value_range (*find)(int index, void *context), void *context);

/* A function of the language; NULL if there is none of this name. */
struct function {
	const char *name, *arguments; /* "2 arguments", for messages */
	size_t least, most;           /* arguments */
	enum opcode opcode;
};
const struct function *function_find(const char *name, size_t length);

#endif
