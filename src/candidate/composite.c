/* SPDX-License-Identifier: MIT
 *
 * Choosing what serves the steps of a composite family.
 */
#include "candidate/composite.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "family/evaluate.h"
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
	bound_family_free(step->bound);
	free(step->configuration);
	free(step->slots);
	*step = (struct composite_step){.problem = step->problem};
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
		if (!composite->steps[i].bound)
			return false;
	return composite != NULL;
}

enum status composite_choose(struct bound_family *bound, size_t step, struct bound_family *chosen,
	const choice *configuration, struct error *err)
{
	struct composite_step *at = &bound->composite->steps[step];
	size_t parameters = chosen->family->parameter_count;
	enum status status;

	if (chosen->family->step_count || chosen->problem != at->problem)
		BUG("%s chosen for step %zu of %s", chosen->family->name, step + 1,
			bound->family->name);
	forget_choice(at);
	at->bound = chosen;
	at->configuration = memory_zeroed(parameters + 1, sizeof(*at->configuration));
	memcpy(at->configuration, configuration, parameters * sizeof(*configuration));
	at->slots = memory_zeroed(space_slot_count(chosen->space), sizeof(*at->slots));
	status = space_values(chosen->space, at->configuration, at->slots, err);
	if (status != STATUS_OK)
		forget_choice(at);
	return status;
}

/* Whether the configuration is legal on this device for this problem. */
static enum status check_legal(
	const struct bound_family *bound, const choice *configuration, struct error *err)
{
	struct value *slots = memory_zeroed(space_slot_count(bound->space), sizeof(*slots));
	int violated = -1;
	enum status status = space_values(bound->space, configuration, slots, err);

	if (status == STATUS_OK)
		status = space_check(bound->space, slots, &violated, err);
	if (status == STATUS_OK && violated >= 0)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a legal configuration (violated: %s)", bound->family->name,
			space_constraint_why(bound->space, (size_t)violated));
	free(slots);
	return status;
}

enum status composite_choose_json(const struct catalogue *catalogue, struct bound_family *bound,
	size_t step, const char *family, const struct json_at *configuration, struct error *err)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	const struct family *found;
	struct bound_family *chosen = NULL;
	choice choices[SPACE_PARAMETERS_MAX];
	struct text why = {0};
	bool applies = true;
	enum status status = catalogue_family(catalogue, problem->operation, family, &found, err);

	if (status == STATUS_OK && found->step_count)
		status = error_set(err, STATUS_BAD_INPUT,
			"%s: expected a family without steps of its own", found->name);
	if (status == STATUS_OK)
		status = family_applies(found, problem, bound->device, &applies, &why, err);
	if (status == STATUS_OK && !applies)
		status = error_set(err, STATUS_BAD_INPUT, "%s does not apply: needs %s",
			found->name, text_string(&why));
	if (status == STATUS_OK)
		status = family_bind(found, problem, bound->device, NULL, &chosen, err);
	if (status == STATUS_OK)
		status = configuration_from_json(chosen, configuration, choices, err);
	if (status == STATUS_OK)
		status = check_legal(chosen, choices, err);
	text_release(&why);
	if (status != STATUS_OK) {
		bound_family_free(chosen);
		return status;
	}
	return composite_choose(bound, step, chosen, choices, err);
}
