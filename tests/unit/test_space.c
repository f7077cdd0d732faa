/* SPDX-License-Identifier: MIT
 *
 * Spaces: order of enumeration, configurations removed by each constraint, evaluation order of
 * derived constants, errors.
 */
#include <stdlib.h>

#include "unit/unit.h"
#include "unit/space_builder.h"
#include "space/enumerate.h"

static struct space *bound_space(
	const struct space_description *description, const struct value *fixed)
{
	struct space *space;
	struct error err = {0};
	if (space_build(description, &space, &err) != STATUS_OK ||
		space_bind(space, fixed, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	return space;
}

/* The values of all visited configurations, which belong to the space. */
struct witness {
	const struct space *space;
	struct text seen;
};

static bool witness_visit(const choice *configuration, void *context)
{
	struct witness *witness = context;
	size_t first = witness->space->fixed_count;
	struct value values[16];
	struct error err;
	assert_true(witness->space->names->count <= 16);
	assert_int_equal(space_values(witness->space, configuration, values, &err), STATUS_OK);
	for (size_t i = first; i < witness->space->names->count; i++) {
		text_append(&witness->seen, i == first ? "" : " ");
		value_format(values[i], &witness->seen);
	}
	text_append(&witness->seen, "; ");
	return true;
}

/* visited: parameters and derived constants of each configuration; removed: count for each
 * constraint. */
static void expect_enumeration(struct space *space, const char *visited, const char *removed)
{
	double counts[16] = {0}, sum;
	struct space_removed counted = {.by_constraint = counts};
	struct witness witness = {.space = space};
	struct text text = {0};
	struct error err = {0};
	if (space_enumerate(space, witness_visit, &witness, &counted, &err) != STATUS_OK)
		fail_msg("%s", err.message);
	assert_string_equal(text_string(&witness.seen), visited);
	sum = counted.legal;
	for (size_t i = 0; i < space->constraint_count; i++) {
		text_appendf(&text, "%.0f ", counts[i]);
		sum += counts[i];
	}
	assert_string_equal(text_string(&text), removed);
	assert_true(sum == space->tail[0]);
	/* counting without a visit gives the same */
	struct space_removed again = {.by_constraint = memory_zeroed(16, sizeof(double))};
	assert_int_equal(space_enumerate(space, NULL, NULL, &again, &err), STATUS_OK);
	assert_true(again.legal == counted.legal);
	assert_memory_equal(again.by_constraint, counts, sizeof(counts));
	free(again.by_constraint);
	text_release(&text);
	text_release(&witness.seen);
}

TEST(order_and_counts_follow_the_description)
{
	const struct space_description description = {
		.fixed = {"M", "dtype"},
		.parameters = {"BM", "[32, 16]", "BN", "[i for i in [8, M]]", "S", "[1, 2, 3]"},
		.derived = {"area", "BM*BN", "bytes", "area*S*dtype_bytes(dtype)"},
		.constraints = {"S != 2", "bytes <= 1024", "BM + BN > 24", "M > 0"},
	};
	const struct value fixed[] = {value_int(16), value_string("bf16")};
	struct space *space = bound_space(&description, fixed);
	assert_true(space->tail[0] == 12);
	assert_int_equal(space->parameter_count, 3);
	assert_int_equal(space->names->count, 7);
	assert_string_equal(space_parameter_name(space, 1), "BN");
	assert_int_equal(space->constraint_count, 4);
	assert_string_equal(space_constraint_text(space, 1), "bytes <= 1024");
	assert_string_equal(space->constraints[1].why, "why 1");
	assert_int_equal(name_table_find(space->names, "area"), 5);
	assert_int_equal(space->parameters[1].values.count, 2);
	/* BM + BN > 24 comes first, because it does not need S */
	expect_enumeration(
		space, "32 8 1 256 512; 32 16 1 512 1024; 16 16 1 256 512; ", "3 3 3 0 ");
	builder_close(space);
}

TEST(constraints_apply_to_each_binding)
{
	const struct space_description description = {
		.fixed = {"K"},
		.parameters = {"A", "[1, 2, 3]", "B", "[1, 2]"},
		.derived = {"half", "K//2"},
		.constraints = {"A < 3", "half > 4 or K == 0"},
	};
	struct value fixed[] = {value_int(8)};
	struct space *space = bound_space(&description, fixed);
	expect_enumeration(space, "", "0 6 ");
	/* binds the space once more */
	struct error err = {0};
	fixed[0] = value_int(10);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "1 1 5; 1 2 5; 2 1 5; 2 2 5; ", "2 0 ");
	fixed[0] = value_int(0);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "1 1 0; 1 2 0; 2 1 0; 2 2 0; ", "2 0 ");
	builder_close(space);
}

