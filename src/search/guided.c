/* SPDX-License-Identifier: MIT
 *
 * Strategy `guided`, the default of quick tuning: Bayesian optimization on top of the model.
 *
 * First come the model's own seeds: its shortlist (order.h), and two of each family; where nothing
 * is predicted, candidates drawn by lot. Then each question goes to the candidate whose speed, as
 * far as is known, promises the largest improvement of the best on average, times the chance that
 * it works. Source: D. Jones, M. Schonlau, W. Welch, "Efficient Global Optimization of Expensive
 * Black-Box Functions" (1998).
 *
 * What is known of a candidate: its predicted speed, corrected by a Gaussian process over measured
 * - predicted speed; how alike candidates are is learned while it goes (covariance.h). Speeds are
 * relative: to the best measured, and to the best predicted times the share of it that was measured
 * so far. A speed tells candidates near the best from each other and hardly those that are far from
 * it, which is what a search needs; a time would do the reverse, and its logarithm treats both
 * alike.
 *
 * A space may be too large to look at for each question. Watched are the best by prediction (of
 * all, of each family, with each value of each parameter), then the neighbours of what is near the
 * best measured, and what looks promising in a part of the rest that is drawn every now and then.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/covariance.h"
#include "search/gaussian.h"
#include "search/order.h"
#include "search/questions.h"

/* Sizes: so that a question costs two or three milliseconds, and the memory stays under 10 MB. */
enum {
	SEEDS = 8,
	SEEDS_OF_FAMILY = 2,
	IN_TRIAL_MAX = 64,
	NEIGHBOURS_MAX = 64,
	LEARN_FIRST = 10, /* results; then after each third more */
	ROWS_MAX = 512,
	SLOTS_MAX = 4096,
	FIRST_OF_ALL = 2048,
	FIRST_OF_FAMILY = 192,
	FIRST_OF_VALUE = 4,
	FIRST_AT_RANDOM = 256,
	REFRESH_EVERY = 32, /* results */
	REFRESH_COUNT = 256,
	LOOKED_AT_MAX = 4096, /* of those that are not watched */
	NO_ROW = UINT32_MAX,
};
/* Slower than the best by this factor: its neighbours are not watched. */
static const double NEAR_BEST = 1.1;

struct guided {
	struct questions questions;
	struct covariance covariance;
	struct gaussian gaussian;
	bool *watched;    /* per candidate */
	uint32_t *row_of; /* per candidate */
	double *times_us; /* [row]: NAN: under way; infinite: failed */
	double best_us;   /* measured */
	double best_predicted_us;
	double share;      /* measured / predicted speed, over all that are known */
	bool changed;      /* since the last update */
	size_t seed_count; /* first of the order */
	size_t told_count, learn_next;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* ---- what is watched ---- */
static void watch(struct guided *guided, size_t slot, size_t candidate)
{
	if (slot < guided->gaussian.slot_count)
		guided->watched[guided->gaussian.slot_points[slot]] = false;
	gaussian_watch(&guided->gaussian, slot, candidate);
	guided->watched[candidate] = true;
}

/* Watches a candidate if there is room, or a slot that was asked. */
static bool join(struct guided *guided, size_t candidate)
{
	const struct gaussian *gaussian = &guided->gaussian;
	size_t slot = gaussian->slot_count;

	if (guided->watched[candidate])
		return true;
	if (slot == gaussian->slot_max)
		for (slot = 0; slot < gaussian->slot_max &&
			       !guided->questions.asked[gaussian->slot_points[slot]];
			slot++)
			;
	if (slot < gaussian->slot_max)
		watch(guided, slot, candidate);
	return slot < gaussian->slot_max;
}

/* The first of all, of each family, with each value of each parameter; some at random. */
static void join_first(struct guided *guided)
{
	struct questions *questions = &guided->questions;
	const struct search_view *view = questions->view;
	struct seen {
		size_t all;
		unsigned char value[SPACE_PARAMETERS_MAX][256];
	} *seen = memory_zeroed(view->family_count + 1, sizeof(*seen));

	for (size_t i = 0; i < questions->order_count; i++) {
		const size_t candidate = questions->order[i], f = view->family[candidate];
		const struct search_family *family = &view->families[f];
		const choice *x = search_view_configuration(view, candidate);
		bool wanted = i < FIRST_OF_ALL || seen[f].all++ < FIRST_OF_FAMILY;

		for (size_t p = 0; p < family->parameter_count; p++)
			if (x[p] < 256 && seen[f].value[p][x[p]] < FIRST_OF_VALUE) {
				seen[f].value[p][x[p]]++;
				wanted = true;
			}
		if (wanted)
			join(guided, candidate);
	}
	free(seen);
	for (size_t i = 0; i < FIRST_AT_RANDOM && questions->order_count > 0; i++)
		join(guided,
			questions->order[random_below(&questions->random, questions->order_count)]);
}

static void join_neighbours(struct guided *guided, size_t candidate)
{
	size_t neighbours[NEIGHBOURS_MAX];
	const size_t count = neighbourhood_list(
		&guided->questions.neighbourhood, candidate, neighbours, NEIGHBOURS_MAX);

	for (size_t i = 0; i < count; i++)
		if (!guided->questions.asked[neighbours[i]])
			join(guided, neighbours[i]);
}

/* Predicted speed of a candidate; the best measured is 1. */
static double predicted_speed(const struct guided *guided, size_t candidate)
{
	return guided->share * guided->best_predicted_us /
	       guided->questions.view->predicted_us[candidate];
}

/* Watches candidates in place of the least promising. */
static void replace(struct guided *guided, const size_t *candidates, size_t count)
{
	const struct gaussian *gaussian = &guided->gaussian;
	CLEANUP(memory_free)
	double *keys = memory_zeroed(gaussian->slot_count + 1, sizeof(*keys));
	CLEANUP(memory_free)
	size_t *slots = memory_zeroed(gaussian->slot_count + 1, sizeof(*slots));

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		slots[slot] = slot;
		keys[slot] = predicted_speed(guided, gaussian->slot_points[slot]) +
			     (double)gaussian->values.means[slot];
	}
	order_smallest(slots, gaussian->slot_count, keys, count);
	for (size_t i = 0; i < smaller(count, gaussian->slot_count); i++)
		watch(guided, slots[i], candidates[i]);
}

