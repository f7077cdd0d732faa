/* SPDX-License-Identifier: MIT */
#include "tune/resume.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static int compare_evaluations(const void *a, const void *b)
{
	const struct evaluation *x = *(const struct evaluation *const *)a;
	const struct evaluation *y = *(const struct evaluation *const *)b;
	int order = strcmp(x->family, y->family);

	return order ? order : strcmp(x->configuration, y->configuration);
}

static bool worth_taking(const struct evaluation *evaluation)
{
	return evaluation->outcome != OUTCOME_DEVICE_LOST &&
	       evaluation->outcome != OUTCOME_TOO_NOISY;
}

void resume_open(
	struct resume *resume, const struct journal_run *run, const struct problem *problem)
{
	const struct journal_problem *recorded = NULL;

	*resume = (struct resume){0};
	if (run)
		recorded = journal_problem_find(
			run, operation_name(problem->operation), problem->text);
	if (!recorded)
		return;
	resume->sorted = memory_zeroed(recorded->evaluation_count, sizeof(*resume->sorted));
	for (size_t i = 0; i < recorded->evaluation_count; i++)
		if (worth_taking(&recorded->evaluations[i]))
			resume->sorted[resume->count++] = &recorded->evaluations[i];
	qsort(resume->sorted, resume->count, sizeof(*resume->sorted), compare_evaluations);
}

void resume_release(struct resume *resume)
{
	free(resume->sorted);
	*resume = (struct resume){0};
}

bool resume_take(const struct resume *resume, const struct candidates *pool, size_t candidate,
	struct evaluation *evaluation, struct error *err)
{
	const struct family_candidates *family = candidates_family_of(pool, candidate);
	struct text configuration = {0};
	struct evaluation key = {0};
	const struct evaluation *wanted = &key, **found;
	struct json *copy;
	struct json_at at;
	bool taken;

	if (!resume->count)
		return false;
	configuration_format(
		family->bound, candidates_configuration(pool, candidate), &configuration);
	key.configuration = configuration.data;
	key.family = (char *)(uintptr_t)family_name(family->bound->family);
	found = bsearch(&wanted, resume->sorted, resume->count, sizeof(*resume->sorted),
		compare_evaluations);
	text_release(&configuration);
	if (!found)
		return false;
	copy = evaluation_to_json(*found);
	at = json_root(copy, "journal");
	taken = evaluation_from_json(&at, evaluation, err) == STATUS_OK;
	json_free(copy);
	return taken;
}
