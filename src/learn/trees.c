/* SPDX-License-Identifier: MIT */
#include "learn/trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"

enum {
	ROUNDS = 800, /* at most; few samples need few */
	ROUNDS_MIN = 60,
	SAMPLES_PER_ROUND = 25,
	BINS = 32, /* of a feature */
	SEED = 1,
	SAMPLES_MAX = 32768, /* that one tree sees: enough for a split, and soon counted */
	LEAF_ZERO = 2048,    /* of 4096 that two digits tell apart */
	QUESTIONS_MAX = 4096,
};
static const double RATE = 0.1;                    /* of what a tree finds, so much is believed */
static const double SHRINKAGE = 5;                 /* weight of "no difference" in every leaf */
static const double FEATURES = 0.5, SAMPLES = 0.7; /* that one tree sees, drawn by lot */

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
	RECORD_VALUE(struct tree_feature, name, "name",
		"of a key, a parameter, a constant or a number of the score"),
	RECORD_VALUES(struct tree_feature, thresholds, threshold_count, "thresholds",
		"that trees compare it with"),
};
static RECORD_DEFINE(struct tree_feature, tree_feature_record, feature_members, .name = "feature");

static void put_number(struct text *text, size_t number)
{
	text_append_char(text, digits[number / 64]);
	text_append_char(text, digits[number % 64]);
}

/* SIZE_MAX: no digits. */
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

/* Questions and trees from features and texts. */
static enum status decode(void *value, const struct json_at *at, void *context, struct error *err)
{
	struct trees *trees = value;
	struct json_at texts, text;

	(void)context;
	for (size_t f = 0; f < trees->feature_count; f++)
		trees->question_count += trees->features[f].threshold_count;
	if (trees->question_count > QUESTIONS_MAX)
		return json_error(at, err, "expected at most %d thresholds, found %zu",
			QUESTIONS_MAX, trees->question_count);
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
		json_error(&text, err, "%d thresholds of %zu and %d leaves", TREE_DEPTH,
			trees->question_count, TREE_LEAVES);
		trees_forget(trees);
		return STATUS_BAD_INPUT;
	}
	return STATUS_OK;
}

static const struct record_member trees_members[] = {
	RECORD_RECORDS(struct trees, features, feature_count, tree_feature_record, "features",
		"what trees ask for"),
	RECORD_VALUE(struct trees, offset, "offset", "what trees add to"),
	RECORD_VALUE(struct trees, leaf_step, "leaf_step", "unit of leaves"),
	RECORD_STRINGS(struct trees, texts, "trees",
		"offset and leaves add up to ln(measured / predicted). Each is pairs of digits of "
		"base 64 (0-9, "
		"A-Z, a-z, -, _): numbers of six thresholds, counted through all features, and 64 "
		"leaves in steps from 2048; bit k of a leaf's number: above threshold k"),
};
RECORD_DEFINE(struct trees, trees_record, trees_members, .name = "trees", .check = decode);

void trees_release(struct trees *trees)
{
	trees_forget(trees);
	record_release(&trees_record, trees);
}

/* ---- learning ---- */
/* Of the samples of a leaf. */
struct mass {
	double sum, weight;
};

struct binned {
	double edges[BINS]; /* thresholds between bins; few digits */
	size_t edge_count;
	uint8_t *bins;       /* [sample] */
	size_t number[BINS]; /* [edge]: of the threshold, where a tree asks for it */
	bool drawn;          /* the tree under way may ask for it */
};

struct boosting {
	const struct tree_sample *samples;
	size_t count, feature_count;
	struct random_state random;
	struct binned *features;
	double *rest;  /* wanted - what the trees so far say */
	uint8_t *leaf; /* [sample], as far as the tree under way has grown */
	struct drawn { /* samples that it sees */
		size_t sample;
		struct mass mass;
	} * drawn;
	size_t drawn_count;
	struct grown {
		size_t feature[TREE_DEPTH], edge[TREE_DEPTH];
		double leaves[TREE_LEAVES];
	} trees[ROUNDS];
};

