/* SPDX-License-Identifier: MIT
 *
 * What a search found of the candidates of a problem, and what those ask for it who are beside it.
 */
#ifndef ENGINE_EVALUATED_H
#define ENGINE_EVALUATED_H

#include "format/evaluation.h"
#include "format/tuned.h"
#include "family/catalogue.h"

/* An evaluation that ended, with the candidate's number. */
struct evaluated {
	size_t candidate;
	bool remeasured;  /* its samples are those of the re-measurement */
	double search_us; /* median of the search, before it was re-measured; 0: it was not */
	struct evaluation evaluation;
};
/* Median time in the search, us: what all candidates have in common. The GPU has become warm when
 * the best are re-measured, so that those times compare among each other only. */
static inline double evaluated_search_us(const struct evaluated *evaluated)
{
	return evaluated->remeasured ? evaluated->search_us : evaluated->evaluation.time.median;
}

struct evaluated_list {
	struct evaluated *items;
	size_t count, capacity;
};

/* Tunes problems for someone whose business is something else; their entries are put into tuned.
 * Errors other than STATUS_NO_DEVICE and STATUS_INTERRUPTED are of single problems. */
typedef enum status tune_problems(
	void *context, struct problem_list *problems, struct tuned *tuned, struct error *err);

#endif