TEST(lists_keep_each_value_once)
{
	const struct space_description description = {
		.fixed = {"N"},
		.parameters = {"A", "[4, N, 2.0, 2, 'x', 4.0, 'x', True, 1]", "E",
			"[i for i in range(N) if i > 1]"},
	};
	struct value fixed[] = {value_int(4)};
	struct space *space = bound_space(&description, fixed);
	assert_int_equal(space->parameters[0].values.count, 4);
	expect_enumeration(space, "4 2; 4 3; 2.0 2; 2.0 3; x 2; x 3; true 2; true 3; ", "");
	assert_int_equal(space_choice_find(space, 0, value_int(2)), 1);
	assert_int_equal(space_choice_find(space, 0, value_string("x")), 2);
	assert_int_equal(space_choice_find(space, 0, value_string("y")), -1);
	struct error err = {0};
	fixed[0] = value_int(2);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	assert_true(space->tail[0] == 0);
	expect_enumeration(space, "", "");
	builder_close(space);
}

TEST(a_space_without_parameters_has_one_configuration)
{
	const struct space_description legal = {.fixed = {"N"}, .constraints = {"N > 1"}};
	struct value fixed[] = {value_int(2)};
	struct space *space = bound_space(&legal, fixed);
	expect_enumeration(space, "; ", "0 ");
	struct error err = {0};
	fixed[0] = value_int(1);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "", "1 ");
	builder_close(space);
}

/* A constraint may guard a later constraint or derived constant against failing. */
TEST(a_constraint_guards_later_ones)
{
	const struct space_description description = {
		.parameters = {"A", "[6, 12]", "B", "[0, 3]"},
		.derived = {"share", "A//B", "rest", "A - share"},
		.constraints = {"B > 0", "A % B == 0", "rest > 4"},
	};
	struct space *space = bound_space(&description, NULL);
	expect_enumeration(space, "12 3 4 8; ", "2 0 1 ");
	struct value values[4];
	struct error err = {0};
	int violated;
	assert_int_equal(
		space_examine(space, (const choice[]){0, 0}, values, &violated, &err), STATUS_OK);
	assert_int_equal(violated, 0);
	assert_int_equal(values[2].type, VALUE_NONE);
	assert_int_equal(
		space_examine(space, (const choice[]){0, 1}, values, &violated, &err), STATUS_OK);
	assert_int_equal(violated, 2);
	assert_int_equal(
		space_examine(space, (const choice[]){1, 1}, values, &violated, &err), STATUS_OK);
	assert_int_equal(violated, -1);
	assert_true(value_equal(values[2], value_int(4)) && value_equal(values[3], value_int(8)));
	builder_close(space);
}

static void expect_failure(
	const struct space_description *description, const char *message, const char *hint)
{
	struct space *space = bound_space(description, NULL);
	struct error err = {0};
	/* binds twice: the second run must not rely on cached results of the first */
	for (int turn = 0; turn < 2; turn++) {
		struct witness witness = {.space = space};
		err = (struct error){0};
		assert_int_equal(space_enumerate(space, witness_visit, &witness, NULL, &err),
			STATUS_BAD_INPUT);
		assert_string_equal(err.message, message);
		assert_string_equal(err.hint, hint);
		text_release(&witness.seen);
	}
	builder_close(space);
}

