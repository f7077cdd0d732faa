/* SPDX-License-Identifier: MIT */
#include "score/trees.h"

#include "base/memory.h"

enum {
	LEAF_ZERO = 2048, /* middle of the range that two digits encode */
	QUESTIONS_MAX = 4096,
	INVALID = UINT16_MAX,
};

static const struct record_member feature_members[] = {
	RECORD_VALUE(struct tree_feature, name, "name"),
	RECORD_VALUES(struct tree_feature, thresholds, threshold_count, "thresholds"),
};
static RECORD_DEFINE(struct tree_feature, tree_feature_record, feature_members, .name = "feature");

static const struct record_member question_members[] = {
	RECORD_VALUE(struct question, feature, "feature"),
	RECORD_VALUE(struct question, threshold, "threshold"),
};
static RECORD_DEFINE(struct question, question_record, question_members, .name = "question");

/* Returns the value of a digit (0-9 A-Z a-z - _). */
static unsigned digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return (unsigned)(digit - '0');
	if (digit >= 'A' && digit <= 'Z')
		return (unsigned)(digit - 'A') + 10;
	if (digit >= 'a' && digit <= 'z')
		return (unsigned)(digit - 'a') + 36;
	return digit == '-' ? 62 : digit == '_' ? 63 : INVALID;
}

static uint16_t take_number(const char **at)
{
	const unsigned high = digit_value((*at)[0]);
	const unsigned low = high == INVALID ? INVALID : digit_value((*at)[1]);

	*at += low == INVALID ? 0 : 2;
	return (uint16_t)(low == INVALID ? INVALID : high * 64 + low);
}

/* An invalid tree gets the question INVALID. */
static enum status tree_read(
	const struct json_at *at, void *field, void *context, struct error *err)
{
	struct tree *tree = field;
	const char *text;
	bool is_valid = true;

	(void)context;
	TRY(json_get_string(at, &text, err));
	for (size_t i = 0; i < TREE_DEPTH; i++)
		tree->questions[i] = take_number(&text);
	for (size_t i = 0; i < TREE_LEAVES; i++) {
		const uint16_t number = take_number(&text);

		is_valid &= number != INVALID;
		tree->leaves[i] = (int16_t)(number - LEAF_ZERO);
	}
	if (!is_valid || *text)
		tree->questions[0] = INVALID;
	return STATUS_OK;
}

static const struct record_custom tree_custom = {tree_read, NULL, NULL};

static enum status trees_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	struct trees *trees = value;
	struct json_at texts, text;

	(void)context;
	for (size_t f = 0; f < trees->feature_count; f++)
		trees->question_count += trees->features[f].threshold_count;
	trees->questions = memory_zeroed(trees->question_count + 1, sizeof(*trees->questions));
	if (trees->question_count > QUESTIONS_MAX)
		return json_invalid(at, err, "there are more than %d thresholds", QUESTIONS_MAX);
	for (size_t f = 0, i = 0; f < trees->feature_count; f++)
		for (size_t k = 0; k < trees->features[f].threshold_count; k++)
			trees->questions[i++] = (struct question){
				(uint32_t)f, (double)(float)trees->features[f].thresholds[k]};
	for (size_t i = 0; i < trees->count * TREE_DEPTH; i++) {
		if (trees->items[i / TREE_DEPTH].questions[i % TREE_DEPTH] < trees->question_count)
			continue;
		json_find(at, "trees", &texts);
		text = json_item(&texts, i / TREE_DEPTH);
		return json_error(&text, err,
			"a tree of %d thresholds (numbers below %zu) and %d leaves", TREE_DEPTH,
			trees->question_count, TREE_LEAVES);
	}
	return STATUS_OK;
}

static const struct record_member trees_members[] = {
	RECORD_RECORDS(struct trees, features, feature_count, tree_feature_record, "features"),
	RECORD_VALUE(struct trees, offset, "offset", .low = -16, .high = 16),
	RECORD_VALUE(struct trees, leaf_step, "leaf_step", .low = 0, .high = 1),
	RECORD_CUSTOMS(struct trees, items, count, &tree_custom, "trees"),
	RECORD_RECORDS(struct trees, questions, question_count, question_record, "",
		.flags = RECORD_NOT_JSON),
};
RECORD_DEFINE(struct trees, trees_record, trees_members, .name = "trees", .check = trees_check);

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
	bool answers[QUESTIONS_MAX]; /* answers to all questions, which the trees share */
	int64_t sum = 0;

	for (size_t i = 0; i < trees->question_count; i++)
		answers[i] = (double)features[trees->questions[i].feature] >
			     trees->questions[i].threshold;
	for (size_t i = 0; i < trees->count; i++) {
		const struct tree *tree = &trees->items[i];
		unsigned leaf = 0;

		for (unsigned k = 0; k < TREE_DEPTH; k++)
			leaf |= (unsigned)answers[tree->questions[k]] << k;
		sum += tree->leaves[leaf];
	}
	return trees->offset + trees->leaf_step * (double)sum;
}
