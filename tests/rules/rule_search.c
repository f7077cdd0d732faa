/* SPDX-License-Identifier: MIT
 *
 * Search in small spaces: neighbours, shortlists, the Gaussian process, and the requests of
 * strategies.
 */
#include "base/memory.h"
#include "rules/rules.h"
#include "search/gaussian.h"
#include "search/neighbours.h"
#include "search/order.h"

static struct json *list_of(const size_t *items, size_t count)
{
	struct json *out = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(out, json_new_int((int64_t)items[i]));
	return out;
}

static struct json *reals_of(const double *items, size_t count)
{
	struct json *out = json_new_array();

	for (size_t i = 0; i < count; i++)
		json_push(out, json_new_double(items[i]));
	return out;
}

static size_t *sizes(const struct json_at *in, const char *key, size_t *count)
{
	const struct rule_numbers numbers = rule_numbers(in, key);
	size_t *items = memory_zeroed(numbers.count + 1, sizeof(*items));

	*count = numbers.count;
	for (size_t i = 0; i < numbers.count; i++)
		items[i] = (size_t)numbers.items[i];
	return items;
}

/* Reads one family: {"levels": [..], "ordered": [..], "arguments": [..], "configurations": [..]}.
 * "configurations" lists all choices. */
static struct search_family family_of(const struct json_at *in, size_t first)
{
	size_t parameter_count, ordered_count, argument_count, choice_count;
	const size_t *levels = sizes(in, "levels", &parameter_count);
	const size_t *ordered = sizes(in, "ordered", &ordered_count);
	const size_t *arguments = sizes(in, "arguments", &argument_count);
	const size_t *choices = sizes(in, "configurations", &choice_count);
	struct search_parameter *parameters =
		memory_zeroed(parameter_count + 1, sizeof(*parameters));
	choice *configurations = memory_zeroed(choice_count + 1, sizeof(*configurations));

	for (size_t i = 0; i < parameter_count; i++)
		parameters[i] = (struct search_parameter){
			(choice)levels[i], ordered[i] != 0, arguments[i] != 0};
	for (size_t i = 0; i < choice_count; i++)
		configurations[i] = (choice)choices[i];
	return (struct search_family){.first = first,
		.count = choice_count / parameter_count,
		.parameter_count = parameter_count,
		.configurations = configurations,
		.parameters = parameters};
}

static struct search_view *view_of(const struct json_at *in)
{
	const struct json_at list = rule_member(in, "families");
	const size_t family_count = json_count(&list);
	struct search_family *families = memory_zeroed(family_count + 1, sizeof(*families));
	struct search_view *view = memory_zeroed(1, sizeof(*view));
	uint32_t *of;

	*view = (struct search_view){.predicted_us = rule_numbers(in, "predicted").items,
		.family_count = family_count,
		.families = families,
		.seed = rule_size(in, "seed"),
		.budget = SIZE_MAX};
	for (size_t f = 0; f < family_count; f++) {
		const struct json_at item = json_item(&list, f);

		families[f] = family_of(&item, view->count);
		view->count += families[f].count;
	}
	view->family = of = memory_zeroed(view->count + 1, sizeof(*of));
	for (size_t f = 0; f < family_count; f++)
		for (size_t i = 0; i < families[f].count; i++)
			of[families[f].first + i] = (uint32_t)f;
	return view;
}

RULE(neighbours)
{
	const struct search_view *view = view_of(in);
	const size_t limit = rule_size(in, "limit");
	size_t *found = memory_zeroed(limit + 1, sizeof(*found));

	return list_of(found, neighbours_list(view, rule_size(in, "candidate"),
				      rule_flag(in, "pairs"), found, limit));
}

/* Returns the smallest of `candidates`, and a shortlist of the same list. */
RULE(shortlist)
{
	const struct search_view *view = view_of(in);
	const size_t wanted = rule_size(in, "wanted");
	struct json *out = json_new_object();
	size_t count;
	size_t *candidates = sizes(in, "candidates", &count),
	       *again = sizes(in, "candidates", &count);

	json_put(out, "smallest",
		list_of(candidates, order_smallest(candidates, count, view->predicted_us, wanted)));
	json_put_int(out, "moved", (int64_t)shortlist_choose(view, again, count, wanted));
	json_put(out, "all", list_of(again, count));
	return out;
}

/* Adds measured rows (null: not measured yet) with every candidate in the acquisition pool. Returns
 * the predictions before the first `early` rows were added, and after the last row. */
RULE(gaussian)
{
	const struct search_view *view = view_of(in);
	const struct rule_numbers values = rule_numbers(in, "values");
	struct gaussian gaussian;
	struct json *out = json_new_object(), *covariances = json_new_array();
	double *means = memory_zeroed(2 * view->count + 1, sizeof(*means));
	size_t count;
	const size_t *rows = sizes(in, "rows", &count), early = rule_size(in, "early");

	gaussian_init(&gaussian, view, count, 2 * view->count);
	for (size_t i = 0; i <= count; i++) {
		for (size_t w = 0; (i == early || i == count) && w < view->count; w++)
			gaussian_pool_add(&gaussian, w);
		if (i < count)
			gaussian_add(&gaussian, rows[i]);
	}
	json_put_double(out, "sum", gaussian_means(&gaussian, values.items, means));
	json_put(out, "means", reals_of(means, gaussian.pool_count));
	json_put(out, "variances", reals_of(gaussian.variances, gaussian.pool_count));
	for (size_t i = 0; i < view->count; i++) {
		double *row = memory_zeroed(view->count + 1, sizeof(*row));

		for (size_t k = 0; k < view->count; k++)
			row[k] = gaussian_covariance(&gaussian, i, k);
		json_push(covariances, reals_of(row, view->count));
	}
	json_put(out, "covariances", covariances);
	return out;
}

/* Returns the requests of a strategy, in order, if times[candidate] is its answer to each. */
RULE(asks)
{
	const struct search_view *view = view_of(in);
	const struct strategy *strategy = strategy_find(rule_string(in, "strategy"));
	const double *times = rule_numbers(in, "times").items;
	const size_t most = rule_size(in, "most");
	void *state = strategy->open(view);
	struct json *out = json_new_array();
	size_t candidate;

	for (size_t i = 0; i < most && strategy->ask(state, &candidate) == ASK_CANDIDATE; i++) {
		json_push(out, json_new_int((int64_t)candidate));
		strategy->tell(state, candidate, times[candidate]);
	}
	strategy->close(state);
	return out;
}
