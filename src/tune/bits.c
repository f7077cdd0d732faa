/* SPDX-License-Identifier: MIT */
#include "tune/bits.h"

#include <math.h>

#include "engine/row.h"

enum {
	COMPARED_MAX = 1000 /* number of candidates compared pairwise */
};

static const char invariant[] = "invariant=";

bool bits_rule_compares_problems(const char *text)
{
	return string_starts_with(text, invariant);
}

static enum status open_class(
	const struct tune_run *run, const char *key, struct bits_rule *rule, struct error *err)
{
	const struct problem_list *problems = run->problems;
	bool differs = false;

	if (run->options->objective != OBJECTIVE_TIME)
		return error_set(err, STATUS_BAD_INPUT,
			"--bits invariant=%s compares times: it cannot be combined with the "
			"objective %s",
			key, objective_names[run->options->objective]);
	for (size_t i = 1; i < problems->count; i++)
		differs |= !problem_differs_in(problems->items[0], problems->items[i], key);
	if (!differs && problems->count > 1)
		return shared_choose(run, SHARED_BITS, &rule->class, err);
	error_set(err, STATUS_BAD_INPUT,
		"--bits invariant=%s needs several problems that differ only in %s%s", key, key,
		differs ? ", but these differ in other keys" : ", but there is only one");
	return error_hint(err, "give several values: -p %s=1,16,128,...", key);
}

enum status bits_rule_open(
	const char *text, const struct tune_run *run, struct bits_rule *rule, struct error *err)
{
	static const char same_file[] = "same:";
	const bool compares_problems = bits_rule_compares_problems(text);

	rule->name = compares_problems ? text : "same";
	if (!compares_problems && !string_starts_with(text, same_file) && strcmp(text, "same") != 0)
		return error_set(err, STATUS_BAD_INPUT,
			"--bits: expected same, same:FILE or invariant=KEY, found \"%s\"", text);
	if (run->context->program)
		return error_set(err, STATUS_BAD_INPUT,
			"--bits: %s runs a program, whose outputs tiletune cannot read",
			run->context->program->file);
	if (!run->context->device->kind->measures) {
		error_set(err, STATUS_BAD_INPUT,
			"--bits needs a GPU or a recording; times of %s are predicted",
			run->context->device->identity.name);
		return error_hint(err, "use --device cuda:0, or --device replay:FILE with a "
				       "journal that has digests");
	}
	if (compares_problems)
		return open_class(run, text + strlen(invariant), rule, err);
	if (string_starts_with(text, same_file)) {
		TRY(tuned_load(text + strlen(same_file), &rule->file, err));
		tuned_complete(&rule->file, &run->context->catalogue);
		rule->reference = &rule->file;
		return STATUS_OK;
	}
	rule->reference = run->tuned;
	return STATUS_OK;
}

void bits_rule_release(struct bits_rule *rule)
{
	tuned_release(&rule->file);
	shared_choice_release(&rule->class);
}

static enum status verify_reference(struct search *search, size_t candidate, struct error *err)
{
	struct trial *trial = NULL;

	TRY(search_add_trial(search, candidate, TRIAL_VERIFIED, &trial, err));
	TRY(evaluator_run(&search->evaluator, err));
	search->bits = trial->result.bits;
	trial->result.bits = NULL;
	if (!search->bits)
		error_set(err, STATUS_FAILED,
			"--bits: %s: the reference %s {%s} has no digests (%s)",
			search->pool.problem->text, trial->result.family,
			trial->result.configuration,
			trial->result.outcome != OUTCOME_OK
				? outcome_name(trial->result.outcome)
				: "its probe inputs do not fit into memory, or its results may "
				  "vary between runs");
	evaluator_free_trial(&search->evaluator, trial);
	return search->bits ? STATUS_OK : STATUS_FAILED;
}

static size_t reference_candidate(const struct search *search, const struct tuned_entry *entry)
{
	ptrdiff_t found;

	if (!entry)
		return search_default_candidate(&search->pool, 0);
	found = candidates_find_named(
		&search->pool, entry->winner.result.family, &entry->winner.configuration);
	return found < 0 ? SIZE_MAX : (size_t)found;
}

static enum status want_reference(struct search *search, struct error *err)
{
	const struct tune_run *run = search->run;
	const struct tuned_entry *entry = tuned_find_problem(
		run->options->bits->reference, search->pool.problem, run->options->objective);
	size_t candidate;

