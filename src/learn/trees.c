/* SPDX-License-Identifier: MIT */
#include "learn/trees.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"

enum {
	ROUNDS = 400, /* at most; few samples need few */
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

struct boosting {
	const struct tree_samples *samples;
	struct random_state random;
	double (*edges)[BINS];      /* [feature]: thresholds between bins; few digits */
	size_t *edge_count;         /* [feature] */
	uint8_t *bins;              /* feature f of sample s at f * count + s */
	double *rest;               /* wanted - what the trees so far say */
	uint8_t *leaf;              /* [sample], as far as the tree under way has grown */
	size_t *drawn, drawn_count; /* samples that it sees */
	struct mass *masses;        /* of these */
	bool *sees;                 /* [feature] */
	/* the tree under way, then all */
	struct {
		size_t feature, edge;
	} questions[ROUNDS][TREE_DEPTH];
	double leaves[ROUNDS][TREE_LEAVES];
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
	const struct tree_samples *samples = boosting->samples;
	const size_t count = samples->count;
	double *edges = boosting->edges[feature];
	size_t edge_count = 0, distinct = 1;

	for (size_t s = 0; s < count; s++)
		values[s] = samples->features[s * samples->feature_count + feature];
	qsort(values, count, sizeof(*values), compare);
	for (size_t s = 1; s < count; s++)
		distinct += values[s] > values[s - 1];
	for (size_t s = 1; s < count && edge_count < BINS - 1; s++)
		if (values[s] > values[s - 1] &&
			(distinct <= BINS || s * BINS / count > edge_count))
			edges[edge_count++] = edge_between(values[s - 1], values[s]);
	boosting->edge_count[feature] = edge_count;
	for (size_t s = 0; s < count; s++) {
		const float value = samples->features[s * samples->feature_count + feature];
		uint8_t bin = 0;

		while (bin < edge_count && value > (float)edges[bin])
			bin++;
		boosting->bins[feature * count + s] = bin;
	}
}

static void mass_add(struct mass *mass, double sum, double weight)
{
	mass->sum += sum;
	mass->weight += weight;
}

static double worth(double sum, double weight)
{
	return sum * sum / (weight + SHRINKAGE);
}

/* The edge of a feature that explains most when every leaf so far is split there. */
static double best_edge(
	const struct boosting *boosting, size_t feature, size_t leaves, size_t *edge)
{
	const struct tree_samples *samples = boosting->samples;
	const uint8_t *bins = boosting->bins + feature * samples->count;
	struct mass histogram[TREE_LEAVES][BINS], low[TREE_LEAVES] = {{0}},
						  all[TREE_LEAVES] = {{0}};
	double best = 0;

	memset(histogram, 0, leaves * sizeof(*histogram));
	for (size_t i = 0; i < boosting->drawn_count; i++) {
		const size_t s = boosting->drawn[i];

		mass_add(&histogram[boosting->leaf[s]][bins[s]], boosting->masses[i].sum,
			boosting->masses[i].weight);
	}
	for (size_t leaf = 0; leaf < leaves; leaf++)
		for (size_t bin = 0; bin <= boosting->edge_count[feature]; bin++)
			mass_add(&all[leaf], histogram[leaf][bin].sum, histogram[leaf][bin].weight);
	for (size_t bin = 0; bin < boosting->edge_count[feature]; bin++) {
		double gain = 0;

		for (size_t leaf = 0; leaf < leaves; leaf++) {
			mass_add(&low[leaf], histogram[leaf][bin].sum, histogram[leaf][bin].weight);
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

/* One more level; false: nothing is worth asking at all. */
static bool split(struct boosting *boosting, size_t round, size_t level)
{
	const size_t count = boosting->samples->count;
	size_t feature = 0, edge = 0;
	double best = 0;

	for (size_t f = 0; f < boosting->samples->feature_count; f++) {
		size_t its = 0;
		const double gain = boosting->sees[f] && boosting->edge_count[f]
					    ? best_edge(boosting, f, (size_t)1 << level, &its)
					    : 0;

		if (gain > best) {
			best = gain;
			feature = f;
			edge = its;
		}
	}
	if (!(best > 0) && !level)
		return false;
	if (!(best > 0)) { /* the one before, again */
		feature = boosting->questions[round][level - 1].feature;
		edge = boosting->questions[round][level - 1].edge;
	}
	boosting->questions[round][level].feature = feature;
	boosting->questions[round][level].edge = edge;
	for (size_t s = 0; s < count; s++)
		if (boosting->bins[feature * count + s] > edge)
			boosting->leaf[s] |= (uint8_t)(1 << level);
	return true;
}

/* The mean of what is learned from, which no question tells. */
static double take_offset(struct boosting *boosting)
{
	const struct tree_samples *samples = boosting->samples;
	struct mass all = {0};
	double offset;

	for (size_t s = 0; s < samples->count; s++)
		if (samples->used[s])
			mass_add(&all, samples->weights[s] * samples->wanted[s],
				samples->weights[s]);
	offset = all.sum / (all.weight + SHRINKAGE);
	for (size_t s = 0; s < samples->count; s++)
		boosting->rest[s] -= offset;
	return offset;
}

static void draw(struct boosting *boosting)
{
	const struct tree_samples *samples = boosting->samples;
	const double share = fmin(SAMPLES, SAMPLES_MAX / (double)(samples->count + 1));

	boosting->drawn_count = 0;
	for (size_t f = 0; f < samples->feature_count; f++)
		boosting->sees[f] = random_unit(&boosting->random) < FEATURES;
	for (size_t s = 0; s < samples->count; s++)
		if (samples->used[s] && random_unit(&boosting->random) < share) {
			boosting->masses[boosting->drawn_count] = (struct mass){
				samples->weights[s] * boosting->rest[s], samples->weights[s]};
			boosting->drawn[boosting->drawn_count++] = s;
		}
}

/* False: the features that were drawn tell nothing. */
static bool grow(struct boosting *boosting, size_t round)
{
	const struct tree_samples *samples = boosting->samples;
	struct mass masses[TREE_LEAVES] = {{0}};
	double *leaves = boosting->leaves[round];

	draw(boosting);
	memset(boosting->leaf, 0, samples->count);
	for (size_t level = 0; level < TREE_DEPTH; level++)
		if (!split(boosting, round, level))
			return false;
	for (size_t i = 0; i < boosting->drawn_count; i++)
		mass_add(&masses[boosting->leaf[boosting->drawn[i]]], boosting->masses[i].sum,
			boosting->masses[i].weight);
	for (size_t leaf = 0; leaf < TREE_LEAVES; leaf++)
		leaves[leaf] = RATE * masses[leaf].sum / (masses[leaf].weight + SHRINKAGE);
	for (size_t s = 0; s < samples->count; s++)
		boosting->rest[s] -= leaves[boosting->leaf[s]];
	return true;
}

/* Features and texts of the first `count` trees. */
static void take(const struct boosting *boosting, size_t count, struct trees *trees)
{
	const struct tree_samples *samples = boosting->samples;
	size_t(*number)[BINS] = memory_zeroed(samples->feature_count + 1, sizeof(*number));
	size_t question_count = 0;

	for (size_t i = 0; i < count * TREE_DEPTH; i++)
		number[boosting->questions[0][i].feature][boosting->questions[0][i].edge] = 1;
	trees->features = memory_zeroed(samples->feature_count + 1, sizeof(*trees->features));
	for (size_t f = 0; f < samples->feature_count; f++) {
		struct tree_feature *feature = &trees->features[trees->feature_count];

		feature->thresholds = memory_zeroed(BINS, sizeof(*feature->thresholds));
		for (size_t edge = 0; edge < boosting->edge_count[f]; edge++) {
			if (!number[f][edge])
				continue;
			number[f][edge] = question_count++;
			feature->thresholds[feature->threshold_count++] = boosting->edges[f][edge];
		}
		if (feature->threshold_count) {
			feature->name = string_copy(samples->names[f]);
			trees->feature_count++;
		} else {
			free(feature->thresholds);
			feature->thresholds = NULL;
		}
	}
	for (size_t i = 0; i < count * TREE_LEAVES; i++)
		trees->leaf_step = fmax(trees->leaf_step, fabs(boosting->leaves[0][i]));
	trees->leaf_step /= LEAF_ZERO - 1;
	trees->texts = memory_zeroed(count + 1, sizeof(*trees->texts));
	for (size_t i = 0; i < count; i++) {
		struct text text = {0};

		for (size_t k = 0; k < TREE_DEPTH; k++)
			put_number(&text, number[boosting->questions[i][k].feature]
						[boosting->questions[i][k].edge]);
		for (size_t k = 0; k < TREE_LEAVES; k++)
			put_number(&text, (size_t)(LEAF_ZERO + lrint(boosting->leaves[i][k] /
								       trees->leaf_step)));
		trees->texts[i] = text_detach(&text);
	}
	free(number);
}

void trees_fit(const struct tree_samples *samples, struct trees *trees)
{
	const size_t count = samples->count, features = samples->feature_count;
	CLEANUP(memory_free) struct boosting *boosting = memory_zeroed(1, sizeof(*boosting));
	CLEANUP(memory_free) float *values = memory_zeroed(count + 1, sizeof(*values));
	const struct json_at nowhere = {0};
	size_t grown = 0;

	boosting->samples = samples;
	boosting->edges = memory_zeroed(features + 1, sizeof(*boosting->edges));
	boosting->edge_count = memory_zeroed(features + 1, sizeof(*boosting->edge_count));
	boosting->bins = memory_zeroed(features * count + 1, 1);
	boosting->rest = memory_copy(samples->wanted, count * sizeof(*boosting->rest));
	boosting->leaf = memory_zeroed(count + 1, 1);
	boosting->drawn = memory_zeroed(count + 1, sizeof(*boosting->drawn));
	boosting->masses = memory_zeroed(count + 1, sizeof(*boosting->masses));
	boosting->sees = memory_zeroed(features + 1, sizeof(*boosting->sees));
	*trees = (struct trees){.offset = take_offset(boosting)};
	random_seed(&boosting->random, SEED);
	for (size_t f = 0; f < features; f++)
		bin_feature(boosting, f, values);
	for (size_t round = 0; round < ROUNDS && round < ROUNDS_MIN + count / SAMPLES_PER_ROUND;
		round++)
		grown += grow(boosting, grown);
	take(boosting, grown, trees);
	decode(trees, &nowhere, NULL, NULL);
	free(boosting->edges);
	free(boosting->edge_count);
	free(boosting->bins);
	free(boosting->rest);
	free(boosting->leaf);
	free(boosting->drawn);
	free(boosting->masses);
	free(boosting->sees);
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
	int sum = 0;                 /* steps */

	for (size_t i = 0; i < trees->question_count; i++)
		answers[i] = features[trees->questions[i].feature] > trees->questions[i].threshold;
	for (size_t i = 0; i < trees->count; i++) {
		const struct tree *tree = &trees->items[i];
		unsigned leaf = 0;

		for (unsigned k = 0; k < TREE_DEPTH; k++)
			leaf |= (unsigned)answers[tree->questions[k]] << k;
		sum += tree->leaves[leaf];
	}
	return trees->offset + trees->leaf_step * sum;
}
