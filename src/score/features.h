/* SPDX-License-Identifier: MIT
 *
 * Features of a candidate for the trees: keys, parameters, constants, and the score of the longest
 * launch.
 */
#ifndef SCORE_FEATURES_H
#define SCORE_FEATURES_H

#include "family/family.h"
#include "score/score.h"

/* Returns the names in the order of the values. The caller releases them. */
struct name_set features_names(const struct family *family);
/* `values` include constants. `score` must be computed with estimated resources. */
void features_values(const struct family *family, const struct value *values,
	const struct score *score, float *features);

#endif
