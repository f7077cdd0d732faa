/* SPDX-License-Identifier: MIT
 *
 * From tree to program. Intermediate results are kept on a stack of registers;
 * constants, slots and loop variables are read where they lie.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "expr/program.h"

enum {
	ANYWHERE = -1,      /* let the generator choose the register */
	LIMIT = UINT16_MAX, /* instructions, registers */
	CLAUSES_MAX = 16    /* see PARSER_CLAUSES_MAX */
};

struct generator {
	struct program *program;
	size_t code_capacity, column_capacity;
	size_t constant_capacity, slot_capacity;
	int *locals; /* register of each loop variable */
	size_t local_count;
	int top, highest; /* first free register; how many there are in all */
};

static int generate(struct generator *generator, const struct node *node, int want);

/* ---- constants and slots ---- */
static bool same_constant(struct value a, struct value b)
{
	if (a.type != b.type)
		return false;
	if (a.type == VALUE_LIST)
		return a.list == b.list;
	if (a.type == VALUE_REAL)
		return memcmp(&a.real, &b.real, sizeof(a.real)) == 0;
	return value_equal(a, b);
}

static void collect_constant(struct generator *generator, struct node *node)
{
	struct program *program = generator->program;
	size_t i = 0;
	while (i < program->constant_count && !same_constant(program->constants[i], node->value))
		i++;
	if (i == program->constant_count) {
		ARRAY_GROW(
			program->constants, program->constant_count, generator->constant_capacity);
		program->constants[program->constant_count++] = node->value;
	}
	node->index = (int)i;
}

static void collect_slot(struct generator *generator, int slot)
{
	struct program *program = generator->program;
	size_t i = 0;
	while (i < program->slot_count && program->slots[i] < slot)
		i++;
	if (i < program->slot_count && program->slots[i] == slot)
		return;
	ARRAY_GROW(program->slots, program->slot_count, generator->slot_capacity);
	memmove(program->slots + i + 1, program->slots + i,
		(program->slot_count - i) * sizeof(*program->slots));
	program->slots[i] = slot;
	program->slot_count++;
}

static void collect(struct generator *generator, struct node *node)
{
	if (node->kind == NODE_CONSTANT)
		collect_constant(generator, node);
	if (node->kind == NODE_SLOT)
		collect_slot(generator, node->index);
	if (node->kind == NODE_FOR && (size_t)node->index >= generator->local_count)
		generator->local_count = (size_t)node->index + 1;
	for (size_t i = 0; i < node->count; i++)
		collect(generator, node->children[i]);
}

static int slot_register(const struct generator *generator, int slot)
{
	const struct program *program = generator->program;
	size_t i = 0;
	while (program->slots[i] != slot)
		i++;
	return (int)(program->constant_count + i);
}

/* ---- instructions ---- */
static int emit(struct generator *generator, const struct node *node, enum opcode opcode, int out,
	int left, int right)
{
	struct program *program = generator->program;
	size_t count = program->code_count;
	ARRAY_GROW(program->code, count, generator->code_capacity);
	ARRAY_GROW(program->columns, count, generator->column_capacity);
	program->code[count] = (struct instruction){
		(uint16_t)opcode, (uint16_t)out, (uint16_t)left, (uint16_t)right};
	program->columns[count] = node->column;
	program->code_count++;
	return (int)count;
}

/* Lets the jump at `jump` go to the next instruction. */
static void land(struct generator *generator, int jump)
{
	generator->program->code[jump].right = (uint16_t)generator->program->code_count;
}

static int take(struct generator *generator, int count)
{
	int first = generator->top;
	generator->top += count;
	if (generator->top > generator->highest)
		generator->highest = generator->top;
	return first;
}

static int take_wanted(struct generator *generator, int want)
{
	return want == ANYWHERE ? take(generator, 1) : want;
}

static int generate_operator(struct generator *generator, const struct node *node, int want)
{
	int mark = generator->top;
	int left = generate(generator, node->children[0], ANYWHERE);
	int right = node->count > 1 ? generate(generator, node->children[1], ANYWHERE) : 0;
	generator->top = mark;
	int out = take_wanted(generator, want);
	emit(generator, node, node->opcode, out, left, right);
	return out;
}

