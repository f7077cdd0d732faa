/* SPDX-License-Identifier: MIT
 *
 * Gradient-boosted regression trees, as a library fitted them: the value of a point is the sum of
 * one leaf of each tree. Pure; fitting is not done here (tests/tools/fit_correction.py).
 *
 *	{"splits": [[feature, threshold, low, high], ...], "leaves": [0.01, ...]}
 *
 * A point goes to `low` where its feature is at most the threshold, else to `high`. A link that is
 * not negative is a split (they come after their parent), ~link of a negative one is a leaf.
 *Without splits a tree is its only leaf.
 */
#ifndef LEARN_BOOSTED_TREES_H
#define LEARN_BOOSTED_TREES_H

#include "base/json.h"

struct tree_split {
	int32_t feature, low, high;
	double threshold;
};

struct boosted_tree {
	struct tree_split *splits;
	double *leaves;
	size_t split_count, leaf_count;
};

struct boosted_trees {
	struct boosted_tree *trees;
	size_t count;
};

/* array: of trees. Refuses features that there are not, links that lead nowhere or back, and
 * values that are not numbers. */
enum status boosted_trees_read(const struct json_at *array, size_t feature_count,
	struct boosted_trees *trees, struct error *err);
void boosted_trees_release(struct boosted_trees *trees);
/* features: as many as were promised when the trees were read. */
double boosted_trees_sum(const struct boosted_trees *trees, const double *features);

#endif