/* Looks over the rest of the space, or so much of it as is quick, for what is promising. After
 * update(). */
static void refresh(struct guided *guided)
{
	const struct gaussian *gaussian = &guided->gaussian;
	struct questions *questions = &guided->questions;
	CLEANUP(memory_free) double *keys = NULL;
	CLEANUP(memory_free) size_t *found = NULL;
	size_t count = 0, joined = 0;

	if (gaussian->slot_count >= questions->order_count || gaussian->row_count == 0)
		return; /* everything is watched */
	keys = memory_zeroed(questions->view->count, sizeof(*keys));
	found = memory_zeroed(LOOKED_AT_MAX, sizeof(*found));
	for (size_t i = 0; i < LOOKED_AT_MAX; i++) {
		const double drawn = random_unit(&questions->random); /* early ones more often */
		const size_t candidate =
			questions->order[(size_t)(drawn * drawn * (double)questions->order_count)];

		if (questions->asked[candidate] || guided->watched[candidate] ||
			keys[candidate] != 0)
			continue;
		keys[candidate] =
			-predicted_speed(guided, candidate) - gaussian_expect(gaussian, candidate);
		found[count++] = candidate;
	}
	order_smallest(found, count, keys, REFRESH_COUNT);
	count = smaller(count, REFRESH_COUNT);
	while (joined < count && join(guided, found[joined]))
		joined++;
	replace(guided, found + joined, count - joined);
}

/* ---- what is known ---- */
static void add_row(struct guided *guided, size_t candidate)
{
	if (guided->gaussian.row_count < guided->gaussian.row_max) {
		const size_t row = gaussian_add(&guided->gaussian, candidate);

		guided->row_of[candidate] = (uint32_t)row;
		guided->times_us[row] = NAN;
	}
}

/* The share, by least squares; returns the mean of the measured speeds. */
static double survey(struct guided *guided)
{
	double both = 0, square = 0, sum = 0, count = 0;

	guided->share = 1;
	for (size_t r = 0; r < guided->gaussian.row_count; r++) {
		const double speed = guided->best_us / guided->times_us[r];
		const double predicted = predicted_speed(guided, guided->gaussian.row_points[r]);

		if (!isfinite(guided->times_us[r]))
			continue;
		both += speed * predicted;
		square += predicted * predicted;
		sum += speed;
		count++;
	}
	guided->share = square > 0 ? both / square : 1;
	return count > 0 ? sum / count : 1;
}

static void update(struct guided *guided)
{
	struct gaussian *gaussian = &guided->gaussian;
	double mean;

	if (!guided->changed)
		return;
	guided->changed = false;
	mean = survey(guided);
	for (size_t r = 0; r < gaussian->row_count; r++) {
		const bool works = !isinf(guided->times_us[r]);
		/* a failure says nothing about speed: it is kept out of the way by the chance that
		 * its like work */
		const double speed = works ? guided->best_us / guided->times_us[r] : mean;

		if (!isnan(guided->times_us[r]))
			gaussian_set(gaussian, r,
				speed - predicted_speed(guided, gaussian->row_points[r]), works);
	}
	gaussian_update(gaussian);
}

/* Learns how the errors of candidates hang together. */
static void learn(struct guided *guided)
{
	struct gaussian *gaussian = &guided->gaussian;

	update(guided);
	covariance_fit(&guided->covariance, gaussian->row_points, gaussian->values.of_rows,
		gaussian->row_count, &guided->questions.random);
	gaussian->noise = covariance_noise(&guided->covariance);
	gaussian_renew(gaussian);
	gaussian_update(gaussian);
}

/* log of the mean of max(0, x), x normally distributed: mean `gain`, standard deviation. */
static double log_improvement(double gain, double deviation)
{
	const double u = gain / deviation;
	const double log_density = -u * u / 2 - log(2 * M_PI) / 2;

	if (u < -10) /* far out both terms cancel: the first of the series that is left */
		return log(deviation) + log_density - 2 * log(-u);
	return log(deviation) + log(u * erfc(-u / M_SQRT2) / 2 + exp(log_density));
}

