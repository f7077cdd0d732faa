/* SPDX-License-Identifier: MIT */
#include "search/questions.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "search/order.h"

void questions_init(struct questions *questions, const struct search_view *view)
{
	const double *predicted = view->predicted_us;

	*questions = (struct questions){
		.view = view,
		.asked = memory_zeroed(view->count + 1, sizeof(bool)),
		.told = memory_zeroed(view->count + 1, sizeof(bool)),
	};
	neighbourhood_init(&questions->neighbourhood, view);
	random_seed(&questions->random, view->seed);
	questions->order = order_by_prediction(view, SIZE_MAX, &questions->order_count);
	if (!questions->order_count)
		return;
	questions->by_lot = !(predicted[questions->order[0]] <
			      predicted[questions->order[questions->order_count - 1]]);
	if (questions->by_lot)
		random_shuffle(&questions->random, questions->order, questions->order_count);
}

void questions_release(struct questions *questions)
{
	neighbourhood_release(&questions->neighbourhood);
	free(questions->order);
	free(questions->asked);
	free(questions->told);
	*questions = (struct questions){0};
}

void questions_close(void *state)
{
	questions_release(state);
	free(state);
}

bool questions_done(const struct questions *questions)
{
	return questions->asked_count >= questions->view->budget ||
	       questions->asked_count >= questions->order_count;
}

bool questions_next(struct questions *questions, size_t *candidate)
{
	while (questions->order_next < questions->order_count) {
		*candidate = questions->order[questions->order_next++];
		if (!questions->asked[*candidate])
			return true;
	}
	return false;
}

size_t questions_keep_new(
	struct questions *questions, size_t *candidates, size_t count, size_t limit)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!questions->asked[candidates[i]])
			candidates[kept++] = candidates[i];
	if (questions->by_lot)
		random_shuffle(&questions->random, candidates, kept);
	return kept < limit ? kept : limit;
}

bool questions_find_new(const struct questions *questions, size_t family,
	const choice *configuration, size_t *candidate)
{
	const ptrdiff_t found = search_view_find(questions->view, family, configuration);

	if (found < 0 || questions->asked[found] || !isfinite(questions->view->predicted_us[found]))
		return false;
	*candidate = (size_t)found;
	return true;
}

enum ask_result questions_ask(struct questions *questions, size_t candidate)
{
	questions->asked[candidate] = true;
	questions->asked_count++;
	questions->open++;
	return ASK_CANDIDATE;
}

bool questions_tell(struct questions *questions, size_t candidate)
{
	if (questions->told[candidate])
		return false;
	questions->told[candidate] = true;
	if (questions->asked[candidate]) {
		questions->open--;
		return true;
	}
	if (!isfinite(questions->view->predicted_us[candidate]))
		return false;               /* nothing to compare with, and never asked for */
	questions->asked[candidate] = true; /* known from an earlier run */
	questions->asked_count++;
	return true;
}
