/* SPDX-License-Identifier: MIT
 *
 * Strategies that walk down a list: `exhaustive`, `model_top`, `random`.
 */
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

STRATEGY(exhaustive, walk, questions_close, "every candidate, in the model's order");
STRATEGY(model_top, walk, questions_close, "the best by prediction, as many as the budget allows");
STRATEGY(random, walk, questions_close, "random candidates, as many as the budget allows");