/* The best of what is watched and was not asked; false if there is none. */
static bool promising(const struct guided *guided, size_t *candidate)
{
	const struct gaussian *gaussian = &guided->gaussian;
	double best = -INFINITY;

	for (size_t slot = 0; slot < gaussian->slot_count; slot++) {
		const size_t point = gaussian->slot_points[slot];
		const double deviation =
			gaussian->scale * sqrt(fmax(1e-12, (double)gaussian->variances[slot]));
		const double gain =
			predicted_speed(guided, point) + (double)gaussian->values.means[slot] - 1;
		double promise;

		if (guided->questions.asked[point])
			continue;
		promise = log_improvement(gain, deviation) + log(gaussian_chance(gaussian, slot));
		if (promise > best) {
			best = promise;
			*candidate = point;
		}
	}
	return isfinite(best);
}

/* ---- the strategy ---- */
/* Brings the seeds to the front of the order. */
static void seeds_choose(struct guided *guided)
{
	const struct questions *questions = &guided->questions;
	const struct search_view *view = questions->view;
	size_t *order = questions->order, *count;

	count = memory_zeroed(view->family_count + 1, sizeof(*count));
	guided->seed_count = shortlist_choose(view, order, questions->order_count, SEEDS);
	for (size_t i = 0; i < questions->order_count; i++) {
		const size_t candidate = order[i];

		if (count[view->family[candidate]]++ >= SEEDS_OF_FAMILY || i < guided->seed_count)
			continue;
		memmove(&order[guided->seed_count + 1], &order[guided->seed_count],
			(i - guided->seed_count) * sizeof(*order));
		order[guided->seed_count++] = candidate;
	}
	free(count);
}

static void *guided_open(const struct search_view *view)
{
	struct guided *guided = memory_zeroed(1, sizeof(*guided));
	struct questions *questions = &guided->questions;

	*guided = (struct guided){.best_us = INFINITY, .share = 1, .learn_next = LEARN_FIRST};
	questions_init(questions, view);
	if (questions->order_count > 0)
		guided->best_predicted_us = view->predicted_us[questions->order[0]];
	covariance_init(&guided->covariance, &questions->neighbourhood);
	guided->watched = memory_zeroed(view->count + 1, sizeof(*guided->watched));
	guided->row_of = memory_zeroed(view->count + 1, sizeof(*guided->row_of));
	for (size_t i = 0; i < view->count; i++)
		guided->row_of[i] = NO_ROW;
	gaussian_init(&guided->gaussian,
		smaller(smaller(ROWS_MAX, view->budget), questions->order_count),
		smaller(SLOTS_MAX, questions->order_count), covariance_noise(&guided->covariance),
		covariance_between, &guided->covariance);
	guided->times_us = memory_zeroed(guided->gaussian.row_max + 1, sizeof(double));
	join_first(guided);
	seeds_choose(guided);
	return guided;
}

static void guided_close(void *state)
{
	struct guided *guided = state;

	gaussian_release(&guided->gaussian);
	covariance_release(&guided->covariance);
	free(guided->watched);
	free(guided->row_of);
	free(guided->times_us);
	questions_close(guided);
}

static enum ask_result guided_ask(void *state, size_t *candidate)
{
	struct guided *guided = state;
	struct questions *questions = &guided->questions;

	if (questions_done(questions))
		return ASK_DONE;
	if (questions->open >= IN_TRIAL_MAX)
		return ASK_WAIT;
	update(guided);
	if ((questions->order_next >= guided->seed_count ||
		    !questions_next(questions, candidate)) &&
		!promising(guided, candidate) && !questions_next(questions, candidate))
		return ASK_DONE;
	add_row(guided, *candidate);
	return questions_ask(questions, *candidate);
}

static void guided_tell(void *state, size_t candidate, double time_us)
{
	struct guided *guided = state;
	const bool is_known = !guided->questions.asked[candidate]; /* from an earlier run */

	if (!questions_tell(&guided->questions, candidate))
		return;
	if (is_known)
		add_row(guided, candidate);
	if (!(time_us > 0))
		time_us = INFINITY;
	guided->best_us = fmin(guided->best_us, time_us);
	guided->changed = true;
	/* one that found no row: only what there is to improve upon */
	if (guided->row_of[candidate] != NO_ROW)
		guided->times_us[guided->row_of[candidate]] = time_us;
	guided->told_count++;
	if (isfinite(time_us) && time_us <= guided->best_us * NEAR_BEST)
		join_neighbours(guided, candidate);
	if (guided->told_count == guided->learn_next) {
		guided->learn_next += guided->learn_next / 3 + 2;
		learn(guided);
	}
	if (guided->told_count % REFRESH_EVERY == 0) {
		update(guided);
		refresh(guided);
	}
}

STRATEGY(guided, guided, guided_close,
	"where the prediction, corrected by what was measured, promises most");
