/* SPDX-License-Identifier: MIT
 *
 * Strategy `guided`: Bayesian optimization. It proposes start configurations, then the largest
 * expected improvement times the probability to work, and children of the fastest candidates while
 * nothing improves. Source: D. Jones, M. Schonlau, W. Welch, "Efficient Global Optimization of
 * Expensive Black-Box Functions" (1998).
 *
 * The Gaussian process predicts the error of predicted relative speeds, because speeds resolve
 * differences near the best candidate. Only an acquisition pool is evaluated.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "search/gaussian.h"
#include "search/neighbours.h"
#include "search/order.h"
#include "search/history.h"

/* With these limits a proposal takes at most 3 ms and 20 MB. */
enum {
	STARTS = 8,
	STARTS_OF_FAMILY = 2,
	IN_TRIAL_MAX = 64,
	STALLED = 15, /* results without a gain before children are proposed */
	CHILD_OF = 4,
	NEIGHBOURS_MAX = 64,
	LEARN_FIRST = 10, /* results before the first fit; later fits need a third more */
	ROWS_MAX = 512,
	POOL_BEST = 1024,
	POOL_RANDOM = 1024,
	POOL_MAX = 3072,
};
static const double CHANCE_LEAST = 0.02;

struct guided {
	struct history history;
	struct gaussian gaussian;
	bool *is_in_pool;
	double *errors;          /* measured - predicted speed of each row; NAN if unknown */
	double *means, *chances; /* one value for each member of the pool */
	double scale;            /* standard deviation of errors relative to the covariance */
	double best_us;
	double best_predicted_us;
	double share; /* measured / predicted speed, fitted by least squares */
	bool changed;
	size_t start_count; /* start configurations, the first in the order */
	size_t told_count, learn_next, stalled;
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns the speed relative to the best measured speed. */
static double predicted_speed(const struct guided *guided, size_t candidate)
{
	return guided->share * guided->best_predicted_us /
	       guided->history.view->predicted_us[candidate];
}

static void update(struct guided *guided)
{
	const struct gaussian *gaussian = &guided->gaussian;
	const size_t rows = gaussian->row_count;
	double *errors = guided->errors;
	CLEANUP(memory_free) double *works = memory_zeroed(rows + 1, sizeof(*works));
	double both = 0, square = 0, working = 0, known = 0, rate;

	if (!guided->changed)
		return;
	guided->changed = false;
	guided->share = 1;
	for (size_t r = 0; r < rows; r++) {
		const double time_us = guided->history.times_us[gaussian->row_points[r]];
		const double predicted = predicted_speed(guided, gaussian->row_points[r]);

		/* A failure lowers only the probability to work. */
		errors[r] = isfinite(time_us) ? guided->best_us / time_us : NAN;
		works[r] = isnan(time_us) ? NAN : isfinite(time_us);
		known += !isnan(time_us);
		if (!isfinite(time_us))
			continue;
		working++;
		both += errors[r] * predicted;
		square += predicted * predicted;
	}
	if (square > 0)
		guided->share = both / square;
	rate = (working + 1) / (known + 1);
	for (size_t r = 0; r < rows; r++) {
		errors[r] -= predicted_speed(guided, gaussian->row_points[r]);
		works[r] -= rate;
	}
	square = gaussian_means(gaussian, errors, guided->means);
	guided->scale = square > 0 ? sqrt(square / working) : 1;
	if (working < known)
		gaussian_means(gaussian, works, guided->chances);
	for (size_t s = 0; s < gaussian->pool_count; s++)
		guided->chances[s] =
			working < known ? fmin(1, fmax(CHANCE_LEAST, rate + guided->chances[s]))
					: 1;
}

static double expected_improvement(const struct guided *guided, size_t member)
{
	const struct gaussian *gaussian = &guided->gaussian;
	const size_t point = gaussian->pool_points[member];
	const double gain = predicted_speed(guided, point) + guided->means[member] - 1;
	const double deviation = guided->scale * sqrt(fmax(1e-12, gaussian->variances[member]));
	const double u = gain / deviation;

	if (!history_is_new(&guided->history, point))
		return 0;
	/* the mean of max(0, gain) for a normally distributed gain */
	return guided->chances[member] * deviation *
	       (u * erfc(-u / M_SQRT2) / 2 + exp(-u * u / 2) / sqrt(2 * M_PI));
}

static void watch(struct guided *guided, size_t candidate)
{
	struct gaussian *gaussian = &guided->gaussian;

	if (guided->is_in_pool[candidate] || !history_is_new(&guided->history, candidate) ||
		gaussian->pool_count == gaussian->pool_max)
		return;
	guided->is_in_pool[candidate] = true;
	gaussian_pool_add(gaussian, candidate);
}

/* Refills the pool with the best candidates and random ones. */
static void watch_again(struct guided *guided, const size_t *best, size_t count)
{
	struct history *history = &guided->history;
	const size_t all = history->order_count;
	const bool is_small = all <= POOL_BEST + POOL_RANDOM;

	memset(guided->is_in_pool, 0, history->view->count * sizeof(bool));
	for (size_t i = 0; i < count; i++)
		watch(guided, best[i]);
	for (size_t i = 0; i < (is_small ? all : POOL_RANDOM); i++) {
		const double drawn = random_unit(&history->random);

		watch(guided, history->order[is_small ? i : (size_t)(drawn * drawn * (double)all)]);
	}
}

static void watch_neighbours(struct guided *guided, size_t candidate)
{
	size_t neighbours[NEIGHBOURS_MAX];
	const size_t count =
		neighbours_list(guided->history.view, candidate, true, neighbours, NEIGHBOURS_MAX);

	for (size_t i = 0; i < count; i++)
		watch(guided, neighbours[i]);
}

static void learn(struct guided *guided)
{
	struct gaussian *gaussian = &guided->gaussian;
	const size_t pool_count = gaussian->pool_count;
	CLEANUP(memory_free) double *keys = memory_zeroed(pool_count + 1, sizeof(*keys));
	CLEANUP(memory_free) size_t *best = memory_zeroed(pool_count + 1, sizeof(*best));
	size_t count;

	update(guided);
	for (size_t member = 0; member < pool_count; member++) {
		best[member] = member;
		keys[member] = -expected_improvement(guided, member);
	}
	count = order_smallest(best, pool_count, keys, POOL_BEST);
	for (size_t i = 0; i < count; i++)
		best[i] = gaussian->pool_points[best[i]];
	gaussian_learn(gaussian, guided->errors, &guided->history.random);
	watch_again(guided, best, count);
	guided->changed = true;
}

static bool promising(const struct guided *guided, size_t *candidate)
{
	double best = 0;

	for (size_t member = 0; member < guided->gaussian.pool_count; member++) {
		const double improvement = expected_improvement(guided, member);

		if (improvement > best) {
			best = improvement;
			*candidate = guided->gaussian.pool_points[member];
		}
	}
	return best > 0;
}

static bool guided_choose(struct guided *guided, size_t *candidate)
{
	struct history *history = &guided->history;

	if (history->order_next < guided->start_count && history_next(history, candidate))
		return true;
	if (guided->stalled >= STALLED && history->asked_count % CHILD_OF == 0 &&
		history_child(history, candidate))
		return true;
	update(guided);
	return promising(guided, candidate) || history_next(history, candidate);
}

/* Moves the shortlist and the first two candidates of each family to the front. */
static void starts_choose(struct guided *guided)
{
	const struct history *history = &guided->history;
	const struct search_view *view = history->view;
	size_t *order = history->order;
	CLEANUP(memory_free)
	size_t *count = memory_zeroed(view->family_count + 1, sizeof(*count));

	guided->start_count = shortlist_choose(view, order, history->order_count, STARTS);
	for (size_t i = 0; i < history->order_count; i++) {
		const size_t candidate = order[i];

		if (count[view->family[candidate]]++ >= STARTS_OF_FAMILY || i < guided->start_count)
			continue;
		memmove(&order[guided->start_count + 1], &order[guided->start_count],
			(i - guided->start_count) * sizeof(*order));
		order[guided->start_count++] = candidate;
	}
}

static void *guided_open(const struct search_view *view)
{
	struct guided *guided = history_open(view, sizeof(*guided));
	const struct history *history = &guided->history;
	const size_t rows = smaller(smaller(ROWS_MAX, view->budget), history->order_count);
	const size_t pool_count = smaller(POOL_MAX, history->order_count);

	guided->best_us = INFINITY;
	guided->share = guided->scale = 1;
	guided->changed = true;
	guided->learn_next = LEARN_FIRST;
	if (history->order_count > 0)
		guided->best_predicted_us = view->predicted_us[history->order[0]];
	gaussian_init(&guided->gaussian, view, rows, pool_count);
	guided->is_in_pool = memory_zeroed(view->count + 1, sizeof(bool));
	guided->errors = memory_zeroed(rows + 1, sizeof(double));
	guided->means = memory_zeroed(pool_count + 1, sizeof(double));
	guided->chances = memory_zeroed(pool_count + 1, sizeof(double));
	watch_again(guided, history->order, smaller(POOL_BEST, history->order_count));
	starts_choose(guided);
	return guided;
}

static void guided_close(void *state)
{
	struct guided *guided = state;

	gaussian_release(&guided->gaussian);
	free(guided->is_in_pool);
	free(guided->errors);
	free(guided->means);
	free(guided->chances);
	history_close(guided);
}

static enum ask_result guided_ask(void *state, size_t *candidate)
{
	struct guided *guided = state;
	struct history *history = &guided->history;

	if (history_done(history))
		return ASK_DONE;
	if (history->open >= IN_TRIAL_MAX)
		return ASK_WAIT;
	if (!guided_choose(guided, candidate))
		return ASK_DONE;
	gaussian_add(&guided->gaussian, *candidate);
	return history_ask(history, *candidate);
}

static void guided_tell(void *state, size_t candidate, double time_us)
{
	struct guided *guided = state;
	/* true for a result of an earlier run */
	const bool is_known = history_is_new(&guided->history, candidate);

	if (!history_tell(&guided->history, candidate, time_us))
		return;
	if (is_known)
		gaussian_add(&guided->gaussian, candidate);
	time_us = guided->history.times_us[candidate];
	guided->stalled = time_us < guided->best_us ? 0 : guided->stalled + 1;
	guided->best_us = fmin(guided->best_us, time_us);
	guided->changed = true;
	if (isfinite(time_us))
		watch_neighbours(guided, candidate);
	if (++guided->told_count == guided->learn_next) {
		guided->learn_next += guided->learn_next / 3 + 2;
		learn(guided);
	}
}

STRATEGY(guided, guided, guided_close,
	"the candidates with the best predictions, corrected by the measurements");
