/* SPDX-License-Identifier: MIT
 *
 * From a partial configuration ("BM=256,BN=128") to a whole one: the model's best legal completion.
 * Parameters that change the number of independent units (SPLIT_K) keep their default where that
 * is legal: asked for a tile shape, nobody expects the tile count of another decomposition.
 */
#ifndef ENGINE_COMPLETE_H
#define ENGINE_COMPLETE_H

#include "candidate/candidate.h"

struct completion {
	struct candidate candidate;           /* bound is borrowed */
	bool filled_in[SPACE_PARAMETERS_MAX]; /* per parameter: not given */
	size_t legal;                         /* how many completions were legal */
};

/* text: "" for none given. *found is false if no legal configuration agrees with text (why, may be
 * NULL, says so). Errors: an unknown parameter, a value that is not in its list. */
enum status completion_find(struct bound_family *bound, const char *text, bool *found,
	struct completion *completion, struct text *why, struct error *err);

#endif
