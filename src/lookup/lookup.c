/* SPDX-License-Identifier: MIT */
#include "lookup/lookup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "learn/prediction.h"
#include "engine/candidates.h"
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
	struct name_set seen; /* names of all rows so far, legal or not */
	struct text reasons;  /* why rows are of no use, a few of them */
	size_t reason_count;
};

const char *const lookup_grade_names[] = {
	[LOOKUP_EXACT] = "exact",
	[LOOKUP_NEAREST] = "nearest by model",
	[LOOKUP_REFUSED] = "refused",
	NULL,
};

/* ---- answers as JSON ---- */
static const struct record_member from_members[] = {
	RECORD_VALUE(struct tuned_entry, operation, "operation", "what is computed"),
	RECORD_NAMED_VALUES(struct tuned_entry, problem, "problem", "that it was tuned for"),
	RECORD_ENUM(struct tuned_entry, predicted, timing_names, "timing", "of the entry"),
	RECORD_VALUE(struct tuned_entry, run, "run", "id of the run that found it",
		.flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct tuned_entry, from_record, from_members, .name = "from", .open = true);

#define ANSWER(field, help, nothing, ...)                                                          \
	RECORD_VALUE(struct lookup_answer, field, #field, help, .flags = RECORD_OPTIONAL,          \
		.absent = nothing, .low = 0, .high = INFINITY, ##__VA_ARGS__)
static const struct record_member answer_members[] = {
	RECORD_VALUE(struct lookup_answer, operation, "operation", "that was asked for"),
	RECORD_NAMED_VALUES(struct lookup_answer, problem, "problem", "that was asked for"),
	RECORD_ENUM(struct lookup_answer, grade, lookup_grade_names, "grade", "of the answer"),
	RECORD_VALUE(struct lookup_answer, why, "why", "a line for a person"),
	RECORD_POINTER(struct lookup_answer, from, from_record, "from",
		"the entry that it was tuned in", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(struct lookup_answer, result, tuned_row_record, "result",
		"as a winner of tiletune.tuned/1, with launches for the problem asked for; unless "
		"exact, time_us is predicted",
		.flags = RECORD_OPTIONAL),
	ANSWER(predicted_us, "of the result", INFINITY),
	RECORD_NESTED(struct lookup_answer, basis, prediction_basis_record, "prediction",
		"where predicted_us comes from"),
	ANSWER(default_us, "of the family's default", INFINITY),
	ANSWER(model_best_us, "of all configurations", INFINITY),
	ANSWER(expected_loss_ratio, "predicted over the least of those, minus 1", NAN),
	ANSWER(considered, "distinct configurations in the file", -1),
	ANSWER(legal, "of those, for this problem", -1),
};
#undef ANSWER

static enum status answer_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct lookup_answer *answer = value;
	const bool refused = answer->grade == LOOKUP_REFUSED;

	(void)context;
	return refused == !answer->result && refused == !answer->from
		       ? STATUS_OK
		       : json_error(at, err, "\"result\" and \"from\" unless it is refused");
}

RECORD_DEFINE(struct lookup_answer, lookup_answer_record, answer_members, .name = "answer",
	.open = true, .check = answer_check);

static const struct record_member document_members[] = {
	RECORD_CONSTANT("format", "tiletune.lookup/1", "what this is"),
	RECORD_VALUE(struct lookup_document, file, "file", "the tuned file"),
	RECORD_NESTED(struct lookup_document, device, gpu_model_record, "device",
		"that the problems are to run on"),
	RECORD_RECORDS(struct lookup_document, answers, answer_count, lookup_answer_record,
		"answers", "one per problem"),
};
RECORD_DEFINE(struct lookup_document, lookup_document_record, document_members, .name = "lookup",
	.open = true);

/* ---- options ---- */
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
	CLEANUP(memory_free) char *configuration = tuned_row_configuration(row);

	return string_format("%s{%s}", row->family, configuration);
}

static void option_release(struct option *option)
{
	candidate_release(&option->candidate);
	free(option->name);
}

/* What the family's default would take; infinite where it has no legal configuration or is
 * composite (its steps are the choice). */
static enum status predict_default(
	struct bound_family *bound, double *predicted_us, struct error *err)
{
	struct candidate candidate = {.bound = bound, .prediction.time_us = INFINITY};
	bool found = false;

	if (!bound->composite &&
		configuration_default(bound, candidate.choices, &found, NULL) == STATUS_OK && found)
		TRY(predict_candidate(&candidate, err));
	*predicted_us = candidate.prediction.time_us;
	return STATUS_OK;
}

static enum status default_of(const struct lookup *lookup, struct bound_family *bound,
	double *default_us, struct error *err)
{
	for (size_t i = 0; i < lookup->count; i++)
		if (lookup->options[i].candidate.bound->family == bound->family) {
			*default_us = lookup->options[i].default_us;
			return STATUS_OK;
		}
	return predict_default(bound, default_us, err);
}

/* A row that cannot be had for this problem is passed over, with its reason; an expression that
 * fails over one that can is an error. */
static enum status consider(struct lookup *lookup, const struct tuned_entry *entry,
	const struct tuned_row *row, struct error *err)
{
	const struct lookup_request *request = lookup->request;
	CLEANUP(option_release) struct option option = {.entry = entry, .name = row_name(row)};
	const size_t seen_count = lookup->seen.count;
	struct error reason = {0};

	name_set_add(&lookup->seen, option.name, strlen(option.name));
	if (lookup->seen.count == seen_count)
		return STATUS_OK;
	if (row_candidate_refitted(request->catalogue, lookup->problem, request->device, row,
		    &option.candidate, &option.refitted, &reason) != STATUS_OK) {
		add_reason(lookup, reason.message);
		return STATUS_OK;
	}
	TRY(predict_candidate(&option.candidate, err));
	TRY(default_of(lookup, option.candidate.bound, &option.default_us, err));
	ARRAY_GROW(lookup->options, lookup->count, lookup->capacity);
	lookup->options[lookup->count++] = option;
	option = (struct option){0};
	return STATUS_OK;
}

static enum status consider_rows(struct lookup *lookup, const struct tuned_entry *entry,
	const struct tuned_row *rows, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++)
		TRY(consider(lookup, entry, &rows[i], err));
	return STATUS_OK;
}