/* Puts the arguments of range() into consecutive registers. */
static void generate_arguments(struct generator *generator, const struct node *range, int first)
{
	for (size_t i = 0; i < range->count; i++)
		generate(generator, range->children[i], first + (int)i);
}

static int generate_range(struct generator *generator, const struct node *node, int want)
{
	int out = take_wanted(generator, want), mark = generator->top;
	int first = take(generator, (int)node->count);
	generate_arguments(generator, node, first);
	emit(generator, node, OPCODE_RANGE_LIST, out, first, (int)node->count);
	generator->top = mark;
	return out;
}

/* x in range(...): arithmetic, no list */
static int generate_in_range(struct generator *generator, const struct node *node, int want)
{
	const struct node *range = node->children[1];
	int out = take_wanted(generator, want), mark = generator->top;
	int first = take(generator, 1 + (int)range->count);
	generate(generator, node->children[0], first);
	generate_arguments(generator, range, first + 1);
	emit(generator, range, OPCODE_IN_RANGE, out, first, (int)range->count);
	if (node->opcode == OPCODE_NOT_IN)
		emit(generator, node, OPCODE_NOT, out, out, 0);
	generator->top = mark;
	return out;
}

static int generate_chain(struct generator *generator, const struct node *node, int want)
{
	int out = take_wanted(generator, want), mark = generator->top;
	int *jumps = memory_zeroed(node->count, sizeof(*jumps));
	size_t jump_count = 0;
	int left = generate(generator, node->children[0], ANYWHERE);
	for (size_t i = 1; i < node->count; i++) {
		int right = generate(generator, node->children[i], ANYWHERE);
		struct node link = {.column = node->links[i - 1].column};
		emit(generator, &link, node->links[i - 1].opcode, out, left, right);
		if (i + 1 < node->count)
			jumps[jump_count++] =
				emit(generator, node, OPCODE_JUMP_IF_FALSE, 0, out, 0);
		left = right;
	}
	while (jump_count)
		land(generator, jumps[--jump_count]);
	free(jumps);
	generator->top = mark;
	return out;
}

static int generate_logical(struct generator *generator, const struct node *node, int want)
{
	int out = take_wanted(generator, want);
	int *jumps = memory_zeroed(node->count, sizeof(*jumps));
	enum opcode jump = node->kind == NODE_AND ? OPCODE_JUMP_IF_FALSE : OPCODE_JUMP_IF_TRUE;
	for (size_t i = 0; i < node->count; i++) {
		generate(generator, node->children[i], out);
		if (i + 1 < node->count)
			jumps[i] = emit(generator, node, jump, 0, out, 0);
	}
	for (size_t i = 0; i + 1 < node->count; i++)
		land(generator, jumps[i]);
	free(jumps);
	return out;
}

static int generate_condition(struct generator *generator, const struct node *node, int want)
{
	int out = take_wanted(generator, want), mark = generator->top;
	int test = generate(generator, node->children[1], ANYWHERE);
	generator->top = mark;
	int to_else = emit(generator, node, OPCODE_JUMP_IF_FALSE, 0, test, 0);
	generate(generator, node->children[0], out);
	int to_end = emit(generator, node, OPCODE_JUMP, 0, 0, 0);
	land(generator, to_else);
	generate(generator, node->children[2], out);
	land(generator, to_end);
	return out;
}

static int generate_list(struct generator *generator, const struct node *node, int want)
{
	int out = take_wanted(generator, want), mark = generator->top;
	emit(generator, node, OPCODE_LIST_NEW, out, 0, 0);
	for (size_t i = 0; i < node->count; i++) {
		int element = generate(generator, node->children[i], ANYWHERE);
		emit(generator, node->children[i], OPCODE_LIST_APPEND, 0, out, element);
		generator->top = mark;
	}
	return out;
}

/* The start of a loop; returns its head, the instruction that leaves it at the end. */
static int generate_loop(struct generator *generator, const struct node *clause)
{
	const struct node *over = clause->children[0];
	bool range = over->kind == NODE_RANGE;
	int state = take(generator, 3), variable = take(generator, 1);
	if (range) {
		generate_arguments(generator, over, state);
		emit(generator, over, OPCODE_RANGE_BEGIN, state, state, (int)over->count);
	} else {
		generate(generator, over, state);
		emit(generator, over, OPCODE_LIST_BEGIN, 0, state, 0);
	}
	generator->locals[clause->index] = variable;
	return emit(generator, clause, range ? OPCODE_RANGE_NEXT : OPCODE_LIST_NEXT, variable,
		state, 0);
}

