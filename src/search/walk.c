/* SPDX-License-Identifier: MIT
 *
 * Strategies that go through a list: `exhaustive`, `model_top` and `random`.
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

/* Proposes all candidates that can run, fastest prediction first, so that an interrupted run has
 * tried the most promising ones. */
static void *exhaustive_open(const struct search_view *view)
{
	struct questions *questions = model_top_open(view);

	questions->budget = SIZE_MAX;
	return questions;
}

/* The baseline that every other strategy must beat. */
static void *random_open(const struct search_view *view)
{
	struct questions *questions = model_top_open(view);

	if (!questions->by_lot)
		random_shuffle(&questions->random, questions->order, questions->order_count);
	return questions;
}

STRATEGY(exhaustive, walk, questions_close, "every candidate, in the order of the predictions");
STRATEGY(model_top, walk, questions_close,
	"the candidates with the best predictions, up to the budget");
STRATEGY(random, walk, questions_close, "random candidates, as many as the budget allows");
