/* SPDX-License-Identifier: MIT
 *
 * Strategy `annealing`: simulated annealing. Measures a neighbour drawn by lot and goes there if it
 * is faster, or, the rarer the slower it is, also if it is not; less and less so. Source: S.
 * Kirkpatrick, C. Gelatt, M. Vecchi, "Optimization by Simulated Annealing" (1983).
 */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/neighbours.h"
#include "search/questions.h"

enum {
	STARTS = 8,
	NEIGHBOURS_MAX = 512,
	STEPS_MAX = 400, /* until it is cold, where the budget is larger */
	PATIENCE = 24,   /* refused in a row: back to the best */
};
/* Temperatures: loss in log(time) that is accepted with probability 1/e. */
static const double FIRST_TEMPERATURE = 0.1, LAST_TEMPERATURE = 0.005;

struct annealing {
	struct questions questions;
	struct neighbourhood neighbourhood;
	size_t here, best, refused;
	double here_us, best_us;
};

static void *annealing_open(const struct search_view *view)
{
	struct annealing *annealing = memory_zeroed(1, sizeof(*annealing));

	questions_init(&annealing->questions, view);
	neighbourhood_init(&annealing->neighbourhood, view);
	annealing->here_us = annealing->best_us = INFINITY;
	return annealing;
}

static void annealing_close(void *state)
{
	struct annealing *annealing = state;

	neighbourhood_release(&annealing->neighbourhood);
	questions_release(&annealing->questions);
	free(annealing);
}

static bool neighbour(struct annealing *annealing, size_t *candidate)
{
	struct questions *questions = &annealing->questions;
	size_t found[NEIGHBOURS_MAX];
	const size_t count = questions_keep_new(questions, found,
		neighbourhood_list(
			&annealing->neighbourhood, annealing->here, found, NEIGHBOURS_MAX),
		NEIGHBOURS_MAX);

	if (count > 0)
		*candidate = found[random_below(&questions->random, count)];
	return count > 0;
}

static enum ask_result annealing_ask(void *state, size_t *candidate)
{
	struct annealing *annealing = state;
	struct questions *questions = &annealing->questions;

	if (questions_done(questions))
		return ASK_DONE;
	if (annealing->refused >= PATIENCE) {
		annealing->refused = 0;
		annealing->here = annealing->best;
		annealing->here_us = annealing->best_us;
	}
	if ((questions->asked_count < STARTS || !isfinite(annealing->here_us) ||
		    !neighbour(annealing, candidate)) &&
		!questions_next(questions, candidate))
		return ASK_DONE;
	return questions_ask(questions, *candidate);
}

static double temperature(const struct questions *questions)
{
	const double steps = fmin((double)questions->view->budget, STEPS_MAX);
	const double progress = fmin(1, (double)questions->asked_count / steps);

	return FIRST_TEMPERATURE * pow(LAST_TEMPERATURE / FIRST_TEMPERATURE, progress);
}

static void annealing_tell(void *state, size_t candidate, double time_us)
{
	struct annealing *annealing = state;
	struct questions *questions = &annealing->questions;
	double loss;

	if (!questions_tell(questions, candidate))
		return;
	annealing->refused++;
	if (!isfinite(time_us))
		return;
	loss = log(time_us / annealing->here_us);
	if (time_us < annealing->best_us) {
		annealing->best_us = time_us;
		annealing->best = candidate;
	}
	if (loss > 0 &&
		(questions->asked_count <= STARTS ||
			random_unit(&questions->random) >= exp(-loss / temperature(questions))))
		return;
	annealing->here = candidate;
	annealing->here_us = time_us;
	annealing->refused = 0;
}

const struct strategy strategy_annealing = {
	.name = "annealing",
	.summary = "simulated annealing: slower neighbours are accepted, less and less",
	.open = annealing_open,
	.ask = annealing_ask,
	.tell = annealing_tell,
	.close = annealing_close,
};
