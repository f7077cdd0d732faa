/* layer: space */
/* SPDX-License-Identifier: MIT
 *
 * Spaces: what is visited in what order, what each constraint removes, when derived constants are
 * computed, errors; and random spaces against a loop over the whole product.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/random.h"
#include "unit/space_builder.h"

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

/* What a visit sees: the slots that are in the space, no more. */
struct witness {
	const struct space *space;
	struct text seen;
};

static bool witness_visit(const choice *configuration, const struct value *slots, void *context)
{
	struct witness *witness = context;
	size_t first = (size_t)space_parameter_slot(witness->space, 0);
	(void)configuration;
	for (size_t i = first; i < space_slot_count(witness->space); i++) {
		text_append(&witness->seen, i == first ? "" : " ");
		value_format(slots[i], &witness->seen);
	}
	text_append(&witness->seen, "; ");
	return true;
}

/* visited: parameters and derived constants of each; removed: by each constraint. */
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
	for (size_t i = 0; i < space_constraint_count(space); i++) {
		text_appendf(&text, "%.0f ", counts[i]);
		sum += counts[i];
	}
	assert_string_equal(text_string(&text), removed);
	assert_true(sum == space_product(space));
	/* counting alone finds the same */
	struct space_removed again = {.by_constraint = memory_zeroed(16, sizeof(double))};
	assert_int_equal(space_enumerate(space, NULL, NULL, &again, &err), STATUS_OK);
	assert_true(again.legal == counted.legal);
	assert_memory_equal(again.by_constraint, counts, sizeof(counts));
	free(again.by_constraint);
	text_release(&text);
	text_release(&witness.seen);
}

static void test_order_and_counts(void **state)
{
	(void)state;
	const struct space_description description = {
		.fixed = {"M", "dtype"},
		.parameters = {"BM", "[32, 16]", "BN", "[i for i in [8, M]]", "S", "[1, 2, 3]"},
		.derived = {"area", "BM*BN", "bytes", "area*S*dtype_bytes(dtype)"},
		.constraints = {"S != 2", "bytes <= 1024", "BM + BN > 24", "M > 0"},
	};
	const struct value fixed[] = {value_int(16), value_string("bf16")};
	struct space *space = bound_space(&description, fixed);
	assert_true(space_product(space) == 12);
	assert_int_equal(space_parameter_count(space), 3);
	assert_int_equal(space_slot_count(space), 7);
	assert_string_equal(space_parameter_name(space, 1), "BN");
	assert_int_equal(space_parameter_slot(space, 1), 3);
	assert_int_equal(space_constraint_count(space), 4);
	assert_string_equal(space_constraint_text(space, 1), "bytes <= 1024");
	assert_string_equal(space_constraint_why(space, 1), "why 1");
	assert_int_equal(name_table_find(space_names(space), "area"), 5);
	assert_int_equal(space_parameter_values(space, 1)->count, 2);
	/* BM + BN > 24 comes first: it needs no S */
	expect_enumeration(
		space, "32 8 1 256 512; 32 16 1 512 1024; 16 16 1 256 512; ", "3 3 3 0 ");
	space_free(space);
}

static void test_root(void **state)
{
	(void)state;
	const struct space_description description = {
		.fixed = {"K"},
		.parameters = {"A", "[1, 2, 3]", "B", "[1, 2]"},
		.derived = {"half", "K//2"},
		.constraints = {"A < 3", "half > 4 or K == 0"},
	};
	struct value fixed[] = {value_int(8)};
	struct space *space = bound_space(&description, fixed);
	expect_enumeration(space, "", "0 6 ");
	/* bound again */
	struct error err = {0};
	fixed[0] = value_int(10);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "1 1 5; 1 2 5; 2 1 5; 2 2 5; ", "2 0 ");
	fixed[0] = value_int(0);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "1 1 0; 1 2 0; 2 1 0; 2 2 0; ", "2 0 ");
	space_free(space);
}

static void test_lists(void **state)
{
	(void)state;
	const struct space_description description = {
		.fixed = {"N"},
		.parameters = {"A", "[4, N, 2.0, 2, 'x', 4.0, 'x', True, 1]", "E",
			"[i for i in range(N) if i > 1]"},
	};
	struct value fixed[] = {value_int(4)};
	struct space *space = bound_space(&description, fixed);
	assert_int_equal(space_parameter_values(space, 0)->count, 4);
	expect_enumeration(space, "4 2; 4 3; 2.0 2; 2.0 3; x 2; x 3; true 2; true 3; ", "");
	assert_int_equal(space_choice_find(space, 0, value_int(2)), 1);
	assert_int_equal(space_choice_find(space, 0, value_string("x")), 2);
	assert_int_equal(space_choice_find(space, 0, value_string("y")), -1);
	struct error err = {0};
	fixed[0] = value_int(2);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	assert_true(space_product(space) == 0);
	expect_enumeration(space, "", "");
	space_free(space);
}

