/* SPDX-License-Identifier: MIT
 *
 * Strategy `evolution`: a steady-state genetic algorithm. The fastest candidates so far are the
 * parents. Each child takes every value from one of two parents of a family, and some values are
 * changed. A child that is illegal or not new is discarded, and another is made. Source: D.
 * Whitley, "The GENITOR Algorithm and Selection Pressure" (1989).
 */
#include "search/questions.h"

static void *evolution_open(const struct search_view *view)
{
	return questions_open(view, sizeof(struct questions));
}

static enum ask_result evolution_ask(void *state, size_t *candidate)
{
	struct questions *questions = state;

	if (questions_done(questions))
		return ASK_DONE;
	if ((questions->asked_count < QUESTIONS_PARENTS ||
		    !questions_child(questions, candidate)) &&
		!questions_next(questions, candidate))
		return ASK_DONE;
	return questions_ask(questions, *candidate);
}

static void evolution_tell(void *state, size_t candidate, double time_us)
{
	questions_tell(state, candidate, time_us);
}

STRATEGY(evolution, evolution, questions_close,
	"a genetic algorithm, whose parents are the fastest candidates so far");
