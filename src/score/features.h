/* SPDX-License-Identifier: MIT
 *
 * Features of a candidate for the trees: the problem's keys, the family's parameters and
 * constants, and the score of its longest launch. The features are the same for every operation,
 * and a new number of the score automatically becomes one.
 */
#ifndef SCORE_FEATURES_H
#define SCORE_FEATURES_H

#include "family/family.h"
#include "score/score.h"

/* Returns the names in the order of the values; the caller releases them. */
struct name_set features_names(const struct family *family);
/* values belong to a legal configuration and include constants. score uses estimated resources. */
void features_values(const struct family *family, const struct value *values,
	const struct score *score, float *features);

#endif