static int compare(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Between two values, in as few digits as possible. */
static double edge_between(float low, float high)
{
	const double middle = (double)low + ((double)high - (double)low) / 2;

	for (int precision = 2; precision < 9; precision++) {
		char text[32];
		double edge;

		snprintf(text, sizeof(text), "%.*g", precision, middle);
		edge = strtod(text, NULL);
		if ((float)edge >= low && (float)edge < high)
			return edge;
	}
	return (double)low;
}

/* Bins with about as many samples each; edges lie between values that occur. */
static void bin_feature(struct boosting *boosting, size_t feature, float *values)
{
	const size_t count = boosting->count;
	struct binned *binned = &boosting->features[feature];
	const size_t most = QUESTIONS_MAX / boosting->feature_count;
	size_t distinct = 1;

	binned->bins = memory_zeroed(count + 1, 1);
	for (size_t s = 0; s < count; s++)
		values[s] = boosting->samples[s].features[feature];
	qsort(values, count, sizeof(*values), compare);
	for (size_t s = 1; s < count; s++)
		distinct += values[s] > values[s - 1];
	for (size_t s = 1; s < count && binned->edge_count < BINS - 1 && binned->edge_count < most;
		s++)
		if (values[s] > values[s - 1] &&
			(distinct <= BINS || s * BINS / count > binned->edge_count))
			binned->edges[binned->edge_count++] =
				edge_between(values[s - 1], values[s]);
	for (size_t s = 0; s < count; s++)
		while (binned->bins[s] < binned->edge_count &&
			boosting->samples[s].features[feature] >
				(float)binned->edges[binned->bins[s]])
			binned->bins[s]++;
}

static void mass_add(struct mass *mass, struct mass more)
{
	mass->sum += more.sum;
	mass->weight += more.weight;
}

static double worth(double sum, double weight)
{
	return sum * sum / (weight + SHRINKAGE);
}

/* The edge of a feature that explains most when every leaf so far is split there. */
static double best_edge(
	const struct boosting *boosting, const struct binned *binned, size_t leaves, size_t *edge)
{
	struct mass histogram[TREE_LEAVES][BINS], low[TREE_LEAVES] = {{0}},
						  all[TREE_LEAVES] = {{0}};
	double best = 0;

	memset(histogram, 0, leaves * sizeof(*histogram));
	for (const struct drawn *drawn = boosting->drawn;
		drawn < boosting->drawn + boosting->drawn_count; drawn++)
		mass_add(&histogram[boosting->leaf[drawn->sample]][binned->bins[drawn->sample]],
			drawn->mass);
	for (size_t leaf = 0; leaf < leaves; leaf++)
		for (size_t bin = 0; bin <= binned->edge_count; bin++)
			mass_add(&all[leaf], histogram[leaf][bin]);
	for (size_t bin = 0; bin < binned->edge_count; bin++) {
		double gain = 0;

		for (size_t leaf = 0; leaf < leaves; leaf++) {
			mass_add(&low[leaf], histogram[leaf][bin]);
			gain += worth(low[leaf].sum, low[leaf].weight) +
				worth(all[leaf].sum - low[leaf].sum,
					all[leaf].weight - low[leaf].weight) -
				worth(all[leaf].sum, all[leaf].weight);
		}
		if (gain > best) {
			best = gain;
			*edge = bin;
		}
	}
	return best;
}

/* One more level, by the question before where none is worth asking; false: not even the first. */
static bool split(struct boosting *boosting, struct grown *tree, size_t level)
{
	const struct binned *binned;
	double best = 0;

	tree->feature[level] = level ? tree->feature[level - 1] : 0;
	tree->edge[level] = level ? tree->edge[level - 1] : 0;
	for (size_t f = 0; f < boosting->feature_count; f++) {
		size_t edge = 0;
		double gain;

		if (!boosting->features[f].drawn)
			continue;
		gain = best_edge(boosting, &boosting->features[f], (size_t)1 << level, &edge);
		if (gain > best) {
			best = gain;
			tree->feature[level] = f;
			tree->edge[level] = edge;
		}
	}
	if (!(best > 0) && !level)
		return false;
	binned = &boosting->features[tree->feature[level]];
	for (size_t s = 0; s < boosting->count; s++)
		if (binned->bins[s] > tree->edge[level])
			boosting->leaf[s] |= (uint8_t)(1 << level);
	return true;
}

/* The mean of what is learned from, which no question tells. */
static double take_offset(struct boosting *boosting)
{
	struct mass all = {0};
	double offset;

	for (size_t s = 0; s < boosting->count; s++) {
		const struct tree_sample *sample = &boosting->samples[s];

		if (sample->used)
			mass_add(&all,
				(struct mass){sample->weight * sample->wanted, sample->weight});
	}
	offset = all.sum / (all.weight + SHRINKAGE);
	for (size_t s = 0; s < boosting->count; s++)
		boosting->rest[s] = boosting->samples[s].wanted - offset;
	return offset;
}

static void draw(struct boosting *boosting)
{
	const double share = fmin(SAMPLES, SAMPLES_MAX / (double)(boosting->count + 1));

	boosting->drawn_count = 0;
	for (size_t f = 0; f < boosting->feature_count; f++)
		boosting->features[f].drawn = random_unit(&boosting->random) < FEATURES &&
					      boosting->features[f].edge_count;
	for (size_t s = 0; s < boosting->count; s++) {
		const struct tree_sample *sample = &boosting->samples[s];

		if (sample->used && random_unit(&boosting->random) < share)
			boosting->drawn[boosting->drawn_count++] = (struct drawn){
				s, {sample->weight * boosting->rest[s], sample->weight}};
	}
}

/* False: the features that were drawn tell nothing. */
static bool grow(struct boosting *boosting, struct grown *tree)
{
	struct mass masses[TREE_LEAVES] = {{0}};

	draw(boosting);
	memset(boosting->leaf, 0, boosting->count);
	for (size_t level = 0; level < TREE_DEPTH; level++)
		if (!split(boosting, tree, level))
			return false;
	for (size_t i = 0; i < boosting->drawn_count; i++)
		mass_add(&masses[boosting->leaf[boosting->drawn[i].sample]],
			boosting->drawn[i].mass);
	for (size_t leaf = 0; leaf < TREE_LEAVES; leaf++)
		tree->leaves[leaf] = RATE * masses[leaf].sum / (masses[leaf].weight + SHRINKAGE);
	for (size_t s = 0; s < boosting->count; s++)
		boosting->rest[s] -= tree->leaves[boosting->leaf[s]];
	return true;
}

/* Of the features that trees ask for, the thresholds; each gets its number. */
static void take_features(
	struct boosting *boosting, size_t count, const char *const *names, struct trees *trees)
{
	size_t question_count = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < TREE_DEPTH; k++)
			boosting->features[boosting->trees[i].feature[k]]
				.number[boosting->trees[i].edge[k]] = 1;
	trees->features = memory_zeroed(boosting->feature_count + 1, sizeof(*trees->features));
	for (size_t f = 0; f < boosting->feature_count; f++) {
		struct binned *binned = &boosting->features[f];
		struct tree_feature feature = {
			.thresholds = memory_zeroed(BINS, sizeof(*feature.thresholds))};

		for (size_t edge = 0; edge < binned->edge_count; edge++)
			if (binned->number[edge]) {
				binned->number[edge] = question_count++;
				feature.thresholds[feature.threshold_count++] = binned->edges[edge];
			}
		if (feature.threshold_count) {
			feature.name = string_copy(names[f]);
			trees->features[trees->feature_count++] = feature;
		} else {
			free(feature.thresholds);
		}
	}
}

