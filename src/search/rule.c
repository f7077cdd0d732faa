/* SPDX-License-Identifier: MIT
 *
 * Strategy `rule`: what the operation's selection rules pick, nothing else. `rule:NAME` on the
 * command line keeps one rule. What the rules pick is in the view: the rules are data of the
 * operation, computed by who binds its families.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/strategy.h"

struct rules {
	const struct search_view *view;
	size_t next;
	bool *told; /* per pick: known from elsewhere */
};

static void *rule_open(const struct search_view *view)
{
	struct rules *rules = memory_zeroed(1, sizeof(*rules));

	rules->view = view;
	rules->told = memory_zeroed(view->pick_count + 1, sizeof(*rules->told));
	return rules;
}

static bool is_repeated(const struct search_view *view, size_t pick)
{
	for (size_t i = 0; i < pick; i++)
		if (view->picks[i].candidate == view->picks[pick].candidate &&
			(!view->rule || strcmp(view->picks[i].rule, view->rule) == 0))
			return true;
	return false;
}

static enum ask_result rule_ask(void *state, size_t *candidate)
{
	struct rules *rules = state;
	const struct search_view *view = rules->view;

	while (rules->next < view->pick_count) {
		size_t i = rules->next++;

		if (rules->told[i] || is_repeated(view, i) ||
			!isfinite(view->predicted_us[view->picks[i].candidate]) ||
			(view->rule && strcmp(view->picks[i].rule, view->rule) != 0))
			continue;
		*candidate = view->picks[i].candidate;
		return ASK_CANDIDATE;
	}
	return ASK_DONE;
}

static void rule_tell(void *state, size_t candidate, double time_us)
{
	struct rules *rules = state;

	(void)time_us;
	for (size_t i = 0; i < rules->view->pick_count; i++)
		if (rules->view->picks[i].candidate == candidate)
			rules->told[i] = true;
}

static void rule_close(void *state)
{
	struct rules *rules = state;

	free(rules->told);
	free(rules);
}

const struct strategy strategy_rule = {
	.name = "rule",
	.summary = "what the operation's selection rules pick (rule:NAME: that one)",
	.open = rule_open,
	.ask = rule_ask,
	.tell = rule_tell,
	.close = rule_close,
};
