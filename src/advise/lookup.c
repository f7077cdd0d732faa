/* SPDX-License-Identifier: MIT */
#include "advise/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "record/record_write.h"
#include "engine/candidates.h"
#include "engine/row.h"

/* A family that rows of the file name. */
struct row_family {
	const char *name; /* borrowed from a row */
	const struct family *family;
	struct bound_family *bound; /* bound once for all rows; NULL: the family does not apply */
	char *why_not;              /* why it does not apply, or NULL */
	double default_us;          /* NaN: not known yet */
};

/* A configuration of the file during the lookup. */
struct lookup_option {
	struct candidate candidate; /* empty before one is found */
	const struct tuned_entry *entry;
	double default_us;
	bool retuned_arguments;
};

struct lookup {
	const struct lookup_request *request;
	const struct problem *problem;
	struct row_family *families;
	size_t family_count, family_capacity;
	struct lookup_option best; /* the best option so far */
	size_t legal;              /* legal configurations so far */
	struct name_set seen;      /* names of all rows so far, legal or not */
	struct text reasons;       /* why rows do not apply; only the first few */
	size_t reason_count;
};

const char *const lookup_grade_names[] = {
	[LOOKUP_EXACT] = "exact",
	[LOOKUP_NEAREST] = "nearest by model",
	[LOOKUP_ASSUMED] = "assumed",
	[LOOKUP_REFUSED] = "refused",
	NULL,
};

static void add_reason(struct lookup *lookup, const char *reason)
{
	const size_t reasons_shown = 3;

	if (strstr(text_string(&lookup->reasons), reason))
		return;
	if (lookup->reason_count++ < reasons_shown)
		text_appendf(&lookup->reasons, "%s%s", lookup->reasons.length ? "; " : "", reason);
}

/* Predicts infinity if the default configuration is not legal. */
static enum status predict_default(
	struct bound_family *bound, double *predicted_us, struct error *err)
{
	struct candidate candidate = {.bound = bound, .prediction.time_us = INFINITY};
	bool found = false;

	if (configuration_default(bound, candidate.choices, &found, NULL) == STATUS_OK && found)
		TRY(predict_candidate(&candidate, err));
	*predicted_us = candidate.prediction.time_us;
	return STATUS_OK;
}

static struct row_family *find_family(struct lookup *lookup, const char *name)
{
	const struct lookup_request *request = lookup->request;
	struct row_family *found;
	struct error reason = {0};
	enum status status;

	for (size_t i = 0; i < lookup->family_count; i++)
		if (strcmp(lookup->families[i].name, name) == 0)
			return &lookup->families[i];
	ARRAY_GROW(lookup->families, lookup->family_count, lookup->family_capacity);
	found = &lookup->families[lookup->family_count++];
	*found = (struct row_family){.name = name, .default_us = NAN};
	status = catalogue_family(
		request->catalogue, lookup->problem->operation, name, &found->family, &reason);
	if (status == STATUS_OK)
		status = family_bind_applicable(
			found->family, lookup->problem, request->device, &found->bound, &reason);
	if (status != STATUS_OK)
		found->why_not = string_copy(reason.message);
	return found;
}

/* Returns whether the problem differs from the entry only in the key of its class. */
static bool is_of_class(const struct problem *problem, const struct tuned_entry *entry)
{
	const char *key = entry->bits ? strchr(entry->bits->rule, '=') : NULL;
	CLEANUP(problem_cleanup) struct problem *there = NULL;

	return key && strcmp(entry->operation, problem->operation->name) == 0 &&
	       problem_from_named_values(problem->operation, &entry->problem, &there, NULL) ==
		       STATUS_OK &&
	       problem_differs_in(problem, there, key + 1);
}