TEST(a_failing_constraint_names_its_configuration)
{
	const struct space_description constraint = {
		.parameters = {"A", "[4, 2]", "B", "[1, 0]", "C", "range(9)", "D", "[1, 2]"},
		.constraints = {"D > 1", "A // B > 1"},
	};
	expect_failure(&constraint, "constraint: column 3: '//' of 4 and 0: division by zero",
		"it fails at A=4, B=0; the expression is: A // B > 1");
	const struct space_description derived = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "5 % (A - 2)"},
		.constraints = {"d < 9"},
	};
	expect_failure(&derived, "derived: column 3: '%' of 5 and 0: division by zero",
		"it fails at A=2; the expression is: 5 % (A - 2)");
	const struct space_description root = {
		.parameters = {"A", "[1, 2]"},
		.constraints = {"1 // 0"},
	};
	expect_failure(&root, "constraint: column 3: '//' of 1 and 0: division by zero",
		"the expression is: 1 // 0");
	const struct space_description list = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "[A]"},
		.constraints = {"d == 1"},
	};
	expect_failure(
		&list, "derived: expected a number or a string, found a list", "it fails at A=1");
	const struct space_description constant_list = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "[1]"},
		.constraints = {"A in d"},
	};
	expect_failure(&constant_list, "derived: expected a number or a string, found a list", "");
}

/* A constant that no constraint reads fails when the values of a configuration are requested. */
TEST(unread_constants_fail_when_values_are_requested)
{
	const struct space_description description = {
		.parameters = {"A", "[1, 2]", "B", "[3, 4]"},
		.derived = {"d", "5 % (A - 2)", "e", "B // A"},
	};
	struct space *space = bound_space(&description, NULL);
	struct space_removed removed = {0};
	struct value values[4];
	struct error err = {0};
	assert_int_equal(space_enumerate(space, NULL, NULL, &removed, &err), STATUS_OK);
	assert_true(removed.legal == 4);
	assert_int_equal(space_values(space, (const choice[]){0, 1}, values, &err), STATUS_OK);
	assert_true(value_equal(values[2], value_int(0)) && value_equal(values[3], value_int(4)));
	assert_int_equal(
		space_values(space, (const choice[]){1, 0}, values, &err), STATUS_BAD_INPUT);
	assert_string_equal(err.message, "derived: column 3: '%' of 5 and 0: division by zero");
	assert_string_equal(err.hint, "it fails at A=2, B=3; the expression is: 5 % (A - 2)");
	builder_close(space);
}

static void expect_refusal(const struct space_description *description, const char *message)
{
	struct space *space;
	struct error err = {0};
	enum status status = space_build(description, &space, &err);
	if (!status)
		status = space_bind(space, (struct value[]){value_int(1)}, &err);
	assert_int_equal(status, STATUS_BAD_INPUT);
	assert_string_equal(err.message, message);
	builder_close(space);
}

