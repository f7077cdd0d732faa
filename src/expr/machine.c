/* SPDX-License-Identifier: MIT
 *
 * Integers take a fast path here; everything else, and every error, goes through operator_apply().
 */
#include "expr/machine.h"

#include <stdlib.h>

#include "base/memory.h"
#include "expr/operator.h"

/* Adds where it happened to an error that operator_apply() and its like left. */
static enum status __attribute__((cold)) fail(const struct program *program,
	const struct instruction *at, const char *where, struct error *err)
{
	error_context(err, "%s: column %u", where, program->columns[at - program->code]);
	return STATUS_BAD_INPUT;
}

static enum status __attribute__((cold)) refuse_slot(const struct program *program, size_t slot,
	enum value_type type, const char *where, struct error *err)
{
	if (type == VALUE_NONE)
		BUG("%s: slot %d is not bound", where, program->slots[slot]);
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected names that stand for numbers and strings, found %s", where,
		value_type_name(type));
}

/* state: the arguments of range(); then the next value, how many are left, the step. */
static enum status begin_range(
	struct value *state, const struct value *arguments, size_t count, struct error *err)
{
	struct range range;
	TRY(range_read(arguments, count, &range, err));
	state[0] = value_int(range.start);
	state[1] = value_int(range.count);
	state[2] = value_int(range.step);
	return STATUS_OK;
}

static enum status begin_list(struct value *state, struct error *err)
{
	if (state[0].type != VALUE_LIST)
		return error_set(err, STATUS_BAD_INPUT,
			"expected a list or a range after 'in', found %s",
			value_type_name(state[0].type));
	state[1] = value_int(0);
	return STATUS_OK;
}

/* Everything without a fast path. */
static enum status run_slow(const struct instruction *at, struct value *registers,
	struct allowance *allowance, struct error *err)
{
	struct value *out = &registers[at->out];
	const struct value *left = &registers[at->left];
	struct value result;
	struct range range;
	struct list *list;
	switch (at->opcode) {
	case OPCODE_RANGE_LIST:
		TRY(range_read(left, at->right, &range, err));
		TRY(range_list(&range, &result, allowance, err));
		break;
	case OPCODE_RANGE_BEGIN:
		return begin_range(out, left, at->right, err);
	case OPCODE_IN_RANGE:
		result.type = VALUE_BOOL;
		TRY(range_contains(left + 1, at->right, left[0], &result.boolean, err));
		break;
	case OPCODE_LIST_NEW:
		TRY(operator_new_list(&list, allowance, err));
		result = (struct value){.type = VALUE_LIST, .list = &list->view};
		break;
	case OPCODE_LIST_APPEND:
		/* only lists that LIST_NEW made are appended to */
		return operator_append(
			(struct list *)(uintptr_t)left->list, registers[at->right], allowance, err);
	case OPCODE_LIST_BEGIN:
		return begin_list(&registers[at->left], err);
	default:
		TRY(operator_apply((enum opcode)at->opcode, left, &registers[at->right], &result,
			allowance, err));
	}
	*out = result;
	return STATUS_OK;
}

/* As value_int() and value_bool(), inline. */
#define PUT_INTEGER(n) (registers[at->out].type = VALUE_INT, registers[at->out].integer = (n))
#define PUT_BOOLEAN(b) (registers[at->out].type = VALUE_BOOL, registers[at->out].boolean = (b))
/* A case for two integers whose result is computed by CHECKED, which is false on overflow. */
#define INTEGER_CASE(id, CHECKED)                                                                  \
	case OPCODE_##id:                                                                          \
		if (INTEGERS && (CHECKED)) {                                                       \
			PUT_INTEGER(integer);                                                      \
			continue;                                                                  \
		}                                                                                  \
		break
/* A case for two integers whose result is a boolean. */
#define BOOLEAN_CASE(id, CONDITION)                                                                \
	case OPCODE_##id:                                                                          \
		if (INTEGERS) {                                                                    \
			const bool holds = (CONDITION);                                            \
			PUT_BOOLEAN(holds);                                                        \
			continue;                                                                  \
		}                                                                                  \
		break