static void test_no_parameters(void **state)
{
	(void)state;
	const struct space_description legal = {.fixed = {"N"}, .constraints = {"N > 1"}};
	struct value fixed[] = {value_int(2)};
	struct space *space = bound_space(&legal, fixed);
	expect_enumeration(space, "; ", "0 ");
	struct error err = {0};
	fixed[0] = value_int(1);
	assert_int_equal(space_bind(space, fixed, &err), STATUS_OK);
	expect_enumeration(space, "", "1 ");
	space_free(space);
}

/* A constraint may keep a later one, or a derived constant, from failing. */
static void test_guards(void **state)
{
	(void)state;
	const struct space_description description = {
		.parameters = {"A", "[6, 12]", "B", "[0, 3]"},
		.derived = {"share", "A//B", "rest", "A - share"},
		.constraints = {"B > 0", "A % B == 0", "rest > 4"},
	};
	struct space *space = bound_space(&description, NULL);
	expect_enumeration(space, "12 3 4 8; ", "2 0 1 ");
	/* by hand, with values outside the lists */
	struct value slots[4] = {value_int(7), value_int(0)};
	struct error err = {0};
	int violated;
	assert_int_equal(space_derive(space, slots, &err), STATUS_BAD_INPUT);
	assert_string_equal(err.message,
		"derived: column 2: expected a divisor other than 0 for '//', found 7 and 0");
	assert_int_equal(space_examine(space, slots, &violated, &err), STATUS_OK);
	assert_int_equal(violated, 0);
	assert_int_equal(slots[2].type, VALUE_NONE);
	slots[1] = value_int(2);
	assert_int_equal(space_examine(space, slots, &violated, &err), STATUS_OK);
	assert_int_equal(violated, 1);
	slots[1] = value_int(7);
	assert_int_equal(space_examine(space, slots, &violated, &err), STATUS_OK);
	assert_int_equal(violated, -1);
	assert_true(value_equal(slots[2], value_int(1)) && value_equal(slots[3], value_int(6)));
	assert_int_equal(space_check(space, slots, &violated, &err), STATUS_OK);
	assert_int_equal(violated, -1);
	space_free(space);
}

static void expect_failure(
	const struct space_description *description, const char *message, const char *hint)
{
	struct space *space = bound_space(description, NULL);
	struct error err = {0};
	/* twice: what was remembered of the first time is no excuse */
	for (int turn = 0; turn < 2; turn++) {
		struct witness witness = {.space = space};
		err = (struct error){0};
		assert_int_equal(space_enumerate(space, witness_visit, &witness, NULL, &err),
			STATUS_BAD_INPUT);
		assert_string_equal(err.message, message);
		assert_string_equal(err.hint, hint);
		text_release(&witness.seen);
	}
	space_free(space);
}

static void test_failures(void **state)
{
	(void)state;
	const struct space_description constraint = {
		.parameters = {"A", "[4, 2]", "B", "[1, 0]", "C", "range(9)", "D", "[1, 2]"},
		.constraints = {"D > 1", "A // B > 1"},
	};
	expect_failure(&constraint,
		"constraint: column 3: expected a divisor other than 0 for '//', found 4 and 0",
		"this happens at A=4, B=0");
	const struct space_description derived = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "5 % (A - 2)"},
	};
	expect_failure(&derived,
		"derived: column 3: expected a divisor other than 0 for '%', found 5 and 0",
		"this happens at A=2");
	const struct space_description root = {
		.parameters = {"A", "[1, 2]"},
		.constraints = {"1 // 0"},
	};
	expect_failure(&root,
		"constraint: column 3: expected a divisor other than 0 for '//', found 1 and 0",
		"");
	const struct space_description list = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "[A]"},
	};
	expect_failure(&list, "derived: expected a number or a string, found a list",
		"this happens at A=1");
	const struct space_description constant_list = {
		.parameters = {"A", "[1, 2]"},
		.derived = {"d", "[1]"},
		.constraints = {"A in d"},
	};
	expect_failure(&constant_list, "derived: expected a number or a string, found a list", "");
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
	space_free(space);
}

