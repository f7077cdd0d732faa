/* SPDX-License-Identifier: MIT
 *
 * Explains one configuration: its score, resources and facts.
 */
#ifndef ENGINE_EXPLANATION_H
#define ENGINE_EXPLANATION_H

#include "engine/candidates.h"
#include "engine/context.h"

/* Finds the family's fastest predicted candidate. If only a part of the configuration is given,
 * parameters that change the number of independent units of work (SPLIT_K) keep their default where
 * legal. */
enum status explanation_choose(const struct candidates *pool, size_t family, size_t *candidate,
	bool *found, struct error *err);

struct explanation {
	struct candidate candidate; /* its bound family belongs to the pool */
	const bool *given;          /* per parameter: given by the user; borrowed from the pool */
	struct result result;       /* its time is predicted */
	char *compile_problem;      /* why there are no resources, or NULL */
	/* per kernel, counted by cubin_instructions(): {"gemm": "8 HGMMA, 2 UTMALDG"} */
	struct json *instructions;
	struct fact_list facts;
};

/* Compiles the candidate if there is a compiler. The pool must outlive the explanation, which the
 * caller releases even after a failure. */
enum status explanation_make(struct context *context, const struct candidates *pool,
	size_t candidate, struct explanation *explanation, struct error *err);
void explanation_release(struct explanation *explanation);

/* Returns the parts of an explanation that the row of a tuned file does not contain. */
struct json *explanation_why(const struct explanation *explanation);

#endif
