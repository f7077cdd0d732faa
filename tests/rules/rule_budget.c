/* SPDX-License-Identifier: MIT
 *
 * The budget of a search.
 */
#include "rules/rules.h"
#include "tune/budget.h"

static struct json *state_of(const struct budget *budget)
{
	struct json *state = json_new_object();

	json_put_string(state, "spent", budget_spent(budget));
	json_put_double(state, "left", budget_left_seconds(budget));
	json_put_double(state, "search_left", budget_search_left_seconds(budget));
	return state;
}

/* Returns the state of the budget after the start and after each evaluation. */
RULE(budget)
{
	const struct rule_numbers times = rule_numbers(in, "times");
	struct effort effort = *effort_find(rule_string(in, "effort"));
	struct json *out = json_new_array();
	struct budget budget;

	effort.evaluations = rule_size(in, "evaluations");
	effort.kept = rule_size(in, "kept");
	effort.stall = rule_size(in, "stall");
	effort.stall_ratio = 0.01;
	effort.measures = rule_flag(in, "measures");
	budget_start(&budget, &effort, rule_number(in, "seconds"), rule_flag(in, "measures_again"));
	budget.kept = effort.kept;
	budget.started -= rule_number(in, "elapsed");
	json_push(out, state_of(&budget));
	for (size_t i = 0; i < times.count; i++) {
		budget_count(&budget, times.items[i]);
		json_push(out, state_of(&budget));
	}
	return out;
}