	if (entry && entry->winner.result.bits) {
		search->bits = output_digest_copy(entry->winner.result.bits);
		return STATUS_OK;
	}
	candidate = reference_candidate(search, entry);
	if (candidate != SIZE_MAX)
		return verify_reference(search, candidate, err);
	error_set(err, STATUS_BAD_INPUT,
		"--bits: %s: the reference configuration is not among the candidates",
		search->pool.problem->text);
	return error_hint(err, "compare with a tuned file that has digests: --bits same:FILE");
}

enum status bits_want(struct search *search, size_t *members, size_t *count, struct error *err)
{
	const struct bits_rule *rule = search->options->bits;

	*count = 0;
	if (!rule)
		return STATUS_OK;
	if (rule->reference)
		TRY(want_reference(search, err));
	else
		search->bits = output_digest_copy(rule->class.bits);
	for (size_t i = 0; i < rule->class.member_count; i++) {
		const struct shared_member *member = &rule->class.members[i];
		const ptrdiff_t found =
			candidates_find(&search->pool, member->family, member->configuration);

		if (found >= 0)
			members[(*count)++] = (size_t)found;
	}
	search->evaluator.bits = search->bits;
	return STATUS_OK;
}

static bool differ_in_these_alone(const struct candidates *pool, size_t a, size_t b)
{
	const struct family_candidates *family = candidates_family_of(pool, a);
	const struct parameter *parameters = family->bound->family->parameters;
	const choice *of_a = candidates_configuration(pool, a);
	const choice *of_b = candidates_configuration(pool, b);

	if (pool->family_of[a] != pool->family_of[b])
		return false;
	for (size_t i = 0; i < family->parameter_count; i++)
		if (of_a[i] != of_b[i] && !parameters[i].bitwise_neutral)
			return false;
	return true;
}

bool bits_known(const struct search *search, size_t candidate, struct result *result)
{
	const struct evaluated_list *list = &search->evaluated;
	struct candidate described;

	for (size_t i = 0; search->bits && i < list->count; i++) {
		const struct evaluated *other = &list->items[i];

		if (other->result.outcome != OUTCOME_OTHER_BITS ||
			!differ_in_these_alone(&search->pool, other->candidate, candidate))
			continue;
		described = candidates_at(&search->pool, candidate);
		*result = (struct result){0};
		if (candidate_describe(&described, result, NULL) != STATUS_OK)
			return false;
		result->outcome = OUTCOME_OTHER_BITS;
		result->detail = string_format("the same as {%s}, because the other parameters "
					       "that differ are marked \"bitwise_neutral\"",
			other->result.configuration);
		return true;
	}
	return false;
}

char *bits_contradiction(const struct search *search)
{
	const struct evaluated *items = search->evaluated.items;
	const size_t count =
		search->evaluated.count < COMPARED_MAX ? search->evaluated.count : COMPARED_MAX;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i && items[i].result.bits; k++)
			if (items[k].result.bits &&
				differ_in_these_alone(
					&search->pool, items[i].candidate, items[k].candidate) &&
				output_digest_compare(items[i].result.bits, items[k].result.bits,
					NULL) == DIGEST_OTHER)
				return string_format(
					"%s: {%s} and {%s} differ only in parameters marked "
					"\"bitwise_neutral\", but their outputs are not bitwise "
					"equal",
					items[i].result.family, items[k].result.configuration,
					items[i].result.configuration);
	return NULL;
}

struct tuned_bits *bits_of_entry(const struct search *search)
{
	const struct bits_rule *rule = search->options->bits;
	const struct shared_choice *class;
	struct tuned_bits *bits;

	if (!rule)
		return NULL;
	bits = memory_zeroed(1, sizeof(*bits));
	*bits = (struct tuned_bits){
		.rule = string_copy(rule->name), .loss = NAN, .mean_loss = NAN, .worst_loss = NAN};
	class = &rule->class;
	if (class->bits) {
		bits->loss = class->us[search->number] / class->best_us[search->number] - 1;
		bits->mean_loss = class->mean_loss;
		bits->worst_loss = class->largest_loss;
	}
	return bits;
}

char *bits_words(const struct tuned_entry *entry)
{
	struct text words = {0};

	if (!entry->bits || !entry->winner.result.bits)
		return NULL;
	text_appendf(&words, "%s: the same bits on %u inputs", entry->bits->rule,
		entry->winner.result.bits->inputs);
	if (entry->bits->loss >= 0)
		text_appendf(
			&words, ", %.1f%% slower than the free choice", 100 * entry->bits->loss);
	return text_detach(&words);
}
