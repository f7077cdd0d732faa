/* SPDX-License-Identifier: MIT
 *
 * Random spaces, compared with a loop over the whole product that applies only the texts of the
 * constraints: the configurations, their order and the counts agree.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "base/memory.h"
#include "base/random.h"
#include "space/enumerate.h"
#include "unit/space_builder.h"

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
	struct space *space = builder_open((const char *const[]){"n0"}, 1);
	struct error err = {0};
	char name[8], text[128];
	size_t names = 1, parameters = 3 + random_below(random, 3);
	for (size_t p = 0; p < parameters; p++) {
		struct text list = {0};
		size_t count = 1 + random_below(random, 6);
		for (size_t i = 0; i < count; i++)
			text_appendf(
				&list, "%s%d", i ? ", " : "[", (int)(1 + random_below(random, 8)));
		text_append(&list, "]");
		snprintf(name, sizeof(name), "n%zu", names++);
		assert_int_equal(
			builder_parameter(space, name, list.data, "list", &err), STATUS_OK);
		text_release(&list);
	}
	for (size_t d = random_below(random, 4); d > 0; d--) {
		pick_expression(random, names, false, text, sizeof(text));
		snprintf(name, sizeof(name), "n%zu", names++);
		assert_int_equal(builder_derived(space, name, text, "derived", &err), STATUS_OK);
	}
	for (size_t c = random_below(random, 6); c > 0; c--) {
		pick_expression(random, names, true, text, sizeof(text));
		assert_int_equal(
			builder_constraint(space, text, "", "constraint", &err), STATUS_OK);
	}
	const struct value fixed = value_int((int64_t)(1 + random_below(random, 8)));
	assert_int_equal(space_bind(space, &fixed, &err), STATUS_OK);
	return space;
}

/* Advances to the next configuration in lexicographic order; false after the last. */
static bool next_configuration(const struct space *space, choice *configuration)
{
	for (size_t p = space->parameter_count; p-- > 0;) {
		if (++configuration[p] < space->parameters[p].values.count)
			return true;
		configuration[p] = 0;
	}
	return false;
}

struct visited {
	const struct space *space;
	choice (*configurations)[8];
	size_t count, capacity;
	struct value values[32]; /* values of the last configuration */
};

static bool record_visit(const choice *configuration, void *context)
{
	struct visited *visited = context;
	struct value again[32];
	struct error err = {0};
	const choice *before = visited->count ? visited->configurations[visited->count - 1] : NULL;
	assert_int_equal(
		space_values_after(visited->space, before, configuration, visited->values, &err),
		STATUS_OK);
	ARRAY_GROW(visited->configurations, visited->count, visited->capacity);
	memcpy(visited->configurations[visited->count++], configuration,
		visited->space->parameter_count * sizeof(choice));
	/* a visit may use the space, whose constants equal those of the original expressions */
	assert_int_equal(space_values(visited->space, configuration, again, &err), STATUS_OK);
	for (size_t i = 0; i < visited->space->names->count; i++)
		assert_true(visited->values[i].type == again[i].type &&
			    value_equal(visited->values[i], again[i]));
	for (size_t d = 0; d < visited->space->derived_count; d++) {
		const size_t index =
			visited->space->names->count - visited->space->derived_count + d;
		const struct expression *expression = visited->space->derived[d].expression;
		struct value value;
		assert_int_equal(
			expression_evaluate(expression, again, NULL, &value, &err), STATUS_OK);
		assert_true(again[index].type == value.type && value_equal(again[index], value));
	}
	return true;
}

/* Evaluates the texts of the constraints, without constant folding or caching. */
static bool is_legal(const struct space *space, const struct value *values)
{
	bool legal = true;
	for (size_t c = 0; c < space->constraint_count && legal; c++) {
		struct expression *expression;
		struct error err = {0};
		assert_int_equal(expression_compile(space_constraint_text(space, c), "again",
					 space->names, &expression, &err),
			STATUS_OK);
		assert_int_equal(expression_test(expression, values, &legal, &err), STATUS_OK);
		expression_free(expression);
	}
	return legal;
}

TEST(random_spaces_agree_with_enumeration)
{
	enum {
		SPACES = 300
	};
	struct random_state random;
	size_t legal_total = 0, removed_total = 0;
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
			struct value values[32];
			int violated;
			assert_int_equal(
				space_values(space, configuration, values, &err), STATUS_OK);
			const bool legal_by_rules = is_legal(space, values);
			assert_ok(space_examine(space, configuration, values, &violated, &err));
			assert_int_equal(violated < 0, legal_by_rules);
			if (violated >= 0) {
				expected[violated]++;
				removed_total++;
				continue;
			}
			assert_true(legal < visited.count);
			assert_memory_equal(visited.configurations[legal++], configuration,
				space->parameter_count * sizeof(choice));
		} while (next_configuration(space, configuration));
		assert_int_equal(legal, visited.count);
		assert_true(removed.legal == (double)legal);
		assert_memory_equal(by_constraint, expected, sizeof(expected));
		legal_total += legal;
		free(visited.configurations);
		builder_close(space);
	}
	assert_true(legal_total > 1000 && removed_total > 1000);
}
