/* SPDX-License-Identifier: MIT */
#include "tune/budget.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"

const struct effort efforts[] = {
	{
		.name = "estimate",
		.summary = "score everything, compile the best few, measure nothing",
		.strategy = "model_top",
		.evaluations = 16,
		.seconds = INFINITY,
		.stall = SIZE_MAX,
		.measures = false,
		.rounds = 1,
		.final_rounds = 1,
	},
	{
		.name = "quick",
		.summary = "a few hundred candidates that the model and the measurements point at",
		.strategy = "guided",
		.evaluations = 320,
		.seconds = 8,
		.of_each_family = 8,
		.stall = 72, /* the expected gain is then below 0.5% (results/stop_rule.py) */
		.stall_ratio = 0.003,
		.measures = true,
		.give_up_ratio = 1.4,
		.rounds = 3,
		.final_rounds = 20,
	},
	{
		.name = "thorough",
		.summary = "a few thousand candidates",
		.strategy = "guided",
		.evaluations = 4000,
		.seconds = 120,
		.of_each_family = 32,
		.stall = 1000,
		.stall_ratio = 0.002,
		.measures = true,
		.give_up_ratio = 1.4,
		.rounds = 4,
		.final_rounds = 40,
	},
	{
		.name = "exhaustive",
		.summary = "every legal candidate",
		.strategy = "exhaustive",
		.evaluations = SIZE_MAX,
		.seconds = INFINITY,
		.stall = SIZE_MAX,
		.measures = true,
		.give_up_ratio = 3.0,
		.rounds = 3,
		.remeasures_shortlist = true,
		.final_rounds = 40,
	},
	{0},
};

const struct effort *effort_find(const char *name)
{
	for (const struct effort *effort = efforts; effort->name; effort++)
		if (strcmp(effort->name, name) == 0)
			return effort;
	return NULL;
}

void effort_limit(struct effort *effort, size_t evaluations, bool tries_neighbours)
{
	const size_t neighbours_part = 8;

	effort->evaluations = evaluations;
	effort->of_each_family = 0; /* the user's number is exact */
	effort->is_strict = true;
	effort->seconds = INFINITY; /* only the number or a time budget limits the search */
	effort->kept = effort->measures && tries_neighbours ? evaluations / neighbours_part : 0;
}

void effort_predict(struct effort *effort)
{
	const size_t part = 10;

	effort->seconds = INFINITY;
	if (strcmp(effort->strategy, "guided") != 0)
		return;
	effort->strategy = "model_top";
	if (!effort->is_strict)
		effort->evaluations /= part;
}

void budget_start(
	struct budget *budget, const struct effort *effort, double seconds, bool measures_again)
{
	/* time reserved for another final measurement */
	const double again_seconds = 6, again_part = 0.4;
	const double again = !measures_again ? 0
			     : seconds > 0   ? fmin(again_seconds, again_part * seconds)
					     : again_seconds;

	*budget = (struct budget){.effort = effort,
		.seconds = seconds > 0 ? seconds : effort->seconds + again,
		.started = clock_seconds(),
		.best_us = INFINITY};
	budget->search_seconds = budget->seconds - again;
}

double budget_search_left_seconds(const struct budget *budget)
{
	return fmax(0, budget->search_seconds - (clock_seconds() - budget->started));
}

double budget_left_seconds(const struct budget *budget)
{
	return fmax(0, budget->seconds - (clock_seconds() - budget->started));
}

size_t effort_attempts(const struct effort *effort)
{
	const size_t attempts_per_evaluation = 16;

	if (effort->measures || effort->evaluations > SIZE_MAX / attempts_per_evaluation)
		return effort->evaluations;
	return effort->evaluations * attempts_per_evaluation;
}

void budget_count(struct budget *budget, double time_us)
{
	budget->attempts++;
	budget->evaluations += isfinite(time_us) || budget->effort->measures;
	budget->since_gain++;
	if (time_us < budget->best_us) {
		if (!(time_us > budget->best_us * (1 - budget->effort->stall_ratio)))
			budget->since_gain = 0;
		budget->best_us = time_us;
	}
}

const char *budget_spent(const struct budget *budget)
{
	if (budget->evaluations >= budget->effort->evaluations - budget->kept ||
		budget->attempts >= effort_attempts(budget->effort))
		return "the effort's number of evaluations is reached";
	if (clock_seconds() - budget->started >= budget->search_seconds)
		return BUDGET_TIME_SPENT;
	if (budget->since_gain >= budget->effort->stall)
		return "the best candidate did not improve for a while";
	return NULL;
}
