/* SPDX-License-Identifier: MIT */
#include "lookup/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/record_write.h"
#include "learn/prediction.h"
#include "engine/scoring.h"
#include "engine/row.h"

/* A configuration of the file on its way through the lookup. */
struct option {
	struct candidate candidate;      /* for the problem asked for; owns its bound family */
	const struct tuned_entry *entry; /* that it was tuned in */
	char *name;                      /* "family{configuration}" */
	double default_us;
	bool refitted; /* its launch arguments are the model's for this problem */
};

struct lookup {
	const struct lookup_request *request;
	const struct problem *problem;
	struct option *options;
	size_t count, capacity;
	char **seen; /* names of all rows so far, legal or not */
	size_t seen_count, seen_capacity;
	struct text reasons; /* why rows are of no use, a few of them */
	size_t reason_count;
};

const char *lookup_grade_name(enum lookup_grade grade)
{
	static const char *const names[] = {
		[LOOKUP_EXACT] = "exact",
		[LOOKUP_NEAREST] = "nearest by model",
		[LOOKUP_REFUSED] = "refused",
	};

	return names[grade];
}

static void add_reason(struct lookup *lookup, const char *reason)
{
	const size_t reasons_shown = 3;

	if (strstr(text_string(&lookup->reasons), reason))
		return;
	if (lookup->reason_count++ < reasons_shown)
		text_appendf(&lookup->reasons, "%s%s", lookup->reasons.length ? "; " : "", reason);
}

/* "family{configuration}": rows of different entries are often the same. */
static char *row_name(const struct tuned_row *row)
{
	char *configuration = tuned_row_configuration(row);
	char *name = string_format("%s{%s}", row->family, configuration);

	free(configuration);
	return name;
}

static bool is_new(struct lookup *lookup, const char *name)
{
	for (size_t i = 0; i < lookup->seen_count; i++)
		if (strcmp(lookup->seen[i], name) == 0)
			return false;
	ARRAY_GROW(lookup->seen, lookup->seen_count, lookup->seen_capacity);
	lookup->seen[lookup->seen_count++] = string_copy(name);
	return true;
}

/* What the family's default would take; infinite where it has no legal configuration or is
 * composite (its steps are the choice). */
static enum status predict_default(const struct lookup *lookup, struct bound_family *bound,
	double *predicted_us, struct error *err)
{
	struct candidate candidate = {.bound = bound, .prediction.time_us = INFINITY};
	bool found = false;
	enum status status = STATUS_OK;

	if (!bound->composite &&
		configuration_default(bound, candidate.choices, &found, NULL) == STATUS_OK && found)
		status = predict_candidate(&candidate, lookup->request->corrections, err);
	*predicted_us = candidate.prediction.time_us;
	return status;
}

static enum status default_of(const struct lookup *lookup, struct bound_family *bound,
	double *default_us, struct error *err)
{
	for (size_t i = 0; i < lookup->count; i++)
		if (lookup->options[i].candidate.bound->family == bound->family) {
			*default_us = lookup->options[i].default_us;
			return STATUS_OK;
		}
	return predict_default(lookup, bound, default_us, err);
}

/* A row that cannot be had for this problem is passed over, with its reason; an expression that
 * fails over one that can is an error. */
static enum status consider(struct lookup *lookup, const struct tuned_entry *entry,
	const struct tuned_row *row, struct error *err)
{
	const struct lookup_request *request = lookup->request;
	struct option option = {.entry = entry};
	struct error reason = {0};
	enum status status;

	option.name = row_name(row);
	if (!is_new(lookup, option.name)) {
		free(option.name);
		return STATUS_OK;
	}
	if (row_candidate_refitted(request->catalogue, lookup->problem, request->device, row,
		    &option.candidate, &option.refitted, &reason) != STATUS_OK) {
		add_reason(lookup, reason.message);
		free(option.name);
		return STATUS_OK;
	}
	status = predict_candidate(&option.candidate, request->corrections, err);
	if (status == STATUS_OK)
		status = default_of(lookup, option.candidate.bound, &option.default_us, err);
	if (status != STATUS_OK) {
		candidate_release(&option.candidate);
		free(option.name);
		return status;
	}
	ARRAY_GROW(lookup->options, lookup->count, lookup->capacity);
	lookup->options[lookup->count++] = option;
	return STATUS_OK;
}

