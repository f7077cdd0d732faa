/* SPDX-License-Identifier: MIT
 *
 * Is there something better than the baseline's winner by now? A quick tuning of every problem,
 * with that winner as the incumbent: it is measured again among the best and stays when tied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/check_parts.h"

static struct check_row *row_of(struct check *check, const struct problem *problem)
{
	for (size_t i = 0; i < check->row_count; i++)
		if (check->rows[i].work->problem == problem)
			return &check->rows[i];
	return NULL;
}

static const struct evaluation *incumbent_of(
	const struct evaluated_list *evaluated, const struct check_row *row)
{
	const struct evaluation *ours = &row->work->trial->evaluation;

	for (size_t i = 0; i < evaluated->count; i++) {
		const struct evaluation *evaluation = &evaluated->items[i].evaluation;

		if (evaluation->outcome == OUTCOME_OK &&
			strcmp(evaluation->family, ours->family) == 0 &&
			strcmp(evaluation->configuration, ours->configuration) == 0)
			return evaluation;
	}
	return NULL;
}

void check_take_tuned(struct check *check, const struct problem *problem,
	const struct evaluated_list *evaluated, size_t winner_index, const struct json *entry)
{
	const struct evaluation *winner = &evaluated->items[winner_index].evaluation;
	struct check_row *row = row_of(check, problem);
	const struct evaluation *incumbent;

	if (!row)
		return;
	incumbent = incumbent_of(evaluated, row);
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
	row->work->retuned = json_copy(entry);
}

enum status check_retune(
	struct check *check, tune_problems *tune, void *context, struct error *err)
{
	struct problem_list problems = {0};
	struct tuned scratch = {
		.root = json_copy(check->baseline->root), .path = string_copy("the baseline")};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < check->row_count; i++) {
		if (!check->rows[i].work->can_run)
			continue;
		ARRAY_GROW(problems.items, problems.count, problems.capacity);
		problems.items[problems.count++] = check->rows[i].work->problem;
	}
	if (problems.count)
		status = tune(context, &problems, &scratch, err);
	/* a problem that cannot be tuned has nothing better: the check has said what is wrong */
	if (status != STATUS_NO_DEVICE && status != STATUS_INTERRUPTED)
		status = STATUS_OK;
	free(problems.items); /* the problems are the rows' */
	tuned_release(&scratch);
	return status;
}
