/* SPDX-License-Identifier: MIT */
#include "tune/bits.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "candidate/configuration.h"
#include "engine/row.h"

enum {
	COMPARED_MAX = 1000 /* candidates that are compared with each other */
};

/* ---- the rule ---- */
static enum status open_class(
	const struct session *session, const char *key, struct bits_rule *rule, struct error *err)
{
	const struct problem_list *problems = session->problems;
	bool differs = false;

	if (session->objective != OBJECTIVE_TIME || session->context->l2_warm)
		return error_set(err, STATUS_BAD_INPUT,
			"--bits invariant=%s: expected --objective time, found %s", key,
			session->context->l2_warm ? "--l2 warm" : "energy");
	for (size_t i = 1; i < problems->count; i++)
		differs |= !problem_differs_in(problems->items[0], problems->items[i], key);
	if (!differs && problems->count > 1)
		return shared_choose_class(session, &rule->class, err);
	error_set(err, STATUS_BAD_INPUT,
		"--bits invariant=%s: expected several problems that differ in %s alone, found %s",
		key, key, differs ? "others" : "one");
	return error_hint(err, "-p %s=1,16,128,...", key);
}

enum status bits_rule_open(
	const char *text, const struct session *session, struct bits_rule *rule, struct error *err)
{
	static const char same_file[] = "same:", invariant[] = "invariant=";

	rule->name = string_starts_with(text, invariant) ? text : "same";
	if (!device_measures(session->context->device))
		return error_set(err, STATUS_BAD_INPUT,
			"--bits: expected a device that measures, found %s, whose times are "
			"predicted",
			device_identity(session->context->device)->name);
	if (string_starts_with(text, invariant))
		return open_class(session, text + strlen(invariant), rule, err);
	if (string_starts_with(text, same_file)) {
		TRY(tuned_load(text + strlen(same_file), &rule->file, err));
		tuned_complete(&rule->file, &session->context->catalogue);
		rule->reference = &rule->file;
		return STATUS_OK;
	}
	rule->reference = session->tuned;
	return strcmp(text, "same") == 0
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT,
				 "--bits: expected same, same:FILE or invariant=KEY, found \"%s\"",
				 text);
}

void bits_rule_release(struct bits_rule *rule)
{
	tuned_release(&rule->file);
	shared_choice_release(&rule->class);
}

/* ---- what is wanted ---- */
/* Verifies it for its digests. */
static enum status verify_reference(struct search *search, size_t candidate, struct error *err)
{
	struct trial *trial = NULL;

	TRY(search_add_trial(search, candidate, TRIAL_VERIFIED, &trial, err));
	TRY(evaluator_run(&search->evaluator, err));
	search->bits = trial->evaluation.bits;
	trial->evaluation.bits = NULL;
	if (!search->bits)
		error_set(err, STATUS_FAILED,
			"--bits: %s: expected digests of the reference %s {%s}, found none (%s)",
			search->pool.problem->text, trial->evaluation.family,
			trial->evaluation.configuration,
			trial->evaluation.outcome != OUTCOME_OK
				? outcome_name(trial->evaluation.outcome)
				: "its made inputs do not fit into memory, or it may vary");
	evaluator_free_trial(&search->evaluator, trial);
	return search->bits ? STATUS_OK : STATUS_FAILED;
}

static size_t reference_candidate(const struct search *search, const struct tuned_entry *entry)
{
	ptrdiff_t found;

	if (!entry)
		return search_default_candidate(&search->pool, 0);
	found = candidates_find_named(
		&search->pool, entry->winner.family, &entry->winner.configuration);
	return found < 0 ? SIZE_MAX : (size_t)found;
}

static enum status want_reference(struct search *search, struct error *err)
{
	const struct session *session = search->session;
	const struct tuned_entry *entry = tuned_find_problem(
		session->bits->reference, search->pool.problem, session->objective);
	size_t candidate;

