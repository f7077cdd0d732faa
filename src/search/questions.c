/* SPDX-License-Identifier: MIT */
#include "search/questions.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/order.h"

static const double NOT_ASKED = -1;
enum {
	DRAWS = 256,          /* attempts to find a legal and new child */
	VALUES_OF_A_MOVE = 8, /* on average, one of this number of values is changed */
};

void *questions_open(const struct search_view *view, size_t size)
{
	struct questions *questions = memory_zeroed(1, size);
	const double *predicted_us = view->predicted_us;
	size_t *order = memory_zeroed(view->count + 1, sizeof(*order)), count = 0;

	*questions = (struct questions){
		.view = view,
		.budget = view->budget,
		.order = order,
		.times_us = memory_zeroed(view->count + 1, sizeof(double)),
	};
	random_seed(&questions->random, view->seed);
	for (size_t i = 0; i < view->count; i++) {
		questions->times_us[i] = NOT_ASKED;
		if (isfinite(predicted_us[i]))
			order[count++] = i;
	}
	questions->order_count = order_smallest(order, count, predicted_us, count);
	questions->by_lot = count > 0 && !(predicted_us[order[0]] < predicted_us[order[count - 1]]);
	if (questions->by_lot)
		random_shuffle(&questions->random, order, count);
	return questions;
}

void questions_close(void *state)
{
	struct questions *questions = state;

	free(questions->order);
	free(questions->times_us);
	free(questions);
}

bool questions_is_new(const struct questions *questions, size_t candidate)
{
	return questions->times_us[candidate] < 0;
}

/* Moves a choice one level up or down if the parameter is ordered, else to a random value. */
static choice moved(
	struct random_state *random, const struct search_parameter *parameter, choice own)
{
	if (!parameter->is_ordered || random_below(random, 2))
		return (choice)random_below(random, parameter->levels);
	if (random_below(random, 2))
		return (choice)(own + (own + 1 < parameter->levels));
	return (choice)(own - (own > 0));
}

bool questions_cross(
	struct questions *questions, size_t mother, size_t father, size_t one_of, size_t *candidate)
{
	const struct search_view *view = questions->view;
	const struct search_family *family = &view->families[view->family[mother]];
	struct random_state *random = &questions->random;
	choice x[SPACE_PARAMETERS_MAX];
	ptrdiff_t found;

	for (size_t p = 0; p < family->parameter_count; p++) {
		const size_t parent = random_below(random, 2) ? mother : father;

		x[p] = search_view_configuration(view, parent)[p];
		if (random_below(random, one_of) == 0)
			x[p] = moved(random, &family->parameters[p], x[p]);
	}
	found = search_view_find(view, view->family[mother], x);
	*candidate = (size_t)found;
	return found >= 0 && questions_is_new(questions, *candidate) &&
	       isfinite(view->predicted_us[found]);
}

/* Selects the faster of two random parents. */
static size_t parent(struct questions *questions)
{
	const size_t a = random_below(&questions->random, questions->parent_count);
	const size_t b = random_below(&questions->random, questions->parent_count);

	return questions->parents[a < b ? a : b];
}

bool questions_child(struct questions *questions, size_t *candidate)
{
	const uint32_t *family = questions->view->family;

	for (int draw = 0; questions->parent_count && draw < DRAWS; draw++) {
		const size_t mother = parent(questions), father = parent(questions);

		if (family[mother] == family[father] &&
			questions_cross(questions, mother, father, VALUES_OF_A_MOVE, candidate))
			return true;
	}
	return false;
}

static void add_parent(struct questions *questions, size_t candidate)
{
	const double *times_us = questions->times_us;
	size_t *parents = questions->parents, at = questions->parent_count;

	if (at < QUESTIONS_PARENTS)
		questions->parent_count++;
	else if (!(times_us[candidate] < times_us[parents[--at]]))
		return;
	for (; at > 0 && times_us[candidate] < times_us[parents[at - 1]]; at--)
		parents[at] = parents[at - 1];
	parents[at] = candidate;
}

bool questions_done(const struct questions *questions)
{
	return questions->asked_count >= questions->budget;
}

bool questions_next(struct questions *questions, size_t *candidate)
{
	while (questions->order_next < questions->order_count) {
		*candidate = questions->order[questions->order_next++];
		if (questions_is_new(questions, *candidate))
			return true;
	}
	return false;
}

enum ask_result questions_ask(struct questions *questions, size_t candidate)
{
	questions->times_us[candidate] = NAN;
	questions->asked_count++;
	questions->open++;
	return ASK_CANDIDATE;
}

bool questions_tell(struct questions *questions, size_t candidate, double time_us)
{
	const bool is_known = questions_is_new(questions, candidate); /* from an earlier run */

	if (is_known ? !isfinite(questions->view->predicted_us[candidate])
		     : !isnan(questions->times_us[candidate]))
		return false;
	questions->times_us[candidate] = time_us > 0 ? time_us : INFINITY;
	questions->asked_count += is_known;
	questions->open -= !is_known;
	if (isfinite(questions->times_us[candidate]))
		add_parent(questions, candidate);
	return true;
}