/* Returns whether the entry has the digests of the problem's class. */
static bool has_bits_of_class(const struct lookup_request *request, const struct tuned_entry *entry,
	const struct problem *problem)
{
	bool has = entry->winner.result.bits != NULL;
	size_t members = 0;

	for (size_t i = 0; has && i < request->tuned->entry_count; i++) {
		const struct tuned_entry *other = &request->tuned->entries[i];

		if (other->objective != request->objective || !is_of_class(problem, other))
			continue;
		members++;
		has = other->winner.result.bits &&
		      output_digest_compare(entry->winner.result.bits, other->winner.result.bits,
			      NULL) == DIGEST_SAME;
	}
	return has && members > 0;
}

static bool has_model(const struct family *family)
{
	for (size_t i = 0; i < family->launch_count; i++)
		if (family->launches[i].work.has_model)
			return true;
	return false;
}

/* Returns whether the option is no slower than the untuned default. Without a model predictions
 * cannot tell. */
static bool is_eligible(const struct lookup_option *option)
{
	const struct candidate *candidate = &option->candidate;

	return isfinite(candidate->prediction.time_us) &&
	       (candidate->prediction.time_us <= option->default_us ||
		       !has_model(candidate->bound->family));
}

/* Prefers the configuration that runs as it was measured. */
static double ranked_us(const struct lookup_option *option)
{
	return option->candidate.prediction.time_us * (option->retuned_arguments ? 1.001 : 1);
}

/* Skips a row that is not legal for this problem, and stores the reason. */
static enum status consider(struct lookup *lookup, const struct tuned_entry *entry,
	const struct tuned_row *row, struct error *err)
{
	const struct lookup_request *request = lookup->request;
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(row);
	CLEANUP(memory_free)
	char *name = string_format("%s{%s}", row->result.family, configuration);
	struct lookup_option option = {.entry = entry};
	/* other launch arguments could change the bits */
	bool *retuned_arguments = request->bits ? NULL : &option.retuned_arguments;
	struct row_family *family;
	struct error reason = {0};
	enum status status;

	if (name_set_has(&lookup->seen, name, strlen(name)))
		return STATUS_OK;
	name_set_add(&lookup->seen, name, strlen(name));
	family = find_family(lookup, row->result.family);
	if (family->why_not) {
		add_reason(lookup, family->why_not);
		return STATUS_OK;
	}
	status = row_candidate_bound(
		family->bound, row, &option.candidate, retuned_arguments, &reason);
	if (status != STATUS_OK) {
		add_reason(lookup, reason.message);
		return STATUS_OK;
	}
	lookup->legal++;
	if (isnan(family->default_us))
		TRY(predict_default(option.candidate.bound, &family->default_us, err));
	option.default_us = request->bits ? INFINITY : family->default_us;
	/* results/tools/lookup_quality.py measures the quality of this choice */
	if (is_eligible(&option) &&
		(!lookup->best.candidate.bound || ranked_us(&option) < ranked_us(&lookup->best)))
		lookup->best = option;
	return STATUS_OK;
}

static enum status consider_entry(
	struct lookup *lookup, const struct tuned_entry *entry, struct error *err)
{
	TRY(consider(lookup, entry, &entry->winner, err));
	for (size_t i = 0; i < entry->family_count; i++)
		TRY(consider(lookup, entry, &entry->families[i], err));
	for (size_t i = 0; i < entry->tied_count; i++) {
		struct tuned_row tied = tuned_entry_tied(entry, &entry->tied[i]);
		const enum status status = consider(lookup, entry, &tied, err);

		named_values_release(&tied.configuration);
		TRY(status);
	}
	return STATUS_OK;
}

static enum status consider_all(struct lookup *lookup, struct error *err)
{
	const struct tuned *tuned = lookup->request->tuned;
	const char *asked = lookup->problem->operation->name;

	for (size_t i = 0; i < tuned->entry_count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (strcmp(entry->operation, asked) != 0 ||
			entry->objective != lookup->request->objective ||
			(lookup->request->bits && !is_of_class(lookup->problem, entry)))
			continue;
		TRY(consider_entry(lookup, entry, err));
	}
	return STATUS_OK;
}