	if (entry && entry->winner.bits) {
		search->bits = bits_copy(entry->winner.bits);
		return STATUS_OK;
	}
	candidate = reference_candidate(search, entry);
	if (candidate != SIZE_MAX)
		return verify_reference(search, candidate, err);
	error_set(err, STATUS_BAD_INPUT,
		"--bits: %s: expected the reference configuration among the candidates, found none",
		search->pool.problem->text);
	return error_hint(err, "--bits same:FILE names a tuned file that has digests");
}

enum status bits_want(struct search *search, size_t *members, size_t *count, struct error *err)
{
	const struct bits_rule *rule = search->session->bits;

	*count = 0;
	if (!rule || search->session->queue->items[search->number].is_step)
		return STATUS_OK;
	if (rule->reference)
		TRY(want_reference(search, err));
	else
		search->bits = bits_copy(rule->class.bits);
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

/* ---- parameters that keep bits ---- */
/* Whether two candidates of a family differ in such parameters alone. */
static bool differ_in_these_alone(const struct candidates *pool, size_t a, size_t b)
{
	const struct family_candidates *family = candidates_family_of(pool, a);
	const struct parameter *parameters = family->bound->family->parameters;
	const choice *of_a = candidates_configuration(pool, a);
	const choice *of_b = candidates_configuration(pool, b);

	if (pool->family_of[a] != pool->family_of[b])
		return false;
	for (size_t i = 0; i < family->parameter_count; i++)
		if (of_a[i] != of_b[i] && !parameters[i].keeps_bits)
			return false;
	return true;
}

bool bits_known(const struct search *search, size_t candidate, struct evaluation *evaluation)
{
	const struct evaluated_list *list = &search->evaluated;
	struct candidate described;

	for (size_t i = 0; search->bits && i < list->count; i++) {
		const struct evaluated *other = &list->items[i];

		if (other->evaluation.outcome != OUTCOME_OTHER_BITS ||
			!differ_in_these_alone(&search->pool, other->candidate, candidate))
			continue;
		described = candidates_at(&search->pool, candidate);
		*evaluation = (struct evaluation){0};
		if (candidate_describe(&described, evaluation, NULL) != STATUS_OK)
			return false;
		evaluation->outcome = OUTCOME_OTHER_BITS;
		evaluation->detail =
			string_format("as {%s}: the family says that other parameters keep them",
				other->evaluation.configuration);
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
		for (size_t k = 0; k < i && items[i].evaluation.bits; k++)
			if (items[k].evaluation.bits &&
				differ_in_these_alone(
					&search->pool, items[i].candidate, items[k].candidate) &&
				bits_compare(items[i].evaluation.bits, items[k].evaluation.bits,
					NULL) == BITS_OTHER)
				return string_format(
					"%s: expected the same bits of {%s} and {%s}, which differ "
					"in parameters that \"keeps_bits\" names, found others",
					items[i].evaluation.family,
					items[k].evaluation.configuration,
					items[i].evaluation.configuration);
	return NULL;
}

/* ---- the entry ---- */
struct tuned_bits *bits_of_entry(const struct session *session, const struct problem *problem)
{
	const struct bits_rule *rule = session->bits;
	struct tuned_bits *bits = NULL;

	if (!rule)
		return NULL;
	bits = memory_zeroed(1, sizeof(*bits));
	*bits = (struct tuned_bits){
		.rule = string_copy(rule->name), .loss = NAN, .mean_loss = NAN, .worst_loss = NAN};
	for (size_t i = 0; rule->class.bits && i < session->problems->count; i++)
		if (strcmp(session->problems->items[i]->text, problem->text) == 0) {
			bits->loss = rule->class.us[i] / rule->class.best_us[i] - 1;
			bits->mean_loss = rule->class.mean_loss;
			bits->worst_loss = rule->class.largest_loss;
		}
	return bits;
}
