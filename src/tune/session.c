/* SPDX-License-Identifier: MIT */
#include "tune/search.h"

#include <math.h>

#include "base/clock.h"
#include "tune/bits.h"
#include "engine/strategy_program.h"

enum {
	/* If more trials waited for the device, proposals would ignore too many results. */
	TRIALS_COMPILED_MAX = 4,
	RESULTS_PER_TRIAL = 4,     /* number of results that allow one more open trial */
	LAUNCHES_COMPILING_MAX = 8 /* compiling launches of one kernel */
};

/* ---- when to ask the strategy ---- */
/* Allows few open trials at first, because each is proposed without the results of the others
 * (src/search/README.md). */
static size_t trials_max(size_t compilers, size_t results)
{
	const size_t most = 2 * compilers + 2, now = compilers + results / RESULTS_PER_TRIAL + 1;

	return now < most ? now : most;
}

/* Counts kernels, which launches share, if the effort tries all candidates. */
static bool compilers_have_room(const struct search *search)
{
	const struct context *context = search->run->context;
	const size_t compiling =
		evaluator_count(&search->evaluator, TRIAL_COMPILING, TRIAL_COMPILING);
	const size_t window =
		context->compiler ? 2 * (size_t)compiler_worker_count(context->compiler) + 2 : 1;

	if (context->compiler && search->options->effort->evaluations == SIZE_MAX)
		return (compiler_pending(context->compiler) < window || compiling < window) &&
		       compiling < LAUNCHES_COMPILING_MAX * window;
	return compiling < window;
}

static bool search_has_room(const struct search *search)
{
	const struct evaluator *evaluator = &search->evaluator;
	const struct context *context = search->run->context;
	/* a program compiles its own kernels */
	const size_t compiled_max = context->program ? context->device->ahead : TRIALS_COMPILED_MAX;

	/* without a compiler, proposing ahead has no benefit */
	if (!context->compiler && !context->program && evaluator->count)
		return false;
	if (context->compiler && search->options->effort->evaluations != SIZE_MAX &&
		evaluator->count >= trials_max(compiler_worker_count(context->compiler),
					    search->budget.evaluations))
		return false;
	return compilers_have_room(search) &&
	       evaluator_count(evaluator, TRIAL_COMPILED, TRIAL_ON_DEVICE) < compiled_max &&
	       search->budget.evaluations + evaluator->count + search->budget.kept <
		       search->options->effort->evaluations;
}

/* search->stopped_because gives the reason. */
static bool is_asking_over(struct search *search)
{
	if (!search->stopped_because)
		search->stopped_because = budget_spent(&search->budget);
	return search->exhausted || search->stopped_because || *search->options->interrupted;
}

static bool search_is_done(struct search *search)
{
	return *search->options->interrupted ||
	       (!search->evaluator.count && is_asking_over(search));
}

/* Returns false if the strategy waits for results or is done. */
static bool strategy_ask(struct search *search, size_t *candidate)
{
	const enum ask_result result = search->strategy->ask(search->strategy_state, candidate);

	if (result == ASK_CANDIDATE || (result == ASK_WAIT && search->evaluator.count))
		return result == ASK_CANDIDATE;
	search->exhausted = true;
	search->stopped_because = search->strategy == &strategy_program
					  ? strategy_program_why(search->strategy_state)
					  : NULL;
	if (!search->stopped_because)
		search->stopped_because = "the strategy has nothing more to try";
	return false;
}

static enum status start_candidate(struct search *search, size_t candidate, struct error *err)
{
	struct result known = {0};

	if (search->asked[candidate])
		return STATUS_OK;
	search->asked[candidate] = true;
	return bits_known(search, candidate, &known)
		       ? search_take_result(search, candidate, &known, err)
		       : search_add_trial(search, candidate, TRIAL_DONE, NULL, err);
}

static enum status start_candidates(
	struct search *search, const size_t *candidates, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(start_candidate(search, candidates[i], err));
	return STATUS_OK;
}

