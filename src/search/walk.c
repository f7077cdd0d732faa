/* SPDX-License-Identifier: MIT
 *
 * Strategies that walk down a list: `exhaustive`, `model_top`, `random`, `rule`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "search/order.h"

struct walk {
	size_t *candidates;
	size_t count, next;
	bool *told; /* per candidate: known, not to be asked */
};

static enum ask_result walk_ask(void *state, size_t *candidate)
{
	struct walk *walk = state;

	while (walk->next < walk->count) {
		*candidate = walk->candidates[walk->next++];
		if (!walk->told[*candidate])
			return ASK_CANDIDATE;
	}
	return ASK_DONE;
}

static void walk_tell(void *state, size_t candidate, double time_us)
{
	struct walk *walk = state;

	(void)time_us;
	walk->told[candidate] = true;
}

static void walk_close(void *state)
{
	struct walk *walk = state;

	free(walk->candidates);
	free(walk->told);
	free(walk);
}

/* All that can run, fastest prediction first, so that an interrupted run has seen what matters.
 * Takes no notice of the budget. */
static void *exhaustive_open(const struct search_view *view)
{
	struct walk *walk = memory_zeroed(1, sizeof(*walk));

	walk->candidates = order_by_prediction(view, SIZE_MAX, &walk->count);
	walk->told = memory_zeroed(view->count + 1, sizeof(*walk->told));
	return walk;
}

static void *keep_budget(struct walk *walk, const struct search_view *view)
{
	if (walk->count > view->budget)
		walk->count = view->budget;
	return walk;
}

static void *model_top_open(const struct search_view *view)
{
	return keep_budget(exhaustive_open(view), view);
}

/* What every other strategy has to beat. */
static void *random_open(const struct search_view *view)
{
	struct walk *walk = exhaustive_open(view);
	struct random_state random;

	random_seed(&random, view->seed);
	random_shuffle(&random, walk->candidates, walk->count);
	return keep_budget(walk, view);
}

/* `rule:NAME` on the command line keeps one rule. What the rules pick is in the view: the rules are
 * data of the operation, computed by who binds its families. */
static void *rule_open(const struct search_view *view)
{
	struct walk *walk = memory_zeroed(1, sizeof(*walk));

	walk->candidates = memory_zeroed(view->pick_count + 1, sizeof(*walk->candidates));
	walk->told = memory_zeroed(view->count + 1, sizeof(*walk->told));
	for (size_t i = 0; i < view->pick_count; i++) {
		const size_t candidate = view->picks[i].candidate;
		bool repeated = false;

		for (size_t k = 0; k < walk->count && !repeated; k++)
			repeated = walk->candidates[k] == candidate;
		if (!repeated && isfinite(view->predicted_us[candidate]) &&
			(!view->rule || strcmp(view->picks[i].rule, view->rule) == 0))
			walk->candidates[walk->count++] = candidate;
	}
	return walk;
}

STRATEGY(exhaustive, walk, walk_close, "every candidate, in the model's order");
STRATEGY(model_top, walk, walk_close, "the best by prediction, as many as the budget allows");
STRATEGY(random, walk, walk_close, "random candidates, as many as the budget allows");
STRATEGY(rule, walk, walk_close, "what the operation's selection rules pick (rule:NAME: that one)");
