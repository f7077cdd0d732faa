/* SPDX-License-Identifier: MIT
 *
 * A candidate as numbers that trees ask for: the problem's keys, the family's parameters and
 * constants, the score of its longest launch. The same for every operation; a new number of the
 * score is a feature without more.
 */
#ifndef SCORE_FEATURES_H
#define SCORE_FEATURES_H

#include "family/family.h"
#include "score/score.h"

/* In the order of the values; caller releases. */
struct name_set features_names(const struct family *family);
/* values: of a legal configuration, constants included; score: with resources estimated. */
void features_values(const struct family *family, const struct value *values,
	const struct score *score, float *features);

#endif
