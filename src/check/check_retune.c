/* SPDX-License-Identifier: MIT
 *
 * Is there something better than the baseline's winner by now? A quick tuning of every problem,
 * with that winner as the incumbent: it is in the final and keeps its place when tied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_parts.h"
#include "tune/session.h"

static struct check_row *row_of(struct check *check, const struct problem *problem)
{
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].work->problem == problem)
			return &check->rows[i];
	return NULL;
}

static const struct evaluation *incumbent_of(
	const struct problem_result *result, const struct check_row *row)
{
	const struct evaluation *ours = &row->work->trial->evaluation;

	for (size_t i = 0; i < result->evaluated->count; i++) {
		const struct evaluation *evaluation = &result->evaluated->items[i].evaluation;

		if (evaluation->outcome == OUTCOME_OK &&
			strcmp(evaluation->family, ours->family) == 0 &&
			strcmp(evaluation->configuration, ours->configuration) == 0)
			return evaluation;
	}
	return NULL;
}

static void tuned_anew(void *context, const struct problem_result *result)
{
	const struct evaluation *winner = &result->evaluated->items[result->winner].evaluation;
	struct check_row *row = row_of(context, result->pool->problem);
	const struct evaluation *incumbent;

	if (!row)
		return;
	incumbent = incumbent_of(result, row);
	if (incumbent == winner)
		return;
	if (incumbent)
		row->better = string_format("%s {%s}, %.1f%% faster%s", winner->family,
			winner->configuration,
			100 * (incumbent->time.median / winner->time.median - 1),
			winner->predicted ? " (predicted)" : "");
	else
		row->better = string_format("%s {%s}: the baseline's winner could not be timed",
			winner->family, winner->configuration);
	row->work->retuned = json_copy(result->entry);
}

enum status check_retune(struct check *check, const char *run_id, struct error *err)
{
	struct problem_list problems = {0};
	struct tuned scratch = {
		.root = json_copy(check->baseline->root), .path = string_copy("the baseline")};
	struct session session = {.context = check->context,
		.problems = &problems,
		.effort = effort_find("quick"),
		.pool = {.score = true},
		.seed = 1,
		.tuned = &scratch,
		.run_id = run_id,
		.interrupted = check->options.interrupted,
		.observer = {.context = check, .end = tuned_anew},
		.keep_going = true};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < check->row_count; i++) {
		if (!check->rows[i].work->can_run)
			continue;
		ARRAY_GROW(problems.items, problems.count, problems.capacity);
		problems.items[problems.count++] = check->rows[i].work->problem;
	}
	if (problems.count)
		status = session_run(&session, err);
	/* a problem that cannot be tuned has nothing better: the check has said what is wrong */
	if (status != STATUS_NO_DEVICE && status != STATUS_INTERRUPTED)
		status = STATUS_OK;
	free(problems.items); /* the problems are the rows' */
	tuned_release(&scratch);
	return status;
}