static enum status consider_all(struct lookup *lookup, struct error *err)
{
	const struct tuned *tuned = lookup->request->tuned;
	const char *asked = lookup->problem->operation->name;

	for (size_t i = 0; i < tuned->entry_count; i++) {
		const struct tuned_entry *entry = &tuned->entries[i];

		if (strcmp(entry->operation, asked) != 0 ||
			entry->objective != lookup->request->objective)
			continue;
		TRY(consider(lookup, entry, &entry->winner, err));
		TRY(consider_rows(lookup, entry, entry->families, entry->family_count, err));
		TRY(consider_rows(lookup, entry, entry->tied, entry->tied_count, err));
	}
	return STATUS_OK;
}

/* The option as a row of a tuned file, with the model's time. */
static enum status option_result(
	const struct option *option, struct lookup_answer *answer, struct error *err)
{
	CLEANUP(evaluation_release) struct evaluation evaluation = {0};

	TRY(candidate_describe(&option->candidate, &evaluation, err));
	answer->result = memory_zeroed(1, sizeof(*answer->result));
	return row_describe(&option->candidate, &evaluation, answer->result, err);
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
	CLEANUP(candidate_release) struct candidate candidate = {0};
	struct error reason = {0};
	bool is_older;

	if (!entry)
		return STATUS_OK;
	if (row_candidate(request->catalogue, problem, request->device, &entry->winner, &candidate,
		    &reason) != STATUS_OK) {
		add_reason(lookup, reason.message);
		return STATUS_OK;
	}
	answer->grade = LOOKUP_EXACT;
	answer->expected_loss_ratio = 0;
	answer->result = memory_zeroed(1, sizeof(*answer->result));
	*answer->result = tuned_row_copy(&entry->winner);
	TRY(row_renew(&candidate, answer->result, &is_older, err));
	answer->why = string_format("the file has this problem, %s%s%s",
		timing_names[entry->predicted],
		entry->unfinished ? ", by a search that was stopped" : "",
		is_older ? " with other sources than lie here (`tiletune check` compares)" : "");
	answer->from = entry;
	TRY(predict_candidate(&candidate, err));
	answer->predicted_us = candidate.prediction.time_us;
	answer->basis = prediction_basis(candidate.bound);
	return predict_default(candidate.bound, &answer->default_us, err);
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
	CLEANUP(memory_free) char *there = NULL;

	TRY(consider_all(lookup, err));
	if (lookup->seen.count) {
		answer->considered = (int64_t)lookup->seen.count;
		answer->legal = (int64_t)lookup->count;
	}
	best = best_option(lookup);
	if (!best) {
		answer->why = string_format("%s%s%s",
			!lookup->seen.count ? "the file has nothing for this operation"
			: lookup->count     ? "all that is tuned is predicted slower than the "
					      "family's default"
					    : "nothing that is tuned is legal here",
			lookup->count || !lookup->reasons.length ? "" : ": ",
			lookup->count ? "" : text_string(&lookup->reasons));
		return STATUS_OK;
	}
	TRY(option_result(best, answer, err));
	there = named_values_text(&best->entry->problem);
	answer->grade = LOOKUP_NEAREST;
	answer->why = string_format("predicted best here of %zu tuned configurations that are "
				    "legal; tuned for %s%s",
		lookup->count, there,
		best->refitted ? "; its launch arguments are the model's choice for this problem"
			       : "");
	answer->from = best->entry;
	answer->predicted_us = best->candidate.prediction.time_us;
	answer->basis = prediction_basis(best->candidate.bound);
	answer->default_us = best->default_us;
	return STATUS_OK;
}

