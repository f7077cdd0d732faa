/* SPDX-License-Identifier: MIT */
#include "score/trees.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	LEAF_ZERO = 2048, /* the middle of the 4096 values that two digits encode */
	QUESTIONS_MAX = 4096,
};

void trees_forget(struct trees *trees)
{
	free(trees->questions);
	free(trees->items);
	trees->questions = NULL;
	trees->items = NULL;
	trees->count = trees->question_count = 0;
}

/* ---- as JSON ---- */
static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";

static const struct record_member feature_members[] = {
	RECORD_VALUE(struct tree_feature, name, "name"),
	RECORD_VALUES(struct tree_feature, thresholds, threshold_count, "thresholds"),
};
static RECORD_DEFINE(struct tree_feature, tree_feature_record, feature_members, .name = "feature");

/* Returns SIZE_MAX if the digits are invalid. */
static size_t take_number(const char **at)
{
	const char *high = (*at)[0] ? strchr(digits, (*at)[0]) : NULL;
	const char *low = high && (*at)[1] ? strchr(digits, (*at)[1]) : NULL;

	*at += low ? 2 : 0;
	return low ? (size_t)(high - digits) * 64 + (size_t)(low - digits) : SIZE_MAX;
}

static bool tree_decode(const char *text, size_t question_count, struct tree *tree)
{
	for (size_t i = 0; i < TREE_DEPTH; i++) {
		const size_t number = take_number(&text);

		if (number >= question_count)
			return false;
		tree->questions[i] = (uint16_t)number;
	}
	for (size_t i = 0; i < TREE_LEAVES; i++) {
		const size_t number = take_number(&text);

		if (number == SIZE_MAX)
			return false;
		tree->leaves[i] = (int16_t)((int)number - LEAF_ZERO);
	}
	return !*text;
}

static enum status decode(void *value, const struct json_at *at, void *context, struct error *err)
{
	struct trees *trees = value;
	struct json_at texts, text;

	(void)context;
	for (size_t f = 0; f < trees->feature_count; f++)
		trees->question_count += trees->features[f].threshold_count;
	if (trees->question_count > QUESTIONS_MAX)
		return json_invalid(at, err, "there are more than %d thresholds", QUESTIONS_MAX);
	trees->questions = memory_zeroed(trees->question_count + 1, sizeof(*trees->questions));
	for (size_t f = 0, i = 0; f < trees->feature_count; f++)
		for (size_t k = 0; k < trees->features[f].threshold_count; k++)
			trees->questions[i++] = (struct question){
				(uint16_t)f, (float)trees->features[f].thresholds[k]};
	while (trees->texts[trees->count])
		trees->count++;
	trees->items = memory_zeroed(trees->count + 1, sizeof(*trees->items));
	for (size_t i = 0; i < trees->count; i++) {
		if (tree_decode(trees->texts[i], trees->question_count, &trees->items[i]))
			continue;
		json_find(at, "trees", &texts);
		text = json_item(&texts, i);
		json_error(&text, err, "a tree of %d thresholds (numbers below %zu) and %d leaves",
			TREE_DEPTH, trees->question_count, TREE_LEAVES);
		trees_forget(trees);
		return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static const struct record_member trees_members[] = {
	RECORD_RECORDS(struct trees, features, feature_count, tree_feature_record, "features"),
	RECORD_VALUE(struct trees, offset, "offset", .low = -16, .high = 16),
	RECORD_VALUE(struct trees, leaf_step, "leaf_step", .low = 0, .high = 1),
	RECORD_STRINGS(struct trees, texts, "trees"),
};
RECORD_DEFINE(struct trees, trees_record, trees_members, .name = "trees", .check = decode);

/* ---- use ---- */
bool trees_bind(struct trees *trees, const char *const *names)
{
	for (size_t i = 0, f = 0; f < trees->feature_count; f++) {
		const int at = name_find(trees->features[f].name, names);

		if (at < 0)
			return false;
		for (size_t k = 0; k < trees->features[f].threshold_count; k++)
			trees->questions[i++].feature = (uint16_t)at;
	}
	return true;
}

double trees_sum(const struct trees *trees, const float *features)
{
	bool answers[QUESTIONS_MAX]; /* trees share questions, so each is answered once */
	int64_t sum = 0;

	for (size_t i = 0; i < trees->question_count; i++)
		answers[i] = features[trees->questions[i].feature] > trees->questions[i].threshold;
	for (size_t i = 0; i < trees->count; i++) {
		const struct tree *tree = &trees->items[i];
		unsigned leaf = 0;

		for (unsigned k = 0; k < TREE_DEPTH; k++)
			leaf |= (unsigned)answers[tree->questions[k]] << k;
		sum += tree->leaves[leaf];
	}
	return trees->offset + trees->leaf_step * (double)sum;
}
