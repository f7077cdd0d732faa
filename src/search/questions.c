/* SPDX-License-Identifier: MIT */
#include "search/questions.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/order.h"

static const double NOT_ASKED = -1;

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

bool questions_find_new(const struct questions *questions, size_t family,
	const choice *configuration, size_t *candidate)
{
	const ptrdiff_t found = search_view_find(questions->view, family, configuration);

	*candidate = (size_t)found;
	return found >= 0 && questions_is_new(questions, *candidate) &&
	       isfinite(questions->view->predicted_us[found]);
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
	return true;
}
