/* SPDX-License-Identifier: MIT */
#include "advise/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "advise/variant.h"
#include "base/memory.h"
#include "engine/explanation.h"

static enum status range_choose(const struct candidates *pool, size_t *best, struct error *err)
{
	bool any = false;

	for (size_t f = 0; f < pool->family_count; f++) {
		size_t candidate;
		bool found;

		TRY(explanation_choose(pool, f, &candidate, &found, err));
		if (!found || (any && pool->predicted_us[candidate] >= pool->predicted_us[*best]))
			continue;
		*best = candidate;
		any = true;
	}
	return STATUS_OK;
}

/* Finds the least aligned of a few sizes in the middle: a configuration that is legal there is
 * legal for most others. */
static const struct problem *oddest(const struct problem_list *problems)
{
	const size_t a_few = 4, middle = problems->count / 2;
	const struct problem *best = problems->items[middle];

	for (size_t i = middle; i < problems->count && i < middle + a_few; i++)
		if (variant_roundness(problems->items[i]) < variant_roundness(best))
			best = problems->items[i];
	return best;
}

static enum status choose_at(struct range *range, const struct problem *problem, struct error *err)
{
	const struct tune_run *run = range->run;
	struct candidates_options options = run->options->candidates;
	CLEANUP(candidates_release) struct candidates pool = {0};
	struct text configuration = {0};
	const struct bound_family *bound;
	size_t best = 0;

	options.compiler = run->context->compiler;
	TRY(candidates_open(&run->context->catalogue, problem, run->context->device->spec, &options,
		&pool, err));
	TRY(range_choose(&pool, &best, err));
	bound = candidates_family_of(&pool, best)->bound;
	configuration_format(bound, candidates_configuration(&pool, best), &configuration);
	range->family = string_copy(bound->family->name);
	range->configuration = text_detach(&configuration);
	return STATUS_OK;
}

/* The given configuration may be illegal in the middle. */
static enum status choose_configuration(struct range *range, struct error *err)
{
	const struct problem_list *problems = range->problems;
	const enum status status = choose_at(range, oddest(problems), err);

	return status == STATUS_BAD_INPUT && choose_at(range, problems->items[problems->count - 1],
						     NULL) == STATUS_OK
		       ? STATUS_OK
		       : status;
}

static void find_entries(struct range *range)
{
	const struct problem_list *problems = range->problems;

	range->entries = memory_zeroed(problems->count + 1, sizeof(*range->entries));
	for (size_t i = 0; i < problems->count; i++) {
		range->entries[i] =
			tuned_find_problem(range->run->tuned, problems->items[i], OBJECTIVE_TIME);
		range->missing += !range->entries[i];
	}
}

enum status range_run(struct range *range, struct tune_run *run,
	const struct problem_list *problems, struct error *err)
{
	const struct tune_options *asked = run->options;
	struct tune_options options = *asked;
	const char *families[2] = {NULL};
	enum status status;

	*range = (struct range){.run = run, .problems = problems};
	TRY(choose_configuration(range, err));
	families[0] = range->family;
	options.candidates.families = families;
	options.candidates.config = range->configuration;
	run->options = &options;
	run->problems = problems;
	status = tune_problems(run, err);
	run->problems = NULL;
	run->options = asked;
	if (status == STATUS_INTERRUPTED || status == STATUS_NO_DEVICE)
		return status;
	find_entries(range);
	return range->missing == problems->count ? status : STATUS_OK;
}

void range_release(struct range *range)
{
	free(range->family);
	free(range->configuration);
	free(range->entries);
	*range = (struct range){0};
}

const struct launch_score *range_score(const struct range *range, size_t problem)
{
	const struct tuned_entry *entry = range->entries[problem];
	const struct score *score = entry ? &entry->winner.result.score : NULL;

	return score && score->launch_count ? &score->launches[score->longest] : NULL;
}

bool range_is_edge(const struct range *range, size_t problem)
{
	const struct launch_score *before = problem ? range_score(range, problem - 1) : NULL;
	const struct launch_score *now = range_score(range, problem);

	return before && now && fabs(now->waves - before->waves) > 0.5;
}

static bool differs(const struct problem_list *problems, size_t key)
{
	for (size_t i = 1; i < problems->count; i++)
		if (!value_equal(problems->items[i]->values[key], problems->items[0]->values[key]))
			return true;
	return false;
}

char *range_sizes(const struct range *range, size_t problem)
{
	const struct operation *operation = range->problems->items[0]->operation;
	struct text text = {0};

	/* keys with a default only if no other keys differ */
	for (int with_default = 0; with_default < 2 && !text.length; with_default++)
		for (size_t i = 0; i < operation->key_count; i++) {
			const struct key *key = &operation->keys[i];

			if ((key->default_value != NULL) != with_default ||
				!differs(range->problems, i))
				continue;
			text_appendf(&text, "%s%s=", text.length ? "," : "", key->name);
			value_format(range->problems->items[problem]->values[i], &text);
		}
	return text_detach(&text);
}

char *range_complete(const struct operation *operation, const char *text)
{
	CLEANUP(memory_free)
	bool *given = memory_zeroed(operation->key_count + 1, sizeof(*given));
	struct text whole = {0};

	variant_find_given(operation, text, given);
	text_append(&whole, text);
	for (const char *piece = operation->advice.sweep; *piece;) {
		const size_t length = strcspn(piece, ","), name = strcspn(piece, "=");

		for (size_t i = 0; i < operation->key_count; i++)
			if (!given[i] && strlen(operation->keys[i].name) == name &&
				strncmp(operation->keys[i].name, piece, name) == 0)
				text_appendf(&whole, "%s%.*s", whole.length ? "," : "", (int)length,
					piece);
		piece += length + (piece[length] == ',');
	}
	return text_detach(&whole);
}
