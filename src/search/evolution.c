/* SPDX-License-Identifier: MIT
 *
 * Strategy `evolution`: a steady-state genetic algorithm. Source: D. Whitley, "The GENITOR
 * Algorithm and Selection Pressure" (1989).
 */
#include "search/history.h"

static void *evolution_open(const struct search_view *view)
{
	return history_open(view, sizeof(struct history));
}

static enum ask_result evolution_ask(void *state, size_t *candidate)
{
	struct history *history = state;

	if (history_done(history))
		return ASK_DONE;
	if ((history->asked_count < HISTORY_PARENTS || !history_child(history, candidate)) &&
		!history_next(history, candidate))
		return ASK_DONE;
	return history_ask(history, *candidate);
}

static void evolution_tell(void *state, size_t candidate, double time_us)
{
	history_tell(state, candidate, time_us);
}

STRATEGY(evolution, evolution, history_close,
	"a genetic algorithm, whose parents are the fastest candidates so far");
