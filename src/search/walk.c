/* SPDX-License-Identifier: MIT
 *
 * Strategies that walk down a list: `exhaustive`, `model_top`, `random`, `rule`.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "search/questions.h"

static enum ask_result walk_ask(void *state, size_t *candidate)
{
	struct questions *questions = state;

	return !questions_done(questions) && questions_next(questions, candidate)
		       ? questions_ask(questions, *candidate)
		       : ASK_DONE;
}

static void walk_tell(void *state, size_t candidate, double time_us)
{
	questions_tell(state, candidate, time_us);
}

static void *model_top_open(const struct search_view *view)
{
	return questions_open(view, sizeof(struct questions));
}

/* All that can run, fastest prediction first, so that an interrupted run has seen what matters. */
static void *exhaustive_open(const struct search_view *view)
{
	struct questions *questions = model_top_open(view);

	questions->budget = SIZE_MAX;
	return questions;
}

/* What every other strategy has to beat. */
static void *random_open(const struct search_view *view)
{
	struct questions *questions = model_top_open(view);

	if (!questions->by_lot)
		random_shuffle(&questions->random, questions->order, questions->order_count);
	return questions;
}

/* `rule:NAME` on the command line keeps one rule. What the rules pick is in the view: the rules are
 * data of the operation, computed by who binds its families. */
static void *rule_open(const struct search_view *view)
{
	struct questions *questions = exhaustive_open(view);

	questions->order_count = 0;
	questions->order =
		memory_resize(questions->order, view->pick_count + 1, sizeof(*questions->order));
	for (size_t i = 0; i < view->pick_count; i++)
		if (isfinite(view->predicted_us[view->picks[i].candidate]) &&
			(!view->rule || strcmp(view->picks[i].rule, view->rule) == 0))
			questions->order[questions->order_count++] = view->picks[i].candidate;
	return questions;
}

STRATEGY(exhaustive, walk, questions_close, "every candidate, in the model's order");
STRATEGY(model_top, walk, questions_close, "the best by prediction, as many as the budget allows");
STRATEGY(random, walk, questions_close, "random candidates, as many as the budget allows");
STRATEGY(rule, walk, questions_close,
	"what the operation's selection rules pick (rule:NAME: that one)");
