/* SPDX-License-Identifier: MIT */
#include "engine/explanation_steps.h"

#include <math.h>

#include "candidate/composite.h"
#include "engine/complete.h"

struct best {
	struct bound_family *bound;
	struct completion completion;
	double predicted_us;
};

static void replace(struct best *best, struct bound_family *bound, struct completion *completion)
{
	completion_release(&best->completion);
	bound_family_free(best->bound);
	*best = (struct best){.bound = bound,
		.completion = *completion,
		.predicted_us = completion->predicted_us};
	*completion = (struct completion){0};
}

static enum status consider(const struct family *family, const struct problem *problem,
	const struct device_spec *device, struct best *best, struct error *err)
{
	struct bound_family *bound = NULL;
	struct completion completion = {0};
	bool applies, found;
	enum status status = family_applies(family, problem, device, &applies, NULL, err);

	if (status != STATUS_OK || !applies)
		return status;
	status = family_bind(family, problem, device, NULL, &bound, err);
	if (status == STATUS_OK)
		status = completion_find(bound, "", &found, &completion, NULL, err);
	if (status == STATUS_OK && found &&
		(!best->bound || completion.predicted_us < best->predicted_us)) {
		replace(best, bound, &completion);
		return STATUS_OK;
	}
	completion_release(&completion);
	bound_family_free(bound);
	return status;
}

static enum status choose_step(struct context *bench, struct bound_family *bound, size_t step,
	bool *found, struct text *why, struct error *err)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	struct best best = {.predicted_us = INFINITY};
	enum status status = STATUS_OK;

	for (size_t i = 0; i < bench->catalogue.family_count && status == STATUS_OK; i++) {
		const struct family *family = bench->catalogue.families[i];

		if (family_operation(family) == problem->operation && !family_is_composite(family))
			status = consider(family, problem, bound->device, &best, err);
	}
	*found = status == STATUS_OK && best.bound;
	if (*found)
		status = composite_choose(
			bound, step, best.bound, best.completion.configuration, err);
	else if (status == STATUS_OK && why)
		text_appendf(why, "%s: no family can do its step %s %s", family_name(bound->family),
			operation_name(problem->operation), problem->text);
	completion_release(&best.completion);
	if (!*found)
		bound_family_free(best.bound);
	return status;
}

enum status explanation_choose_steps(struct context *bench, struct bound_family *bound, bool *found,
	struct text *why, struct error *err)
{
	enum status status = composite_open(&bench->catalogue, bound, err);

	*found = status == STATUS_OK;
	for (size_t i = 0; *found && i < bound->composite->step_count && status == STATUS_OK; i++)
		status = choose_step(bench, bound, i, found, why, err);
	return status;
}
