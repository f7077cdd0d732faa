/* SPDX-License-Identifier: MIT
 *
 * Strategy `evolution`: a genetic algorithm in a steady state. The fastest so far are parents; each
 * child takes every value from one of two parents of a family, one value moves. A child
 * that is not legal or not new is drawn again. Source: D. Whitley, "The GENITOR Algorithm and
 * Selection Pressure" (1989).
 */
#include <math.h>

#include "search/questions.h"

enum {
	PARENTS = 12,
	DRAWS = 256, /* attempts at a child that is legal and new */
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

/* The faster of two drawn by lot. */
static size_t parent(struct evolution *evolution)
{
	const size_t a = random_below(&evolution->questions.random, evolution->parent_count);
	const size_t b = random_below(&evolution->questions.random, evolution->parent_count);

	return evolution->parents[a < b ? a : b].candidate;
}

/* One level up or down, or any value. */
static void mutate(struct evolution *evolution, size_t family, choice *x)
{
	struct random_state *random = &evolution->questions.random;
	const struct search_family *of = &evolution->questions.view->families[family];
	const size_t p = random_below(random, of->parameter_count);
	const choice levels = of->parameters[p].levels;

	if (!of->parameters[p].is_ordered || random_below(random, 2))
		x[p] = (choice)random_below(random, levels);
	else if (random_below(random, 2))
		x[p] = (choice)(x[p] + (x[p] + 1 < levels));
	else
		x[p] = (choice)(x[p] - (x[p] > 0));
}

static bool child(struct evolution *evolution, size_t *candidate)
{
	const struct search_view *view = evolution->questions.view;
	struct random_state *random = &evolution->questions.random;
	choice x[SPACE_PARAMETERS_MAX];

	for (int draw = 0; draw < DRAWS; draw++) {
		const size_t mother = parent(evolution), father = parent(evolution);
		const size_t family = view->family[mother];
		const size_t parameters = view->families[family].parameter_count;

		if (view->family[father] != family || !parameters)
			continue;
		for (size_t p = 0; p < parameters; p++)
			x[p] = search_view_configuration(
				view, random_below(random, 2) ? mother : father)[p];
		mutate(evolution, family, x);
		if (questions_find_new(&evolution->questions, family, x, candidate))
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
