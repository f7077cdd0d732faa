/* SPDX-License-Identifier: MIT */
#include "search/history.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/order.h"

static const double NOT_ASKED = -1;
enum {
	DRAWS = 256,
	VALUES_OF_A_MOVE = 8,
};

void *history_open(const struct search_view *view, size_t size)
{
	struct history *history = memory_zeroed(1, size);
	const double *predicted_us = view->predicted_us;
	size_t *order = memory_zeroed(view->count + 1, sizeof(*order)), count = 0;

	*history = (struct history){
		.view = view,
		.budget = view->budget,
		.order = order,
		.times_us = memory_zeroed(view->count + 1, sizeof(double)),
	};
	random_seed(&history->random, view->seed);
	for (size_t i = 0; i < view->count; i++) {
		history->times_us[i] = NOT_ASKED;
		if (isfinite(predicted_us[i]))
			order[count++] = i;
	}
	history->order_count = order_smallest(order, count, predicted_us, count);
	history->random_order =
		count > 0 && !(predicted_us[order[0]] < predicted_us[order[count - 1]]);
	if (history->random_order)
		random_shuffle(&history->random, order, count);
	return history;
}

void history_close(void *state)
{
	struct history *history = state;

	free(history->order);
	free(history->times_us);
	free(history);
}

bool history_is_new(const struct history *history, size_t candidate)
{
	return history->times_us[candidate] < 0;
}

/* Mutates a value by one level if values are ordered, or at random. */
static choice moved(
	struct random_state *random, const struct search_parameter *parameter, choice own)
{
	if (!parameter->is_ordered || random_below(random, 2))
		return (choice)random_below(random, parameter->levels);
	if (random_below(random, 2))
		return (choice)(own + (own + 1 < parameter->levels));
	return (choice)(own - (own > 0));
}

bool history_cross(
	struct history *history, size_t mother, size_t father, size_t one_of, size_t *candidate)
{
	const struct search_view *view = history->view;
	const struct search_family *family = &view->families[view->family[mother]];
	struct random_state *random = &history->random;
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
	return found >= 0 && history_is_new(history, *candidate) &&
	       isfinite(view->predicted_us[found]);
}

/* Returns the faster of two random parents. */
static size_t parent(struct history *history)
{
	const size_t a = random_below(&history->random, history->parent_count);
	const size_t b = random_below(&history->random, history->parent_count);

	return history->parents[a < b ? a : b];
}

bool history_child(struct history *history, size_t *candidate)
{
	const uint32_t *family = history->view->family;

	for (int draw = 0; history->parent_count && draw < DRAWS; draw++) {
		const size_t mother = parent(history), father = parent(history);

		if (family[mother] == family[father] &&
			history_cross(history, mother, father, VALUES_OF_A_MOVE, candidate))
			return true;
	}
	return false;
}

static void add_parent(struct history *history, size_t candidate)
{
	const double *times_us = history->times_us;
	size_t *parents = history->parents, at = history->parent_count;

	if (at < HISTORY_PARENTS)
		history->parent_count++;
	else if (!(times_us[candidate] < times_us[parents[--at]]))
		return;
	for (; at > 0 && times_us[candidate] < times_us[parents[at - 1]]; at--)
		parents[at] = parents[at - 1];
	parents[at] = candidate;
}

bool history_done(const struct history *history)
{
	return history->asked_count >= history->budget;
}

bool history_next(struct history *history, size_t *candidate)
{
	while (history->order_next < history->order_count) {
		*candidate = history->order[history->order_next++];
		if (history_is_new(history, *candidate))
			return true;
	}
	return false;
}

enum ask_result history_ask(struct history *history, size_t candidate)
{
	history->times_us[candidate] = NAN;
	history->asked_count++;
	history->open++;
	return ASK_CANDIDATE;
}

bool history_tell(struct history *history, size_t candidate, double time_us)
{
	const bool is_unasked = history_is_new(history, candidate);

	if (is_unasked ? !isfinite(history->view->predicted_us[candidate])
		       : !isnan(history->times_us[candidate]))
		return false;
	history->times_us[candidate] = time_us > 0 ? time_us : INFINITY;
	history->asked_count += is_unasked;
	history->open -= !is_unasked;
	if (isfinite(history->times_us[candidate]))
		add_parent(history, candidate);
	return true;
}