/* The shortest predicted time, over every family that applies. */
static enum status find_best(
	const struct lookup *lookup, struct lookup_answer *answer, struct error *err)
{
	const struct candidates_options options = {.score = true, .tuned = lookup->request->tuned};
	CLEANUP(candidates_release) struct candidates pool = {0};

	TRY(candidates_open(lookup->request->catalogue, lookup->problem, lookup->request->device,
		&options, &pool, err));
	for (size_t i = 0; i < pool.count; i++)
		answer->model_best_us = fmin(answer->model_best_us, pool.predicted_us[i]);
	return STATUS_OK;
}

static void lookup_release(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->count; i++)
		option_release(&lookup->options[i]);
	free(lookup->options);
	name_set_release(&lookup->seen);
	text_release(&lookup->reasons);
}

static enum status find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err)
{
	CLEANUP(lookup_release) struct lookup lookup = {.request = request, .problem = problem};

	TRY(find_exact(&lookup, answer, err));
	if (answer->grade == LOOKUP_EXACT)
		return STATUS_OK;
	TRY(find_nearest(&lookup, answer, err));
	if (answer->grade != LOOKUP_NEAREST)
		return STATUS_OK;
	if (!request->without_best)
		TRY(find_best(&lookup, answer, err));
	answer->expected_loss_ratio =
		answer->predicted_us / fmin(fmin(answer->model_best_us, answer->default_us),
					       answer->predicted_us) -
		1;
	return STATUS_OK;
}

enum status lookup_find(const struct lookup_request *request, const struct problem *problem,
	struct lookup_answer *answer, struct error *err)
{
	enum status status;

	*answer = (struct lookup_answer){.operation = problem->operation->name,
		.problem = problem_named_values(problem),
		.grade = LOOKUP_REFUSED,
		.predicted_us = INFINITY,
		.default_us = INFINITY,
		.model_best_us = INFINITY,
		.expected_loss_ratio = NAN,
		.considered = -1,
		.legal = -1};
	status = find(request, problem, answer, err);
	if (status != STATUS_OK)
		lookup_answer_release(answer);
	return status;
}

void lookup_answer_release(struct lookup_answer *answer)
{
	answer->from = NULL; /* of the file */
	record_release(&lookup_answer_record, answer);
}
