/* SPDX-License-Identifier: MIT
 *
 * Strategy `exhaustive`: every candidate that can run, fastest prediction first, so that an
 * interrupted run has seen what matters. Takes no notice of the budget.
 */
#include "search/order.h"

static void *exhaustive_open(const struct search_view *view)
{
	return walk_new(view);
}

const struct strategy strategy_exhaustive = {
	.name = "exhaustive",
	.summary = "every candidate, in the model's order",
	.open = exhaustive_open,
	.ask = walk_ask,
	.tell = walk_tell,
	.close = walk_close,
};