static void test_refusals(void **state)
{
	(void)state;
	expect_refusal(&(struct space_description){.fixed = {"A", "A"}},
		"names of the problem and the device: expected a new name, found 'A', which is "
		"taken");
	expect_refusal(&(struct space_description){.parameters = {"A-B", "[1]"}},
		"list: expected a name of letters, digits and '_', found 'A-B'");
	expect_refusal(&(struct space_description){.parameters = {"in", "[1]"}},
		"list: expected a name of letters, digits and '_', found 'in'");
	expect_refusal(&(struct space_description){.fixed = {"A"}, .parameters = {"A", "[1]"}},
		"list: expected a new name, found 'A', which is taken");
	expect_refusal(
		&(struct space_description){.parameters = {"A", "[1]"}, .derived = {"A", "1"}},
		"derived: expected a new name, found 'A', which is taken");
	/* a list sees no parameter, a derived constant none after it */
	expect_refusal(&(struct space_description){.parameters = {"A", "[1]", "B", "[A]"}},
		"list: column 2: expected a known name, found 'A'");
	expect_refusal(&(struct space_description){.derived = {"a", "b", "b", "1"}},
		"derived: column 1: expected a known name, found 'b'");
	expect_refusal(&(struct space_description){.constraints = {"1 +"}},
		"constraint: column 4: expected a value, found the end");
	expect_refusal(&(struct space_description){.fixed = {"N"}, .parameters = {"A", "N"}},
		"list: expected a list of values of A, found an integer");
	expect_refusal(&(struct space_description){.parameters = {"A", "[1, [2]]"}},
		"list: expected numbers and strings as values of A, found a list");
	expect_refusal(
		&(struct space_description){.fixed = {"N"}, .parameters = {"A", "[1 // (N - 1)]"}},
		"list: column 4: expected a divisor other than 0 for '//', found 1 and 0");
	/* a list for a fixed name */
	struct space *space;
	struct error err = {0};
	const struct space_description fixed = {.fixed = {"N"}};
	const struct value_list empty = {0};
	assert_int_equal(space_build(&fixed, &space, &err), STATUS_OK);
	assert_int_equal(
		space_bind(space, (struct value[]){{.type = VALUE_LIST, .list = &empty}}, &err),
		STATUS_BAD_INPUT);
	assert_string_equal(err.message, "N: expected a number or a string, found a list");
	space_free(space);
	/* one parameter too many */
	space = space_new();
	for (int i = 0; i <= SPACE_PARAMETERS_MAX; i++) {
		char name[8];
		snprintf(name, sizeof(name), "P%d", i);
		assert_int_equal(space_add_parameter(space, name, "[1]", "list", &err),
			i < SPACE_PARAMETERS_MAX ? STATUS_OK : STATUS_BAD_INPUT);
	}
	assert_string_equal(err.message, "list: expected at most 48 parameters, found more");
	/* and as many as there may be work */
	assert_int_equal(space_add_constraint(space, "P0 + P47 == 2", "", "", &err), STATUS_OK);
	assert_int_equal(space_bind(space, NULL, &err), STATUS_OK);
	struct space_removed removed = {.by_constraint = (double[1]){0}};
	assert_int_equal(space_enumerate(space, NULL, NULL, &removed, &err), STATUS_OK);
	assert_true(removed.legal == 1);
	space_free(space);
}

static bool stop_visit(const choice *configuration, const struct value *slots, void *context)
{
	(void)slots;
	(void)configuration;
	return ++*(int *)context < 5;
}

static void test_stop(void **state)
{
	(void)state;
	const struct space_description description = {
		.parameters = {"A", "range(1000)", "B", "range(1000)", "C", "range(1000)"}};
	struct space *space = bound_space(&description, NULL);
	struct error err = {0};
	int visits = 0;
	assert_int_equal(space_enumerate(space, stop_visit, &visits, NULL, &err), STATUS_OK);
	assert_int_equal(visits, 5);
	space_free(space);
}

/* ---- random spaces ---- */
static void pick_expression(
	struct random_state *random, size_t names, bool constraint, char *text, size_t size)
{
	static const char *const forms[] = {"%s %% %s == 0 or %s > 3", "%s + %s <= %s + 5",
		"%s*%s < 9*%s", "%s != %s and %s < 7", "abs(%s - %s) <= %s",
		"%s in [1, 2, 3, %s] or %s == 5"};
	static const char *const values[] = {
		"%s*%s + %s", "max(%s, %s)*%s", "%s//%s + %s", "%s if %s > 2 else %s"};
	char picked[3][8];
	for (int i = 0; i < 3; i++)
		snprintf(picked[i], sizeof(picked[i]), "n%d", (int)random_below(random, names));
	const char *form = constraint ? forms[random_below(random, ARRAY_COUNT(forms))]
				      : values[random_below(random, ARRAY_COUNT(values))];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, size, form, picked[0], picked[1], picked[2]);
#pragma GCC diagnostic pop
}

