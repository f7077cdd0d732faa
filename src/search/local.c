/* SPDX-License-Identifier: MIT
 *
 * Strategy `local`: hill climbing with restarts. Measures some starts, then the neighbours of the
 * best of them, goes to any that is faster at once, and where none is left, starts anew: from the
 * best prediction that nobody has looked at, or where nothing is predicted, from the best so far
 * with some values drawn anew ("basin hopping"). Source: D. Wales, J. Doye, "Global Optimization by
 * Basin-Hopping" (1997).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/neighbours.h"
#include "search/questions.h"

enum {
	STARTS = 8,
	NEIGHBOURS_MAX = 512,
	TRIED_MAX = 24, /* of a candidate's neighbours */
	JUMPS = 64,     /* attempts at one that is legal and new */
};

struct local {
	struct questions questions;
	size_t queue[NEIGHBOURS_MAX]; /* still to be asked around `here` */
	size_t queue_count, queue_next;
	size_t here, start, best;
	double here_us, best_us;
	bool moved;
};

static void *local_open(const struct search_view *view)
{
	struct local *local = memory_zeroed(1, sizeof(*local));

	questions_init(&local->questions, view);
	local->start = SIZE_MAX;
	local->here_us = local->best_us = INFINITY;
	return local;
}

/* The best with about a third of its values drawn anew. */
static bool jump(struct local *local, size_t *candidate)
{
	const struct search_view *view = local->questions.view;
	struct random_state *random = &local->questions.random;
	const size_t family = view->family[local->best];
	const size_t parameters = view->families[family].parameter_count;
	choice configuration[SPACE_PARAMETERS_MAX];

	for (int attempt = 0; attempt < JUMPS; attempt++) {
		memcpy(configuration, search_view_configuration(view, local->best),
			parameters * sizeof(choice));
		for (size_t p = 0; p < parameters; p++)
			if (random_below(random, 3) == 0)
				configuration[p] = (choice)random_below(
					random, local->questions.neighbourhood.levels[family][p]);
		if (questions_find_new(&local->questions, family, configuration, candidate))
			return true;
	}
	return false;
}

static enum ask_result local_ask(void *state, size_t *candidate)
{
	struct local *local = state;
	struct questions *questions = &local->questions;

	if (questions_done(questions))
		return ASK_DONE;
	if (questions->asked_count < STARTS && questions_next(questions, candidate))
		return questions_ask(questions, *candidate);
	if (local->moved) {
		local->moved = false;
		local->queue_next = 0;
		local->queue_count = questions_keep_new(questions, local->queue,
			neighbourhood_list(&questions->neighbourhood, local->here, local->queue,
				NEIGHBOURS_MAX),
			TRIED_MAX);
	}
	while (local->queue_next < local->queue_count) {
		*candidate = local->queue[local->queue_next++];
		if (!questions->asked[*candidate])
			return questions_ask(questions, *candidate);
	}
	if (questions->open > 0)
		return ASK_WAIT;
	if (!(questions->by_lot && isfinite(local->best_us) &&
		    random_below(&questions->random, 3) && jump(local, candidate)) &&
		!questions_next(questions, candidate))
		return ASK_DONE;
	local->start = *candidate;
	return questions_ask(questions, *candidate);
}

static void local_tell(void *state, size_t candidate, double time_us)
{
	struct local *local = state;

	if (!questions_tell(&local->questions, candidate))
		return;
	if (time_us < local->best_us) {
		local->best_us = time_us;
		local->best = candidate;
	}
	if (isfinite(time_us) && (candidate == local->start || time_us < local->here_us)) {
		local->here_us = time_us;
		local->here = candidate;
		local->moved = true;
	}
}

STRATEGY(local, local, questions_close, "hill climbing from the model's best, with restarts");
