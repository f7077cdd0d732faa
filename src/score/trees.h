/* SPDX-License-Identifier: MIT
 *
 * Gradient-boosted regression trees: the value of a point is an offset and the sum of one leaf of
 * each tree. Trees are oblivious: all nodes of a level ask the same question, so that a tree is a
 * few questions and a table of leaves, which is small as text and quick to evaluate.
 * They are fitted elsewhere (src/python/tiletune/learn.py).
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
	double *thresholds; /* that trees ask for, in ascending order */
	size_t threshold_count;
};

struct question {
	uint16_t feature;
	float threshold; /* above it? */
};

struct tree {
	uint16_t questions[TREE_DEPTH];
	int16_t leaves[TREE_LEAVES]; /* in steps; bit k of the index: question k is answered with
					yes */
};

struct trees {
	struct tree_feature *features;
	size_t feature_count;
	double offset, leaf_step;
	char **texts; /* the trees as JSON has them, NULL-terminated */
	/* what follows from these */
	struct question *questions;
	struct tree *items;
	size_t count, question_count;
};
RECORD_DECLARE(struct trees, trees_record);
void trees_forget(struct trees *trees); /* what follows */

/* names: of the features that trees_sum() is given, NULL-terminated. False: one of the trees' is
 * not among them. */
bool trees_bind(struct trees *trees, const char *const *names);
double trees_sum(const struct trees *trees, const float *features);

#endif
