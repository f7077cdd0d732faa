/* SPDX-License-Identifier: MIT */
#include "engine/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/catalogue.h"

/* Whether a row can serve the step; it is chosen then. */
static bool take_row(const struct steps_source *source, struct bound_family *bound, size_t step,
	const struct tuned_row *row, struct error *reason)
{
	return composite_choose_named(source->catalogue, bound, step, row->family,
		       &row->configuration, reason) == STATUS_OK;
}

/* The fastest row that is slower than `after`, or NULL. */
static const struct tuned_row *next_row(const struct tuned_entry *entry, double after)
{
	const struct tuned_row *next = NULL;

	for (size_t i = 0; i < entry->family_count; i++) {
		const struct tuned_row *row = &entry->families[i];

		if (row->time.median > after && (!next || row->time.median < next->time.median))
			next = row;
	}
	return next;
}

static bool take_entry(const struct steps_source *source, struct bound_family *bound, size_t step,
	const struct tuned_entry *entry, struct error *reason)
{
	double time = 0;

	if (take_row(source, bound, step, &entry->winner, reason))
		return true;
	for (const struct tuned_row *row; (row = next_row(entry, time)); time = row->time.median)
		if (take_row(source, bound, step, row, reason))
			return true;
	return false;
}

bool steps_choose(const struct steps_source *source, struct bound_family *bound, size_t step,
	struct text *why)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	const char *operation = problem->operation->name;
	struct error reason = {0};
	const struct tuned_entry *entry =
		source->tuned ? tuned_find_problem(source->tuned, problem, OBJECTIVE_TIME) : NULL;
	const bool known = entry && (!source->measured || !entry->predicted);
	const bool chosen = known && take_entry(source, bound, step, entry, &reason);

	if (!chosen && why)
		text_appendf(why, "its step %s %s %s%s", operation, problem->text,
			known ? "has no winner that serves here: " : "is not tuned",
			known ? reason.message : "");
	return chosen;
}

enum status steps_choose_all(const struct steps_source *source, struct bound_family *bound,
	bool *ready, struct text *why, struct error *err)
{
	enum status status = composite_open(source->catalogue, bound, err);

	*ready = status == STATUS_OK;
	for (size_t i = 0; *ready && i < bound->composite->step_count; i++)
		*ready = steps_choose(source, bound, i, why);
	return status;
}

enum status steps_describe(
	const struct bound_family *bound, struct tuned_row *row, struct error *err)
{
	const struct composite *composite = bound->composite;

	row->steps = memory_zeroed(composite->step_count + 1, sizeof(*row->steps));
	for (size_t i = 0; i < composite->step_count; i++) {
		const struct composite_step *step = &composite->steps[i];
		struct tuned_step *to = &row->steps[row->step_count++];
		struct build build = {0};

		*to = (struct tuned_step){.operation = string_copy(step->problem->operation->name),
			.problem = problem_named_values(step->problem),
			.family = string_copy(step->candidate.bound->family->name),
			.configuration = configuration_named_values(
				step->candidate.bound, step->candidate.choices)};
		if (candidate_build(step->candidate.bound, step->slots, &build, err) != STATUS_OK)
			return STATUS_FAILED;
		string_put(to->kernel_hash, sizeof(to->kernel_hash), build.kernel_hash);
		build_release(&build);
	}
	return STATUS_OK;
}
