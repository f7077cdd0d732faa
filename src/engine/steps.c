/* SPDX-License-Identifier: MIT */
#include "engine/steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "family/catalogue.h"

static double row_time(const struct json_at *row)
{
	struct json_at time;
	double median = INFINITY;

	if (json_find(row, "time_us", &time))
		json_member_double(&time, "median", &median, NULL);
	return median;
}

/* Whether a row ("winner" or one of "families") can serve the step; it is chosen then. */
static bool take_row(const struct steps_source *source, struct bound_family *bound, size_t step,
	const struct json_at *row, struct error *reason)
{
	struct json_at configuration;
	const char *family;

	return json_member_string(row, "family", &family, reason) == STATUS_OK &&
	       json_member(row, "configuration", &configuration, reason) == STATUS_OK &&
	       composite_choose_json(
		       source->catalogue, bound, step, family, &configuration, reason) == STATUS_OK;
}

/* The fastest row that is slower than `after`; false: none. */
static bool next_row(const struct json_at *rows, double after, struct json_at *next)
{
	double best = INFINITY;

	for (size_t i = 0; i < json_count(rows); i++) {
		struct json_at row = json_item(rows, i);
		double time = row_time(&row);

		if (time > after && time < best) {
			best = time;
			*next = row;
		}
	}
	return isfinite(best);
}

static bool take_entry(const struct steps_source *source, struct bound_family *bound, size_t step,
	const struct json_at *entry, struct error *reason)
{
	struct json_at winner, rows, row;
	double time = 0;

	if (json_find(entry, "winner", &winner) && take_row(source, bound, step, &winner, reason))
		return true;
	if (!json_find(entry, "families", &rows))
		return false;
	while (next_row(&rows, time, &row)) {
		time = row_time(&row);
		if (take_row(source, bound, step, &row, reason))
			return true;
	}
	return false;
}

static bool is_measured(const struct json_at *entry)
{
	const char *timing = "";

	json_member_string(entry, "timing", &timing, NULL);
	return strcmp(timing, "measured") == 0;
}

bool steps_choose(const struct steps_source *source, struct bound_family *bound, size_t step,
	struct text *why)
{
	const struct problem *problem = bound->composite->steps[step].problem;
	const char *operation = operation_name(problem->operation);
	struct json *asked = problem_to_json(problem);
	struct error reason = {0};
	struct json_at entry;
	bool known = source->tuned && tuned_find_json(source->tuned, operation, asked, &entry) &&
		     (!source->measured || is_measured(&entry));
	bool chosen = known && take_entry(source, bound, step, &entry, &reason);

	json_free(asked);
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

enum status steps_to_json(const struct bound_family *bound, struct json **steps, struct error *err)
{
	const struct composite *composite = bound->composite;
	struct json *list = json_new_array();

	for (size_t i = 0; i < composite->step_count; i++) {
		const struct composite_step *step = &composite->steps[i];
		struct json *json = json_new_object();
		struct build build = {0};

		json_put_string(json, "operation", operation_name(step->problem->operation));
		json_put(json, "problem", problem_to_json(step->problem));
		json_put_string(json, "family", family_name(step->candidate.bound->family));
		json_put(json, "configuration",
			configuration_to_json(step->candidate.bound, step->candidate.choices));
		json_push(list, json);
		if (candidate_build(step->candidate.bound, step->slots, &build, err) != STATUS_OK) {
			json_free(list);
			return STATUS_FAILED;
		}
		json_put_string(json, "kernel_hash", build.kernel_hash);
		build_release(&build);
	}
	*steps = list;
	return STATUS_OK;
}