static int generate_comprehension(struct generator *generator, const struct node *node, int want)
{
	int heads[CLAUSES_MAX], skips[CLAUSES_MAX], back[CLAUSES_MAX];
	size_t loops = 0, skip_count = 0;
	int out = take_wanted(generator, want), mark = generator->top;
	emit(generator, node, OPCODE_LIST_NEW, out, 0, 0);
	for (size_t i = 1; i < node->count; i++) {
		const struct node *clause = node->children[i];
		if (clause->kind == NODE_FOR) {
			heads[loops++] = generate_loop(generator, clause);
			continue;
		}
		int inner = generator->top;
		int test = generate(generator, clause->children[0], ANYWHERE);
		generator->top = inner;
		/* the parser lets no `if` stand before the first `for` */
		back[skip_count] = heads[loops - 1];
		skips[skip_count++] = emit(generator, clause, OPCODE_JUMP_IF_FALSE, 0, test, 0);
	}
	int element = generate(generator, node->children[0], ANYWHERE);
	emit(generator, node->children[0], OPCODE_LIST_APPEND, 0, out, element);
	while (loops > 0) {
		loops--;
		emit(generator, node, OPCODE_JUMP, 0, 0, heads[loops]);
		land(generator, heads[loops]);
	}
	while (skip_count > 0) {
		skip_count--;
		generator->program->code[skips[skip_count]].right = (uint16_t)back[skip_count];
	}
	generator->top = mark;
	return out;
}

/* Emits what computes node; returns the register that holds it: `want`, if given. */
static int generate(struct generator *generator, const struct node *node, int want)
{
	int at;
	switch (node->kind) {
	case NODE_CONSTANT:
		at = node->index;
		break;
	case NODE_SLOT:
		at = slot_register(generator, node->index);
		break;
	case NODE_LOCAL:
		at = generator->locals[node->index];
		break;
	case NODE_BINARY:
		if ((node->opcode == OPCODE_IN || node->opcode == OPCODE_NOT_IN) &&
			node->children[1]->kind == NODE_RANGE)
			return generate_in_range(generator, node, want);
		return generate_operator(generator, node, want);
	case NODE_UNARY:
		return generate_operator(generator, node, want);
	case NODE_CHAIN:
		return generate_chain(generator, node, want);
	case NODE_AND:
	case NODE_OR:
		return generate_logical(generator, node, want);
	case NODE_CONDITION:
		return generate_condition(generator, node, want);
	case NODE_LIST:
		return generate_list(generator, node, want);
	case NODE_RANGE:
		return generate_range(generator, node, want);
	case NODE_COMPREHENSION:
		return generate_comprehension(generator, node, want);
	default:
		BUG("node of kind %d has no program", (int)node->kind);
	}
	if (want == ANYWHERE || want == at)
		return at;
	emit(generator, node, OPCODE_COPY, want, at, 0);
	return want;
}

enum status program_build(
	struct program *program, struct node *root, const char *where, struct error *err)
{
	struct generator generator = {.program = program};
	enum status status = STATUS_OK;
	*program = (struct program){0};
	collect(&generator, root);
	generator.locals = memory_zeroed(generator.local_count + 1, sizeof(int));
	generator.top = (int)(program->constant_count + program->slot_count);
	generator.highest = generator.top;
	int result = generate(&generator, root, ANYWHERE);
	emit(&generator, root, OPCODE_RETURN, 0, result, 0);
	if (program->code_count > LIMIT || generator.highest > LIMIT)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected at most %d steps and constants, found more", where, LIMIT);
	program->register_count = (size_t)generator.highest;
	free(generator.locals);
	if (status)
		program_release(program);
	return status;
}

void program_release(struct program *program)
{
	free(program->code);
	free(program->columns);
	free(program->constants);
	free(program->slots);
	*program = (struct program){0};
}