#define A        (registers[at->left].integer)
#define B        (registers[at->right].integer)
#define INTEGERS (registers[at->left].type == VALUE_INT && registers[at->right].type == VALUE_INT)
#define TRUTH                                                                                      \
	(registers[at->left].type == VALUE_BOOL ? registers[at->left].boolean                      \
						: value_truth(registers[at->left]))

enum status run_program(struct run *run, const struct program *program, const struct value *values,
	int64_t steps_max, const char *where, struct error *err)
{
	struct value *const registers =
		program->register_count <= RUN_REGISTERS_NEAR
			? run->near
			: memory_zeroed(program->register_count, sizeof(*registers));
	struct allowance allowance = {&run->pool, steps_max};
	int64_t integer;
	run->registers = registers;
	run->pool = (struct list_pool){0};
	for (size_t i = 0; i < program->constant_count; i++)
		registers[i] = program->constants[i];
	for (size_t i = 0; i < program->slot_count; i++) {
		const struct value *from = &values[program->slots[i]];
		if (from->type == VALUE_NONE || from->type == VALUE_LIST)
			return refuse_slot(program, i, from->type, where, err);
		registers[program->constant_count + i] = *from;
	}
	for (const struct instruction *at = program->code;; at++) {
		switch (at->opcode) {
			INTEGER_CASE(ADD, !__builtin_add_overflow(A, B, &integer));
			INTEGER_CASE(SUBTRACT, !__builtin_sub_overflow(A, B, &integer));
			INTEGER_CASE(MULTIPLY, !__builtin_mul_overflow(A, B, &integer));
			INTEGER_CASE(FLOOR_DIVIDE, B != 0 && integer_floor_div(A, B, &integer));
			INTEGER_CASE(MODULO, B != 0 && integer_modulo(A, B, &integer));
			INTEGER_CASE(CEIL_DIV, B != 0 && integer_ceil_div(A, B, &integer));
			INTEGER_CASE(ROUND_UP, B != 0 && integer_round_up(A, B, &integer));
			INTEGER_CASE(MIN, (integer = A < B ? A : B, true));
			INTEGER_CASE(MAX, (integer = A > B ? A : B, true));
			BOOLEAN_CASE(EQUAL, A == B);
			BOOLEAN_CASE(NOT_EQUAL, A != B);
			BOOLEAN_CASE(LESS, A < B);
			BOOLEAN_CASE(LESS_EQUAL, A <= B);
			BOOLEAN_CASE(GREATER, A > B);
			BOOLEAN_CASE(GREATER_EQUAL, A >= B);
		case OPCODE_COPY:
			registers[at->out] = registers[at->left];
			continue;
		case OPCODE_JUMP:
			at = program->code + at->right - 1;
			continue;
		case OPCODE_JUMP_IF_FALSE:
			if (!TRUTH)
				at = program->code + at->right - 1;
			continue;
		case OPCODE_JUMP_IF_TRUE:
			if (TRUTH)
				at = program->code + at->right - 1;
			continue;
		case OPCODE_RANGE_NEXT: {
			struct value *state = &registers[at->left];
			if (state[1].integer == 0) {
				at = program->code + at->right - 1;
				continue;
			}
			if (allowance_use(&allowance, 1, err) != STATUS_OK)
				return fail(program, at, where, err);
			registers[at->out] = state[0];
			if (--state[1].integer > 0) /* else the next may not exist */
				state[0].integer += state[2].integer;
			continue;
		}
		case OPCODE_LIST_NEXT: {
			struct value *state = &registers[at->left];
			size_t index = (size_t)state[1].integer;
			if (index == state[0].list->count) {
				at = program->code + at->right - 1;
				continue;
			}
			if (allowance_use(&allowance, 1, err) != STATUS_OK)
				return fail(program, at, where, err);
			registers[at->out] = state[0].list->items[index];
			state[1].integer++;
			continue;
		}
		case OPCODE_RETURN:
			run->result = &registers[at->left];
			return STATUS_OK;
		default:
			break;
		}
		if (run_slow(at, registers, &allowance, err) != STATUS_OK)
			return fail(program, at, where, err);
	}
}

void run_end(struct run *run)
{
	if (run->registers != run->near)
		free(run->registers);
	if (run->pool.lists)
		list_pool_release(&run->pool);
}