static enum status consider_rows(struct lookup *lookup, const struct tuned_entry *entry,
	const struct tuned_row *rows, size_t count, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < count && status == STATUS_OK; i++)
		status = consider(lookup, entry, &rows[i], err);
	return status;
}

static enum status consider_all(struct lookup *lookup, struct error *err)
{
	const struct tuned *tuned = lookup->request->tuned;
	const char *asked = operation_name(lookup->problem->operation);
	enum status status = STATUS_OK;

	for (size_t i = 0; i < tuned->entry_count && status == STATUS_OK; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (strcmp(entry->operation, asked) != 0 ||
			entry->objective != lookup->request->objective)
			continue;
		status = consider(lookup, entry, &entry->winner, err);
		if (status == STATUS_OK)
			status = consider_rows(
				lookup, entry, entry->families, entry->family_count, err);
		if (status == STATUS_OK)
			status = consider_rows(lookup, entry, entry->tied, entry->tied_count, err);
	}
	return status;
}

/* The option as a row of a tuned file, with the model's time. */
static enum status option_result(
	const struct option *option, struct lookup_answer *answer, struct error *err)
{
	struct evaluation evaluation = {0};
	enum status status = candidate_describe(&option->candidate, &evaluation, err);

	answer->result = memory_zeroed(1, sizeof(*answer->result));
	if (status == STATUS_OK)
		status = row_describe(&option->candidate, &evaluation, answer->result, err);
	evaluation_release(&evaluation);
	return status;
}

/* The file's own entry for the problem, if its winner still is what it was; else the grade stays.
 */
static enum status find_exact(
	struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct lookup_request *request = lookup->request;
	const struct problem *problem = lookup->problem;
	const struct tuned_entry *entry =
		tuned_find_problem(request->tuned, problem, request->objective);
	struct candidate candidate;
	struct error reason = {0};
	enum status status;

	if (!entry)
		return STATUS_OK;
	if (row_candidate(request->catalogue, problem, request->device, &entry->winner, &candidate,
		    &reason) != STATUS_OK) {
		add_reason(lookup, reason.message);
		return STATUS_OK;
	}
	answer->grade = LOOKUP_EXACT;
	answer->why =
		string_format("the file has this problem, %s", timing_names[entry->predicted]);
	answer->result = memory_zeroed(1, sizeof(*answer->result));
	*answer->result = tuned_row_copy(&entry->winner);
	answer->from = entry;
	status = predict_candidate(&candidate, request->corrections, err);
	answer->predicted_us = candidate.prediction.time_us;
	if (status == STATUS_OK)
		status = predict_default(lookup, candidate.bound, &answer->default_us, err);
	candidate_release(&candidate);
	return status;
}

/* Nothing that is predicted slower than the default of an untuned family. */
static bool is_eligible(const struct option *option)
{
	return isfinite(option->candidate.prediction.time_us) &&
	       option->candidate.prediction.time_us <= option->default_us;
}

/* Of equals the one that runs as it was measured. */
static double ranked_us(const struct option *option)
{
	return option->candidate.prediction.time_us * (option->refitted ? 1.001 : 1);
}

/* How far this goes: tests/tools/lookup_quality.c leaves each problem of a tuned file out and looks
 * it up among the others; figures in templates/gemm/README.md. */
static const struct option *best_option(const struct lookup *lookup)
{
	const struct option *best = NULL;

	for (size_t i = 0; i < lookup->count; i++) {
		const struct option *option = &lookup->options[i];

		if (is_eligible(option) && (!best || ranked_us(option) < ranked_us(best)))
			best = option;
	}
	return best;
}