static enum status find_exact(
	struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct lookup_request *request = lookup->request;
	const struct problem *problem = lookup->problem;
	const struct tuned_entry *entry =
		tuned_find_problem(request->tuned, problem, request->objective);
	CLEANUP(candidate_release) struct candidate candidate = {0};
	struct error reason = {0};
	bool is_older;

	if (!entry)
		return STATUS_OK;
	if (row_candidate(request->catalogue, problem, request->device, &entry->winner, &candidate,
		    NULL, &reason) != STATUS_OK) {
		add_reason(lookup, reason.message);
		return STATUS_OK;
	}
	if (request->bits && !has_bits_of_class(request, entry, problem))
		return STATUS_OK;
	answer->grade = LOOKUP_EXACT;
	answer->expected_loss_ratio = 0;
	answer->result = tuned_row_copy(&entry->winner);
	TRY(row_rebuild(&candidate, &answer->result, &is_older, err));
	answer->why = string_format("the file has this problem, %s: %.2f us%s%s%s",
		timing_names[entry->predicted], entry->winner.result.time.median,
		entry->predicted ? " by physics" : "",
		entry->unfinished ? ", from a search that was stopped early" : "",
		is_older ? "; the sources changed since then (compare with `tiletune check`)" : "");
	answer->from = entry;
	answer->predicted_us = candidate.prediction.time_us;
	answer->basis = prediction_basis(candidate.bound);
	return predict_default(candidate.bound, &answer->default_us, err);
}

/* Adds ", which differs in dtype" if the problems differ in more than sizes. */
static char *described(const struct problem *asked, const struct tuned_entry *entry)
{
	const struct operation *operation = asked->operation;
	CLEANUP(problem_cleanup) struct problem *there = NULL;
	CLEANUP(text_release) struct text differs = {0};

	if (problem_from_named_values(operation, &entry->problem, &there, NULL) != STATUS_OK)
		return named_values_text(&entry->problem);
	for (size_t i = 0; i < operation->key_count; i++)
		if (operation->keys[i].values && !value_equal(asked->values[i], there->values[i]))
			text_append_listed(&differs, operation->keys[i].name);
	return string_format("%s%s%s", there->title, differs.length ? ", which differs in " : "",
		text_string(&differs));
}

static enum status find_nearest(
	struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct lookup_option *best = &lookup->best;
	CLEANUP(memory_free) char *there = NULL;

	TRY(consider_all(lookup, err));
	if (lookup->seen.count) {
		answer->considered = (int64_t)lookup->seen.count;
		answer->legal = (int64_t)lookup->legal;
	}
	if (!best->candidate.bound) {
		answer->why = string_format("%s%s%s",
			!lookup->seen.count && lookup->request->bits
				? "the file has no entry for it that was tuned with --bits "
				  "invariant=KEY"
			: !lookup->seen.count ? "the file has no entry of this operation"
			: lookup->legal       ? "all tuned configurations are predicted to be "
						"slower than the family's default"
					      : "no tuned configuration is legal here",
			lookup->legal || !lookup->reasons.length ? "" : ": ",
			lookup->legal ? "" : text_string(&lookup->reasons));
		return STATUS_OK;
	}
	TRY(row_predict(&best->candidate, &answer->result, err));
	there = described(lookup->problem, best->entry);
	answer->grade = LOOKUP_NEAREST;
	answer->why = string_format("the best by prediction of the %zu tuned configurations that "
				    "are legal here; tuned for %s%s",
		lookup->legal, there,
		best->retuned_arguments ? "; the model chose its launch arguments for this problem"
					: "");
	if (lookup->request->bits) {
		CLEANUP(memory_free) char *why = answer->why;

		answer->grade = lookup->request->assume ? LOOKUP_ASSUMED : LOOKUP_REFUSED;
		answer->why =
			string_format("whether it keeps the bits of %s here was not measured; %s",
				best->entry->bits->rule, why);
	}
	answer->from = best->entry;
	answer->predicted_us = best->candidate.prediction.time_us;
	answer->basis = prediction_basis(best->candidate.bound);
	answer->default_us = best->default_us;
	return STATUS_OK;
}