static struct space *random_space(struct random_state *random)
{
	struct space *space = space_new();
	struct error err = {0};
	char name[8], text[128];
	size_t names = 0, parameters = 3 + random_below(random, 3);
	snprintf(name, sizeof(name), "n%zu", names++);
	assert_int_equal(space_add_fixed(space, name, &err), STATUS_OK);
	for (size_t p = 0; p < parameters; p++) {
		struct text list = {0};
		size_t count = 1 + random_below(random, 6);
		for (size_t i = 0; i < count; i++)
			text_appendf(
				&list, "%s%d", i ? ", " : "[", (int)(1 + random_below(random, 8)));
		text_append(&list, "]");
		snprintf(name, sizeof(name), "n%zu", names++);
		assert_int_equal(
			space_add_parameter(space, name, list.data, "list", &err), STATUS_OK);
		text_release(&list);
	}
	for (size_t d = random_below(random, 4); d > 0; d--) {
		pick_expression(random, names, false, text, sizeof(text));
		snprintf(name, sizeof(name), "n%zu", names++);
		assert_int_equal(space_add_derived(space, name, text, "derived", &err), STATUS_OK);
	}
	for (size_t c = random_below(random, 6); c > 0; c--) {
		pick_expression(random, names, true, text, sizeof(text));
		assert_int_equal(
			space_add_constraint(space, text, "", "constraint", &err), STATUS_OK);
	}
	const struct value fixed = value_int((int64_t)(1 + random_below(random, 8)));
	assert_int_equal(space_bind(space, &fixed, &err), STATUS_OK);
	return space;
}

/* The next of all configurations in lexicographic order; false after the last. */
static bool next_configuration(const struct space *space, choice *configuration)
{
	for (size_t p = space_parameter_count(space); p-- > 0;) {
		if (++configuration[p] < space_parameter_values(space, p)->count)
			return true;
		configuration[p] = 0;
	}
	return false;
}

struct visited {
	const struct space *space;
	choice (*configurations)[8];
	size_t count, capacity;
};

static bool record_visit(const choice *configuration, const struct value *slots, void *context)
{
	struct visited *visited = context;
	struct value again[32];
	struct error err = {0};
	ARRAY_GROW(visited->configurations, visited->count, visited->capacity);
	memcpy(visited->configurations[visited->count++], configuration,
		space_parameter_count(visited->space) * sizeof(choice));
	/* a visit may use the space; the slots are those of the configuration */
	assert_int_equal(space_values(visited->space, configuration, again, &err), STATUS_OK);
	for (size_t i = 0; i < space_slot_count(visited->space); i++)
		assert_true(again[i].type == slots[i].type && value_equal(again[i], slots[i]));
	return true;
}

/* By the texts of the constraints alone, nothing put in, nothing remembered. */
static bool is_legal(const struct space *space, const struct value *slots)
{
	bool legal = true;
	for (size_t c = 0; c < space_constraint_count(space) && legal; c++) {
		struct expression *expression;
		struct error err = {0};
		assert_int_equal(expression_compile(space_constraint_text(space, c), "again",
					 space_names(space), &expression, &err),
			STATUS_OK);
		assert_int_equal(expression_test(expression, slots, &legal, &err), STATUS_OK);
		expression_free(expression);
	}
	return legal;
}

static void test_random_spaces(void **state)
{
	enum {
		SPACES = 300
	};
	struct random_state random;
	size_t legal_total = 0, removed_total = 0;
	(void)state;
	random_seed(&random, 7);
	for (int i = 0; i < SPACES; i++) {
		struct space *space = random_space(&random);
		double by_constraint[8] = {0}, expected[8] = {0};
		struct visited visited = {.space = space};
		struct space_removed removed = {.by_constraint = by_constraint};
		struct error err = {0};
		choice configuration[8] = {0};
		size_t legal = 0;
		assert_int_equal(
			space_enumerate(space, record_visit, &visited, &removed, &err), STATUS_OK);
		do {
			struct value slots[32];
			int violated, examined;
			assert_int_equal(
				space_values(space, configuration, slots, &err), STATUS_OK);
			assert_int_equal(space_check(space, slots, &violated, &err), STATUS_OK);
			assert_int_equal(violated < 0, is_legal(space, slots));
			assert_int_equal(space_examine(space, slots, &examined, &err), STATUS_OK);
			assert_int_equal(violated, examined);
			if (violated >= 0) {
				expected[violated]++;
				removed_total++;
				continue;
			}
			assert_true(legal < visited.count);
			assert_memory_equal(visited.configurations[legal++], configuration,
				space_parameter_count(space) * sizeof(choice));
		} while (next_configuration(space, configuration));
		assert_int_equal(legal, visited.count);
		assert_true(removed.legal == (double)legal);
		assert_memory_equal(by_constraint, expected, sizeof(expected));
		legal_total += legal;
		free(visited.configurations);
		space_free(space);
	}
	assert_true(legal_total > 1000 && removed_total > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_and_counts),
		cmocka_unit_test(test_root),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_no_parameters),
		cmocka_unit_test(test_guards),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_random_spaces),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
