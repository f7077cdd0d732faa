/* SPDX-License-Identifier: MIT
 *
 * Choosing what serves the steps of a composite family.
 */
#include "candidate/composite.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "family/operation.h"
#include "family/family.h"

enum status composite_open(
	const struct catalogue *catalogue, struct bound_family *bound, struct error *err)
{
	const struct family *family = bound->family;
	struct composite *composite = memory_zeroed(1, sizeof(*composite));
	enum status status = STATUS_OK;

	if (!family->step_count || bound->composite)
		BUG("%s is opened as a composite", family->name);
	bound->composite = composite;
	composite->steps = memory_zeroed(family->step_count, sizeof(*composite->steps));
	composite->step_count = family->step_count;
	for (size_t i = 0; i < composite->step_count && status == STATUS_OK; i++)
		status = family_step_problem(
			catalogue, family, i, bound->problem, &composite->steps[i].problem, err);
	return status;
}

static void forget_choice(struct composite_step *step)
{
	candidate_release(&step->candidate);
	free(step->slots);
	step->slots = NULL;
}

void composite_free(struct composite *composite)
{
	if (!composite)
		return;
	for (size_t i = 0; i < composite->step_count; i++) {
		forget_choice(&composite->steps[i]);
		problem_free(composite->steps[i].problem);
	}
	free(composite->steps);
	free(composite);
}

bool composite_is_ready(const struct bound_family *bound)
{
	const struct composite *composite = bound->composite;

	for (size_t i = 0; composite && i < composite->step_count; i++)
		if (!composite->steps[i].candidate.bound)
			return false;
	return composite != NULL;
}

enum status composite_choose(
	struct bound_family *bound, size_t step, struct candidate *chosen, struct error *err)
{
	struct composite_step *at = &bound->composite->steps[step];

	if (chosen->bound->family->step_count || chosen->bound->problem != at->problem)
		BUG("%s chosen for step %zu of %s", chosen->bound->family->name, step + 1,
			bound->family->name);
	forget_choice(at);
	at->candidate = *chosen;
	*chosen = (struct candidate){0};
	at->slots = candidate_values(&at->candidate, err);
	if (at->slots)
		return STATUS_OK;
	forget_choice(at);
	return STATUS_FAILED;
}

enum status composite_choose_json(const struct catalogue *catalogue, struct bound_family *bound,
	size_t step, const char *family, const struct json_at *configuration, struct error *err)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	const struct family *found;
	struct candidate chosen = {0};
	enum status status = catalogue_family(catalogue, problem->operation, family, &found, err);

	if (status == STATUS_OK && found->step_count)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a family without steps of its own", found->name);
	if (status == STATUS_OK)
		status = family_bind_applicable(found, problem, bound->device, &chosen.bound, err);
	if (status == STATUS_OK)
		status = configuration_from_json(chosen.bound, configuration, chosen.choices, err);
	if (status == STATUS_OK)
		status = configuration_expect_legal(chosen.bound, chosen.choices, err);
	if (status == STATUS_OK)
		return composite_choose(bound, step, &chosen, err);
	candidate_release(&chosen);
	return status;
}
