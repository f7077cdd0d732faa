/* SPDX-License-Identifier: MIT */
#include "learn/boosted_trees.h"

#include <stdlib.h>

#include "base/memory.h"

/* A split after its parent, or a leaf. */
static enum status read_link(const struct json_at *split, size_t place, size_t own,
	const struct boosted_tree *tree, int32_t *link, struct error *err)
{
	const struct json_at at = json_item(split, place);
	int64_t value;

	if (json_get_int(&at, &value, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (value < 0 ? ~value >= (int64_t)tree->leaf_count
		      : value <= (int64_t)own || value >= (int64_t)tree->split_count)
		return json_error(
			&at, err, "a later split, or ~ of one of %zu leaves", tree->leaf_count);
	*link = (int32_t)value;
	return STATUS_OK;
}

static enum status read_split(const struct json_at *at, size_t own, size_t feature_count,
	const struct boosted_tree *tree, struct tree_split *split, struct error *err)
{
	enum {
		FEATURE,
		THRESHOLD,
		LOW,
		HIGH,
		PARTS
	};
	struct json_at feature, threshold;
	int64_t index;

	if (json_count(at) != PARTS)
		return json_error(at, err, "[feature, threshold, low, high]");
	feature = json_item(at, FEATURE);
	threshold = json_item(at, THRESHOLD);
	if (json_get_int(&feature, &index, err) != STATUS_OK ||
		json_get_double(&threshold, &split->threshold, err) != STATUS_OK ||
		read_link(at, LOW, own, tree, &split->low, err) != STATUS_OK ||
		read_link(at, HIGH, own, tree, &split->high, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	if (index < 0 || index >= (int64_t)feature_count)
		return json_error(&feature, err, "one of %zu features", feature_count);
	split->feature = (int32_t)index;
	return STATUS_OK;
}

static enum status read_tree(const struct json_at *at, size_t feature_count,
	struct boosted_tree *tree, struct error *err)
{
	static const char *const keys[] = {"splits", "leaves", NULL};
	struct json_at splits, leaves;
	enum status status = json_expect_keys(at, keys, err);

	if (status != STATUS_OK || json_member(at, "splits", &splits, err) != STATUS_OK ||
		json_member(at, "leaves", &leaves, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	tree->split_count = json_count(&splits);
	tree->leaf_count = json_count(&leaves);
	if (tree->leaf_count != tree->split_count + 1)
		return json_error(
			&leaves, err, "a leaf more than splits, %zu", tree->split_count + 1);
	tree->splits = memory_zeroed(tree->split_count + 1, sizeof(*tree->splits));
	tree->leaves = memory_zeroed(tree->leaf_count, sizeof(*tree->leaves));
	for (size_t i = 0; i < tree->split_count && status == STATUS_OK; i++) {
		const struct json_at split = json_item(&splits, i);

		status = read_split(&split, i, feature_count, tree, &tree->splits[i], err);
	}
	for (size_t i = 0; i < tree->leaf_count && status == STATUS_OK; i++) {
		const struct json_at leaf = json_item(&leaves, i);

		status = json_get_double(&leaf, &tree->leaves[i], err);
	}
	return status;
}

enum status boosted_trees_read(const struct json_at *array, size_t feature_count,
	struct boosted_trees *trees, struct error *err)
{
	enum status status = json_expect(array, JSON_ARRAY, err);

	*trees = (struct boosted_trees){0};
	if (status != STATUS_OK)
		return status;
	trees->count = json_count(array);
	trees->trees = memory_zeroed(trees->count + 1, sizeof(*trees->trees));
	for (size_t i = 0; i < trees->count && status == STATUS_OK; i++) {
		const struct json_at tree = json_item(array, i);

		status = read_tree(&tree, feature_count, &trees->trees[i], err);
	}
	if (status != STATUS_OK)
		boosted_trees_release(trees);
	return status;
}

void boosted_trees_release(struct boosted_trees *trees)
{
	for (size_t i = 0; i < trees->count; i++) {
		free(trees->trees[i].splits);
		free(trees->trees[i].leaves);
	}
	free(trees->trees);
	*trees = (struct boosted_trees){0};
}

double boosted_trees_sum(const struct boosted_trees *trees, const double *features)
{
	double sum = 0;

	for (size_t i = 0; i < trees->count; i++) {
		const struct boosted_tree *tree = &trees->trees[i];
		int32_t at = tree->split_count ? 0 : ~0;

		while (at >= 0) {
			const struct tree_split *split = &tree->splits[at];

			at = features[split->feature] <= split->threshold ? split->low
									  : split->high;
		}
		sum += tree->leaves[~at];
	}
	return sum;
}
