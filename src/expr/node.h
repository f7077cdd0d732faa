/* SPDX-License-Identifier: MIT
 *
 * The syntax tree of an expression. The parser builds it, then names are resolved, constants are
 * folded and unreachable branches dropped. Each evaluation walks the tree. An arena owns the
 * nodes.
 */
#ifndef EXPR_NODE_H
#define EXPR_NODE_H

#include "base/error.h"
#include "expr/operator.h"

enum {
	NODE_HEIGHT_MAX = 1000, /* bounds the recursion depth */
	NODE_TEXT_MAX = 65536,  /* bytes of source text */
	NODE_CLAUSES_MAX = 16,  /* number of `for` and `if` in one comprehension */
	NODE_NESTING_MAX = 100  /* nesting depth of brackets, signs, `not`, `**` and `if` */
};

enum node_kind {
	NODE_CONSTANT,
	NODE_NAME,  /* name; becomes NODE_VALUE or NODE_LOCAL when resolved */
	NODE_VALUE, /* index in the name table */
	NODE_LOCAL, /* index of the loop variable, counted from the outermost */
	NODE_UNARY,
	NODE_BINARY,
	NODE_IN_RANGE,      /* opcode IN or NOT_IN; children: a value, a NODE_RANGE */
	NODE_CHAIN,         /* a < b < c: children a, then a NODE_LINK for each comparison */
	NODE_LINK,          /* opcode; its child is the right operand */
	NODE_LOGICAL,       /* opcode AND or OR; two children or more */
	NODE_CONDITION,     /* children: value if true, condition, value if false */
	NODE_LIST,          /* the children are the elements */
	NODE_RANGE,         /* one to three children: the arguments of range() */
	NODE_COMPREHENSION, /* children: the element, then NODE_FOR and NODE_IF in order; index of
			       the first loop variable */
	NODE_FOR,           /* name, index of the loop variable; child: the list or range */
	NODE_IF,
};

/* Nodes are small and siblings are adjacent, because evaluation is bound by memory access. */
struct node {
	uint8_t kind, opcode;
	uint16_t height; /* 1 for a leaf */
	uint32_t column; /* 1-based, in characters; column of the operator if there is one */
	int32_t index;
	uint32_t count;
	union {
		struct value value;
		struct {
			struct node *children;
			const char *name;
		};
	};
};

struct node *node_new(struct value_arena *arena, enum node_kind kind, uint32_t column);
/* Appends a copy of the complete child and updates the height. */
void node_push(struct value_arena *arena, struct node *node, const struct node *child);

/* Parses text. Names stay unresolved. Strings and nodes lie in the arena. */
enum status node_parse(const char *text, const char *where, struct value_arena *arena,
	struct node **root, struct error *err);

struct name_table;
struct value_range;

/* Resolves each name to a loop variable or an index of the name table. For an unknown name sets
 * *unknown and returns STATUS_OK; if unknown is NULL, this is an error. */
enum status node_resolve(struct node *root, const char *where, const struct name_table *names,
	bool *unknown, struct error *err);
/* Folds constants. Lists lie in the arena. Operations that would fail are left for evaluation. */
void node_fold(struct node *root, struct value_arena *arena);
/* Makes a copy in which names with a value (type other than VALUE_NONE) are constants. */
void node_specialise(const struct node *root, const struct value *values, struct value_arena *arena,
	struct node *copy);

/* Evaluates a resolved tree. Returns a pointer into the tree, into the values, or to *room, or NULL
 * on an error. */
const struct value *node_evaluate(
	struct evaluation *evaluation, const struct node *node, struct value *room);

struct value_range node_range(const struct node *root,
	struct value_range (*find)(int index, void *context), void *context);

/* A built-in function. function_find() returns NULL for unknown names. */
struct function {
	const char *name, *arguments; /* e.g. "2 arguments", for messages */
	size_t least, most;
	enum opcode opcode;
};
const struct function *function_find(const char *name, size_t length);

#endif
