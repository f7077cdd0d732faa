/* SPDX-License-Identifier: MIT
 *
 * Boosted oblivious trees: the sum of an offset and one leaf of each tree. All nodes of a level ask
 * the same question. src/python/tiletune/learn.py fits them.
 */
#ifndef SCORE_TREES_H
#define SCORE_TREES_H

#include <stdbool.h>

#include "record/record.h"

enum {
	TREE_DEPTH = 6,
	TREE_LEAVES = 1 << TREE_DEPTH
};

struct tree_feature {
	char *name;
	double *thresholds; /* thresholds used by the trees, ascending */
	size_t threshold_count;
};

struct question {
	uint32_t feature;
	double threshold; /* rounded to a float, as features are; the question is feature >
			     threshold */
};

struct tree {
	uint16_t questions[TREE_DEPTH];
	int16_t leaves[TREE_LEAVES]; /* values in units of leaf_step; bit k of the index is the
					answer to question k */
};

struct trees {
	struct tree_feature *features;
	size_t feature_count;
	double offset, leaf_step;
	struct tree *items;
	size_t count;
	struct question *questions; /* all thresholds of all features */
	size_t question_count;
};
RECORD_DECLARE(struct trees, trees_record);

/* `names` are the features of trees_sum(). Returns false if a used one is missing. */
bool trees_bind(struct trees *trees, const char *const *names);
double trees_sum(const struct trees *trees, const float *features);

#endif
