/* SPDX-License-Identifier: MIT
 *
 * Strategy `model_top`: the candidates with the fastest predictions, as many as the budget allows.
 */
#include "search/order.h"

static void *model_top_open(const struct search_view *view)
{
	struct walk *walk = walk_new(view);

	if (walk->count > view->budget)
		walk->count = view->budget;
	return walk;
}

const struct strategy strategy_model_top = {
	.name = "model_top",
	.summary = "the best by prediction, as many as the budget allows",
	.open = model_top_open,
	.ask = walk_ask,
	.tell = walk_tell,
	.close = walk_close,
};