static void take_trees(const struct boosting *boosting, size_t count, struct trees *trees)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < TREE_LEAVES; k++)
			trees->leaf_step =
				fmax(trees->leaf_step, fabs(boosting->trees[i].leaves[k]));
	trees->leaf_step /= LEAF_ZERO - 1;
	trees->texts = memory_zeroed(count + 1, sizeof(*trees->texts));
	for (size_t i = 0; i < count; i++) {
		const struct grown *tree = &boosting->trees[i];
		struct text text = {0};

		for (size_t k = 0; k < TREE_DEPTH; k++)
			put_number(
				&text, boosting->features[tree->feature[k]].number[tree->edge[k]]);
		for (size_t k = 0; k < TREE_LEAVES; k++)
			put_number(&text,
				(size_t)(LEAF_ZERO + lrint(tree->leaves[k] / trees->leaf_step)));
		trees->texts[i] = text_detach(&text);
	}
}

void trees_fit(const struct tree_sample *samples, size_t count, const char *const *names,
	struct trees *trees)
{
	CLEANUP(memory_free) struct boosting *boosting = memory_zeroed(1, sizeof(*boosting));
	CLEANUP(memory_free) float *values = memory_zeroed(count + 1, sizeof(*values));
	const size_t rounds = ROUNDS_MIN + count / SAMPLES_PER_ROUND;
	const struct json_at nowhere = {0};
	size_t grown = 0;

	boosting->samples = samples;
	boosting->count = count;
	while (names[boosting->feature_count])
		boosting->feature_count++;
	boosting->features =
		memory_zeroed(boosting->feature_count + 1, sizeof(*boosting->features));
	boosting->rest = memory_zeroed(count + 1, sizeof(*boosting->rest));
	boosting->leaf = memory_zeroed(count + 1, 1);
	boosting->drawn = memory_zeroed(count + 1, sizeof(*boosting->drawn));
	*trees = (struct trees){.offset = take_offset(boosting)};
	random_seed(&boosting->random, SEED);
	for (size_t f = 0; f < boosting->feature_count; f++)
		bin_feature(boosting, f, values);
	for (size_t round = 0; round < rounds && round < ROUNDS; round++)
		grown += grow(boosting, &boosting->trees[grown]);
	take_features(boosting, grown, names, trees);
	take_trees(boosting, grown, trees);
	decode(trees, &nowhere, NULL, NULL);
	for (size_t f = 0; f < boosting->feature_count; f++)
		free(boosting->features[f].bins);
	free(boosting->features);
	free(boosting->rest);
	free(boosting->leaf);
	free(boosting->drawn);
}

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
	bool answers[QUESTIONS_MAX]; /* trees ask many of them again */
	int64_t sum = 0;             /* steps */

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
