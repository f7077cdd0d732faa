/* SPDX-License-Identifier: MIT
 *
 * Strategy `evolution`: a genetic algorithm in a steady state. The fastest so far are parents; each
 * child takes every value from one of two parents of a family, some values move. A child
 * that is not legal or not new is drawn again. Source: D. Whitley, "The GENITOR Algorithm and
 * Selection Pressure" (1989).
 */
#include <math.h>

#include "search/questions.h"

enum {
	PARENTS = 12,
	DRAWS = 256,          /* attempts at a child that is legal and new */
	VALUES_OF_A_MOVE = 8, /* values taken over for each one that moves */
};

struct evolution {
	struct questions questions;
	struct parent {
		size_t candidate;
		double time_us;
	} parents[PARENTS]; /* fastest first */
	size_t parent_count;
};

static void *evolution_open(const struct search_view *view)
{
	return questions_open(view, sizeof(struct evolution));
}

/* The faster of two drawn at random. */
static size_t parent(struct evolution *evolution)
{
	const size_t a = random_below(&evolution->questions.random, evolution->parent_count);
	const size_t b = random_below(&evolution->questions.random, evolution->parent_count);

	return evolution->parents[a < b ? a : b].candidate;
}

static bool child(struct evolution *evolution, size_t *candidate)
{
	const uint32_t *family = evolution->questions.view->family;

	for (int draw = 0; draw < DRAWS; draw++) {
		const size_t mother = parent(evolution), father = parent(evolution);

		if (family[mother] == family[father] &&
			questions_cross(
				&evolution->questions, mother, father, VALUES_OF_A_MOVE, candidate))
			return true;
	}
	return false;
}

static enum ask_result evolution_ask(void *state, size_t *candidate)
{
	struct evolution *evolution = state;
	struct questions *questions = &evolution->questions;

	if (questions_done(questions))
		return ASK_DONE;
	if ((questions->asked_count < PARENTS || !evolution->parent_count ||
		    !child(evolution, candidate)) &&
		!questions_next(questions, candidate))
		return ASK_DONE;
	return questions_ask(questions, *candidate);
}

static void evolution_tell(void *state, size_t candidate, double time_us)
{
	struct evolution *evolution = state;
	struct parent *parents = evolution->parents;
	size_t at;

	if (!questions_tell(&evolution->questions, candidate, time_us) || !isfinite(time_us))
		return;
	at = evolution->parent_count;
	if (at == PARENTS && !(time_us < parents[--at].time_us))
		return;
	for (; at > 0 && time_us < parents[at - 1].time_us; at--)
		parents[at] = parents[at - 1];
	parents[at] = (struct parent){candidate, time_us};
	if (evolution->parent_count < PARENTS)
		evolution->parent_count++;
}

STRATEGY(evolution, evolution, questions_close,
	"a genetic algorithm: children of the fastest so far");