static enum status find_best(
	const struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct candidates_options options = {.score = true};
	CLEANUP(candidates_release) struct candidates pool = {0};

	TRY(candidates_open(lookup->request->catalogue, lookup->problem, lookup->request->device,
		&options, &pool, err));
	answer->model_best_us = INFINITY;
	for (size_t i = 0; i < pool.count; i++)
		answer->model_best_us = fmin(answer->model_best_us, pool.predicted_us[i]);
	return STATUS_OK;
}

static void lookup_release(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->family_count; i++) {
		bound_family_free(lookup->families[i].bound);
		free(lookup->families[i].why_not);
	}
	free(lookup->families);
	name_set_release(&lookup->seen);
	text_release(&lookup->reasons);
}

enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err)
{
	CLEANUP(lookup_release) struct lookup lookup = {.request = request, .problem = problem};

	*answer = (struct lookup_answer){.grade = LOOKUP_REFUSED,
		.predicted_us = INFINITY,
		.default_us = INFINITY,
		.model_best_us = INFINITY,
		.expected_loss_ratio = NAN,
		.considered = -1,
		.legal = -1};
	TRY(find_exact(&lookup, answer, err));
	if (answer->grade == LOOKUP_EXACT)
		return STATUS_OK;
	TRY(find_nearest(&lookup, answer, err));
	if (answer->grade == LOOKUP_REFUSED)
		return STATUS_OK;
	if (!request->without_best)
		TRY(find_best(&lookup, answer, err));
	if (answer->predicted_us > 0)
		answer->expected_loss_ratio =
			answer->predicted_us / fmin(fmin(answer->model_best_us, answer->default_us),
						       answer->predicted_us) -
			1;
	return STATUS_OK;
}

void lookup_answer_release(struct lookup_answer *answer)
{
	tuned_row_release(&answer->result);
	free(answer->why);
	*answer = (struct lookup_answer){0};
}

static void put_time(struct json *json, const char *name, double time_us)
{
	if (isfinite(time_us))
		json_put_double(json, name, time_us);
}

static struct json *why_json(const struct lookup_answer *answer)
{
	struct json *why = json_new_object(), *from = json_new_object();

	json_put_string(why, "grade", lookup_grade_names[answer->grade]);
	json_put_string(why, "text", answer->why);
	json_put(from, "problem", named_values_to_json(&answer->from->problem));
	json_put_string(from, "timing", timing_names[answer->from->predicted]);
	json_put_string(from, "run", answer->from->run);
	json_put(why, "from", from);
	json_put(why, "prediction", record_to_json(&prediction_basis_record, &answer->basis));
	put_time(why, "predicted_us", answer->predicted_us);
	put_time(why, "default_us", answer->default_us);
	put_time(why, "model_best_us", answer->model_best_us);
	json_put_double(why, "expected_loss_ratio", answer->expected_loss_ratio);
	if (answer->considered >= 0) {
		json_put_int(why, "considered", answer->considered);
		json_put_int(why, "legal", answer->legal);
	}
	return why;
}

struct tuned_entry lookup_entry(const struct lookup_answer *answer, const struct problem *problem)
{
	const struct tuned_entry *from = answer->from;
	struct tuned_entry entry = {.operation = string_copy(problem->operation->name),
		.problem = problem_named_values(problem),
		.objective = from->objective,
		.predicted = from->predicted || answer->grade != LOOKUP_EXACT,
		.unfinished = from->unfinished && answer->grade == LOOKUP_EXACT,
		.run = string_copy(from->run),
		.winner = tuned_row_copy(&answer->result),
		.families = memory_zeroed(1, sizeof(*entry.families))};

	entry.winner.why = why_json(answer);
	return entry;
}
