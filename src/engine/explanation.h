/* SPDX-License-Identifier: MIT
 *
 * Explains one configuration: its score, the compiled kernel's resources, and the operation's
 * facts.
 */
#ifndef ENGINE_EXPLANATION_H
#define ENGINE_EXPLANATION_H

#include "engine/candidates.h"
#include "engine/context.h"

/* Finds the family's candidate in the pool with the shortest predicted time. If the pool's
 * config gives only a part of the configuration, parameters that change the number of
 * independent units of work (SPLIT_K) keep their default value where that is legal, because the
 * user asked about a tile shape and not about another decomposition. *found is false if the
 * family has no candidate. */
enum status explanation_choose(const struct candidates *pool, size_t family, size_t *candidate,
	bool *found, struct error *err);

struct explanation {
	struct candidate candidate; /* its bound family belongs to the pool */
	const bool
		*given; /* per parameter: whether the user gave its value; borrowed from the pool */
	struct result result;  /* score, resources, warnings; its time is predicted */
	char *compile_problem; /* why there are no resources, or NULL */
	/* Tensor and copy instructions by kernel, as cubin_instructions() counts them:
	 * {"gemm": "8 HGMMA, 2 UTMALDG"}. A kernel that has none is left out. */
	struct json *instructions;
	struct fact_list facts;
};

/* Explains a candidate of the pool; compiles it if there is a compiler. The pool must outlive
 * the explanation, which the caller releases even after a failure. */
enum status explanation_make(struct context *context, const struct candidates *pool,
	size_t candidate, struct explanation *explanation, struct error *err);
void explanation_release(struct explanation *explanation);

/* The "why" member: all that the row of a tuned file does not contain. */
struct json *explanation_why(const struct explanation *explanation);

#endif