TEST(lists_and_constants_see_only_earlier_names)
{
	/* a list sees no parameter, and a derived constant sees no later one */
	expect_refusal(&(struct space_description){.parameters = {"A", "[1]", "B", "[A]"}},
		"list: column 2: unknown name 'A'");
	expect_refusal(&(struct space_description){.derived = {"a", "b", "b", "1"}},
		"derived: column 1: unknown name 'b'");
	expect_refusal(&(struct space_description){.constraints = {"1 +"}},
		"constraint: column 4: expected a value, found the end");
	expect_refusal(&(struct space_description){.fixed = {"N"}, .parameters = {"A", "N"}},
		"list: expected a list of values of A, found an integer");
	expect_refusal(&(struct space_description){.parameters = {"A", "[1, [2]]"}},
		"list: the values of A must be numbers or strings, not lists");
	expect_refusal(
		&(struct space_description){.fixed = {"N"}, .parameters = {"A", "[1 // (N - 1)]"}},
		"list: column 4: '//' of 1 and 0: division by zero");
	/* a list for a fixed name is refused */
	struct space *space;
	struct error err = {0};
	const struct space_description fixed = {.fixed = {"N"}};
	const struct value_list empty = {0};
	assert_int_equal(space_build(&fixed, &space, &err), STATUS_OK);
	assert_int_equal(
		space_bind(space, (struct value[]){{.type = VALUE_LIST, .list = &empty}}, &err),
		STATUS_BAD_INPUT);
	assert_string_equal(err.message, "N: expected a number or a string, found a list");
	builder_close(space);
	/* the maximum number of parameters works */
	space = builder_open(NULL, 0);
	for (int i = 0; i < SPACE_PARAMETERS_MAX; i++) {
		char name[8];
		snprintf(name, sizeof(name), "P%d", i);
		assert_ok(builder_parameter(space, name, "[1]", "list", &err));
	}
	assert_ok(builder_constraint(space, "P0 + P47 == 2", "", "", &err));
	assert_ok(space_bind(space, NULL, &err));
	struct space_removed removed = {.by_constraint = (double[1]){0}};
	assert_int_equal(space_enumerate(space, NULL, NULL, &removed, &err), STATUS_OK);
	assert_true(removed.legal == 1);
	builder_close(space);
}

static bool stop_visit(const choice *configuration, void *context)
{
	(void)configuration;
	return ++*(int *)context < 5;
}

/* Nine parameters with ten values: 10^9 configurations, of which constraints over all parameters
 * leave few. */
static void expect_legal(const char *derived, const char *constraint, double legal)
{
	struct space *space = builder_open(NULL, 0);
	double removed = 0;
	struct space_removed counted = {.by_constraint = &removed};
	struct error err = {0};
	char name[4];
	for (int p = 0; p < 9; p++) {
		snprintf(name, sizeof(name), "P%d", p);
		assert_int_equal(
			builder_parameter(space, name, "range(1, 11)", "list", &err), STATUS_OK);
	}
	if (derived)
		assert_int_equal(builder_derived(space, "D", derived, "D", &err), STATUS_OK);
	assert_int_equal(builder_constraint(space, constraint, "few", "few", &err), STATUS_OK);
	assert_int_equal(space_bind(space, NULL, &err), STATUS_OK);
	if (space_enumerate(space, NULL, NULL, &counted, &err) != STATUS_OK)
		fail_msg("%s: %s", constraint, err.message);
	assert_true(counted.legal == legal);
	assert_true(counted.legal + removed == 1e9);
	builder_close(space);
}

TEST(bounds_cut_branches_that_cannot_be_legal)
{
	expect_legal(NULL, "P0*P1*P2*P3*P4*P5*P6*P7*P8 <= 64", 23134);
	expect_legal(NULL, "P0+P1+P2+P3+P4+P5+P6+P7+P8 <= 14", 2002);
	expect_legal(NULL, "14 >= P0+P1+P2+P3+P4+P5+P6+P7+P8 and P8 > 0", 2002);
	expect_legal("P0*P1*P2*P3*P4*P8", "D*P5*P6*P7 <= 64", 23134);
	expect_legal(NULL, "max(P0, P1, P2, P3, P4, P5, P6, P7, P8) == 1", 1);
}

TEST(the_callback_stops_the_enumeration)
{
	const struct space_description description = {
		.parameters = {"A", "range(1000)", "B", "range(1000)", "C", "range(1000)"}};
	struct space *space = bound_space(&description, NULL);
	struct error err = {0};
	int visits = 0;
	assert_int_equal(space_enumerate(space, stop_visit, &visits, NULL, &err), STATUS_OK);
	assert_int_equal(visits, 5);
	builder_close(space);
}