/* Drops trials only if a candidate works, because one compilation may exceed the budget. */
static void drop_late_trials(struct search *search)
{
	struct evaluator *evaluator = &search->evaluator;

	for (size_t i = evaluator->count; i-- > 0 && isfinite(search->budget.best_us);) {
		struct trial *trial = evaluator->trials[i];

		if (trial->stage > TRIAL_COMPILED || (ptrdiff_t)trial->number == search->incumbent)
			continue;
		search->asked[trial->number] = false;
		evaluator_free_trial(evaluator, trial);
		if (search->exhausted)
			search->stopped_because = BUDGET_TIME_SPENT;
	}
}

static enum status search_loop(struct search *search, double seconds, struct error *err)
{
	struct evaluator *evaluator = &search->evaluator;
	const double end_s = clock_seconds() + seconds;
	struct trial *trial;
	size_t candidate;

	while (!search_is_done(search)) {
		while (!is_asking_over(search) && search_has_room(search) &&
			strategy_ask(search, &candidate))
			TRY(start_candidate(search, candidate, err));
		TRY(evaluator_step(evaluator, err));
		while ((trial = evaluator_take(evaluator)) != NULL) {
			TRY(search_take_result(search, trial->number, &trial->result, err));
			evaluator_free_trial(evaluator, trial);
		}
		search_keep_best(search);
		evaluator_wait(evaluator);
		if (clock_seconds() > end_s)
			drop_late_trials(search);
	}
	return *search->options->interrupted ? tune_interrupted(err) : STATUS_OK;
}

/* Limits `count` to the evaluations left if the user gave their number. */
static size_t within_number(const struct search *search, size_t count)
{
	const struct effort *effort = search->options->effort;
	const size_t done = search->budget.evaluations;
	const size_t left = effort->evaluations > done ? effort->evaluations - done : 0;

	return effort->is_strict && count > left ? left : count;
}

static enum status try_planned(struct search *search, struct error *err)
{
	const size_t count = within_number(search, search->planned_count);

	TRY(start_candidates(search, search->planned, count, err));
	return search_loop(search, budget_search_left_seconds(&search->budget), err);
}

static enum status try_neglected_families(struct search *search, struct error *err)
{
	CLEANUP(memory_free) size_t *neglected = NULL;
	const size_t count = family_quota_candidates(search, &neglected);

	TRY(start_candidates(search, neglected, count, err));
	return count ? search_loop(search, budget_search_left_seconds(&search->budget), err)
		     : STATUS_OK;
}

/* Repeats, because a neighbour may have better neighbours. */
static enum status try_neighbours(struct search *search, struct error *err)
{
	const int turns = 3;
	const double part_of_left = 0.3; /* the rest is for measuring */

	for (int turn = 0; turn < turns; turn++) {
		CLEANUP(memory_free) size_t *candidates = NULL;
		const size_t count = within_number(search, final_untried(search, &candidates));
		const size_t first = search->evaluated.count;

		if (!count)
			return STATUS_OK;
		evaluator_clear(&search->evaluator);
		TRY(start_candidates(search, candidates, count, err));
		TRY(search_loop(search, part_of_left * budget_left_seconds(&search->budget), err));
		TRY(final_measure_again(search, first, 1, err));
	}
	return STATUS_OK;
}

static enum status run_search(struct search *search, struct error *err)
{
	TRY(try_planned(search, err));
	TRY(try_neglected_families(search, err));
	TRY(final_measure(search, err));
	TRY(try_neighbours(search, err));
	TRY(final_measure_again(search, search->evaluated.count, FINAL_LOADS, err));
	return search_conclude(search, err);
}

enum status search_run(struct search *search, struct error *err)
{
	struct error unsaved = {0}; /* ignored, because reporting the interrupt matters more */
	enum status status;

	TRY(search_open(search, err));
	status = run_search(search, err);
	if (status == STATUS_INTERRUPTED) {
		search_save_best(search, &unsaved);
		return tune_interrupted(err);
	}
	if (status != STATUS_OK)
		search_keep_best(search);
	if (status == STATUS_NO_DEVICE && !err->hint[0])
		error_hint(err, "all measurements are in the journal; run the same command again "
				"to resume");
	return status;
}
