/* SPDX-License-Identifier: MIT
 *
 * One configuration looked at closely: its score, the compiled kernel's resources, the operation's
 * facts.
 */
#ifndef ENGINE_EXPLANATION_H
#define ENGINE_EXPLANATION_H

#include "engine/candidates.h"
#include "engine/context.h"

/* The family's candidate (a number of the pool) with the shortest predicted time. Where the pool's
 * config gives a part of the configuration, parameters that change the number of independent units
 * of work (SPLIT_K) keep their default where that is legal: a question about a tile shape is not
 * about the tile count of another decomposition. *found is false if the family has no candidate. */
enum status explanation_choose(const struct candidates *pool, size_t family, size_t *candidate,
	bool *found, struct error *err);

struct explanation {
	struct candidate candidate; /* its bound family is the pool's */
	const bool *given;          /* per parameter: others were filled in; the pool's */
	struct result result;       /* score, resources, warnings; its time is predicted */
	char *compile_problem;      /* why there are no resources, or NULL */
	struct fact_list facts;
};

/* Compiles where there is a compiler; the pool must outlive it, and the caller releases it, also
 * after a failure. */
enum status explanation_make(struct context *context, const struct candidates *pool,
	size_t candidate, struct explanation *explanation, struct error *err);
void explanation_release(struct explanation *explanation);

/* What the row of a tuned file does not have, its "why". */
struct json *explanation_why(const struct explanation *explanation);

#endif