static enum status find_nearest(
	struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct option *best;
	char *there;
	enum status status;

	status = consider_all(lookup, err);
	if (status != STATUS_OK)
		return status;
	answer->considered = lookup->seen_count;
	answer->legal = lookup->count;
	best = best_option(lookup);
	if (!best) {
		answer->why = string_format("%s%s%s",
			!lookup->seen_count ? "the file has nothing for this operation"
			: lookup->count     ? "all that is tuned is predicted slower than the "
					      "family's default"
					    : "nothing that is tuned is legal here",
			lookup->count || !lookup->reasons.length ? "" : ": ",
			lookup->count ? "" : text_string(&lookup->reasons));
		return STATUS_OK;
	}
	status = option_result(best, answer, err);
	if (status != STATUS_OK)
		return status;
	there = named_values_text(&best->entry->problem);
	answer->grade = LOOKUP_NEAREST;
	answer->why = string_format("predicted best here of %zu tuned configurations that are "
				    "legal; tuned for %s%s",
		lookup->count, there,
		best->refitted ? "; its launch arguments are the model's choice for this problem"
			       : "");
	answer->from = best->entry;
	answer->predicted_us = best->candidate.prediction.time_us;
	answer->default_us = best->default_us;
	free(there);
	return STATUS_OK;
}

/* The shortest predicted time, over every family that applies. */
static enum status find_best(
	const struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct candidates_options options = {.score = true, .tuned = lookup->request->tuned};
	struct candidates pool;
	enum status status = candidates_open(lookup->request->catalogue, lookup->problem,
		lookup->request->device, &options, &pool, err);

	if (status != STATUS_OK)
		return status;
	status = score_least_us(&pool, lookup->request->corrections, &answer->model_best_us, err);
	candidates_release(&pool);
	return status;
}

static void lookup_release(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->count; i++) {
		candidate_release(&lookup->options[i].candidate);
		free(lookup->options[i].name);
	}
	for (size_t i = 0; i < lookup->seen_count; i++)
		free(lookup->seen[i]);
	free(lookup->options);
	free(lookup->seen);
	text_release(&lookup->reasons);
}

enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err)
{
	struct lookup lookup = {.request = request, .problem = problem};
	enum status status;

	*answer = (struct lookup_answer){.grade = LOOKUP_REFUSED,
		.predicted_us = INFINITY,
		.default_us = INFINITY,
		.model_best_us = INFINITY};
	status = find_exact(&lookup, answer, err);
	if (status == STATUS_OK && answer->grade != LOOKUP_EXACT)
		status = find_nearest(&lookup, answer, err);
	if (status == STATUS_OK && answer->grade == LOOKUP_NEAREST) {
		if (!request->without_best)
			status = find_best(&lookup, answer, err);
		answer->expected_loss_ratio =
			answer->predicted_us / fmin(fmin(answer->model_best_us, answer->default_us),
						       answer->predicted_us) -
			1;
	}
	lookup_release(&lookup);
	if (status != STATUS_OK)
		lookup_answer_release(answer);
	return status;
}

void lookup_answer_release(struct lookup_answer *answer)
{
	free(answer->why);
	if (answer->result)
		tuned_row_release(answer->result);
	free(answer->result);
	*answer = (struct lookup_answer){0};
}

static struct json *from_json(const struct tuned_entry *entry)
{
	struct json *json = json_new_object();

	json_put_string(json, "operation", entry->operation);
	json_put(json, "problem", named_values_to_json(&entry->problem));
	json_put_string(json, "timing", timing_names[entry->predicted]);
	json_put_string(json, "run", entry->run);
	return json;
}

static void put_finite(struct json *json, const char *key, double value)
{
	if (isfinite(value))
		json_put_double(json, key, value);
}

struct json *lookup_answer_to_json(
	const struct lookup_answer *answer, const struct problem *problem)
{
	struct json *json = json_new_object();

	json_put_string(json, "operation", operation_name(problem->operation));
	json_put(json, "problem", problem_to_json(problem));
	json_put_string(json, "grade", lookup_grade_name(answer->grade));
	json_put_string(json, "why", answer->why);
	if (answer->from)
		json_put(json, "from", from_json(answer->from));
	if (answer->result)
		json_put(json, "result", record_to_json(&tuned_row_record, answer->result));
	put_finite(json, "predicted_us", answer->predicted_us);
	put_finite(json, "default_us", answer->default_us);
	put_finite(json, "model_best_us", answer->model_best_us);
	if (answer->grade != LOOKUP_REFUSED)
		json_put_double(json, "expected_loss_ratio", answer->expected_loss_ratio);
	if (answer->considered) {
		json_put_int(json, "considered", (int64_t)answer->considered);
		json_put_int(json, "legal", (int64_t)answer->legal);
	}
	return json;
}
