/* SPDX-License-Identifier: MIT */
#include "tune/search.h"

static const struct journal_problem *recorded_problem(
	const struct tune_run *run, const struct journal_run *earlier, size_t number)
{
	const struct problem *problem = run->problems->items[number];

	return journal_problem_find(earlier, problem->operation->name, problem->text);
}

/* Returns NULL if no run concluded the problem. */
static const struct journal_run *find_concluded(
	const struct tune_run *run, size_t number, const struct journal_problem **recorded)
{
	const struct tune_options *options = run->options;

	for (const struct journal_run *earlier = options->resume; earlier;
		earlier = journal_previous(options->record, earlier)) {
		*recorded = recorded_problem(run, earlier, number);
		if (*recorded && (*recorded)->entry)
			return earlier;
	}
	return NULL;
}

bool resume_is_concluded(const struct tune_run *run, size_t number)
{
	const struct journal_problem *recorded;

	return find_concluded(run, number, &recorded) != NULL;
}

enum status resume_entry(struct tune_run *run, size_t number, bool *done, struct error *err)
{
	const struct tune_observer *observer = &run->options->observer;
	const struct problem *problem = run->problems->items[number];
	const struct journal_problem *recorded;
	const struct journal_run *earlier = find_concluded(run, number, &recorded);
	struct row_validity row_validity = {.context = run->context, .problem = problem};
	const struct tuned_judge judge = {row_is_still_valid, &row_validity};
	struct tuned_entry copy;
	struct run head = {0};
	const char *kept;

	*done = earlier != NULL;
	if (!earlier)
		return STATUS_OK;
	record_copy(&run_record, &earlier->run, &head);
	tuned_put_run(run->tuned, &head);
	row_validity.recorded = recorded->results;
	row_validity.recorded_count = recorded->result_count;
	copy = tuned_entry_copy(recorded->entry);
	TRY(tune_put_entry(run, &copy, &judge, &kept, err));
	if (observer->taken)
		observer->taken(
			observer->context, problem, number, run->problems->count, recorded->entry);
	return STATUS_OK;
}

/* The result must fit the required digests and depend only on the candidate. */
static bool is_worth_taking(const struct search *search, const struct result *result)
{
	const bool is_other =
		search->bits && result->bits &&
		output_digest_compare(search->bits, result->bits, NULL) != DIGEST_SAME;

	return result->outcome != OUTCOME_DEVICE_LOST && result->outcome != OUTCOME_TOO_NOISY &&
	       (!search->bits || result->outcome != OUTCOME_OK || result->bits) &&
	       is_other == (result->outcome == OUTCOME_OTHER_BITS);
}

static void take_results_of_run(struct search *search, const struct journal_run *earlier)
{
	const struct journal_problem *recorded;

	if (!earlier)
		return;
	take_results_of_run(search, journal_previous(search->options->record, earlier));
	recorded = recorded_problem(search->run, earlier, search->number);
	for (size_t i = 0; recorded && i < recorded->result_count; i++) {
		const struct result *known = &recorded->results[i];
		const ptrdiff_t candidate =
			candidates_find(&search->pool, known->family, known->configuration);
		struct result copy = {0};

		/* a candidate not in the pool was illegal then, too: the signature covers templates
		 */
		if (candidate < 0 || search->known[candidate] || !is_worth_taking(search, known))
			continue;
		record_copy(&result_record, known, &copy);
		search_add(search, (size_t)candidate, &copy);
		search->resumed++;
	}
}

void resume_results(struct search *search)
{
	take_results_of_run(search, search->options->resume);
}
