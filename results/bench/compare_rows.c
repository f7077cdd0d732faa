/* SPDX-License-Identifier: MIT
 *
 * Compares rows of tuned files, for one problem at a time. Each row is compiled, loaded several
 * times, compared with the reference, and timed in turn with the others in many short blocks.
 *
 *	compare_rows COMPARISONS.json [--device D] [--path DIR] [--cache-dir DIR] > RESULT.json
 *
 *	{"seconds": 0.5, "loads": 4, "comparisons": [{"operation": "gemm", "problem": {...},
 *	  "rows": [{"name": "fresh", "family": "gemm/wgmma", "configuration": {...}}, ...]}]}
 *
 * The result has the ratio of each row's time to the first row's with its 99% interval, and the
 * median of each load, because two loads of one binary differ in speed. A comparison that fails has
 * an "error" in place of rows. SIGTERM ends the run early and prints the results so far.
 */
#include <signal.h>

#include "cli/common.h"
#include "gpu/bench_test.h"
#include "engine/contenders.h"
#include "engine/row.h"
#include "problem_json.h"

#include "record/record_read.h"
#include "record/record_write.h"
#include "base/statistics.h"

enum {
	ROWS_MAX = 8,
	LOADS_MAX = CONTENDER_LOADS_MAX,
	BLOCKS_MIN = 20,
	BLOCKS_MAX = 300,
};

struct row {
	const char *name;
	struct candidate candidate;
	struct contender *contender; /* only the first load is compiled and verified */
	char *wrong;                 /* reason why the row has no time, or NULL */
};

struct comparison {
	struct context *context;
	struct evaluator evaluator;
	double seconds;
	int64_t loads;
	struct row rows[ROWS_MAX];
	struct contender contenders[ROWS_MAX];
	size_t count;
};

static enum status json_member_int(
	const struct json_at *object, const char *key, int64_t *value, struct error *err)
{
	struct json_at at;
	const enum status status = json_member(object, key, &at, err);

	return status == STATUS_OK ? json_get_int(&at, value, err) : status;
}

static enum status json_member_double(
	const struct json_at *object, const char *key, double *value, struct error *err)
{
	struct json_at at;
	const enum status status = json_member(object, key, &at, err);

	return status == STATUS_OK ? json_get_double(&at, value, err) : status;
}

static const struct record_member choice_members[] = {
	RECORD_VALUE(struct tuned_row, result.family, "family"),
	RECORD_NAMED_VALUES(struct tuned_row, configuration, "configuration"),
};
static RECORD_DEFINE(struct tuned_row, choice_record, choice_members, .open = true);

static enum status row_candidate_from_json(const struct catalogue *catalogue,
	const struct problem *problem, const struct device_spec *device, const struct json_at *at,
	struct candidate *candidate, struct error *err)
{
	struct tuned_row row = {0};
	enum status status = record_from_json(&choice_record, at, &row, NULL, err);

	if (status == STATUS_OK)
		status = row_candidate(catalogue, problem, device, &row, candidate, NULL, err);
	tuned_row_release(&row);
	return status;
}

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

/* Stores the reason why a row has no time; only the first reason is kept. */
static void give_up(struct row *row, const char *why)
{
	if (!row->wrong)
		row->wrong = string_copy(why);
}

/* Stores the reasons of rows that have failed so far. */
static void take_failed(struct comparison *comparison)
{
	for (size_t i = 0; i < comparison->count; i++)
		for (int64_t k = 0; k < comparison->loads; k++) {
			const struct trial *trial = comparison->rows[i].contender->loads[k];

			if (trial && trial->stage == TRIAL_DONE)
				give_up(&comparison->rows[i],
					trial->result.detail ? trial->result.detail
							     : outcome_name(trial->result.outcome));
		}
}

/* Loads rows in turn, so that no row gets all early loads. The first load of each row is
 * verified. */
static enum status load(struct comparison *comparison, struct error *err)
{
	struct evaluator *evaluator = &comparison->evaluator;
	enum status status = evaluator_run(evaluator, err);

	take_failed(comparison);
	for (int64_t k = 0; k < comparison->loads; k++)
		for (size_t i = 0; i < comparison->count && status == STATUS_OK; i++) {
			struct row *row = &comparison->rows[k % 2 ? comparison->count - 1 - i : i];

			if (row->wrong)
				continue;
			if (k == 0) {
				row->contender->loads[0]->goal = TRIAL_VERIFIED;
				status = evaluator_submit(evaluator, row->contender->loads[0], err);
			} else {
				status = evaluator_add_job(evaluator,
					row->contender->loads[0]->problem,
					&row->contender->loads[0]->job, &row->contender->loads[k],
					err);
			}
		}
	if (status == STATUS_OK)
		status = evaluator_run(evaluator, err);
	take_failed(comparison);
	return status;
}

static enum status sample(struct comparison *comparison, struct error *err)
{
	const struct timing_limits limits = {.seconds = comparison->seconds,
		.warm_up_rounds = 2,
		.first_look = BLOCKS_MIN,
		.last_look = BLOCKS_MAX};
	struct contender *contenders = comparison->contenders;
	enum status status;

	for (size_t i = 0; i < comparison->count; i++) {
		struct row *row = &comparison->rows[i];

		row->contender->load_count = row->wrong ? 0 : (size_t)comparison->loads;
	}
	status = contenders_time(
		&comparison->evaluator, contenders, comparison->count, &limits, err);
	for (size_t i = 0; i < comparison->count && status == STATUS_OK; i++)
		if (contenders[i].outcome != OUTCOME_OK)
			give_up(&comparison->rows[i], outcome_name(contenders[i].outcome));
	return status;
}

/* Writes the interval of the observed ratios. */
static struct json *ratio_json(const struct comparison *comparison, const struct row *row)
{
	const struct row *first = &comparison->rows[0];
	struct json *json = json_new_object();
	const struct interval estimate = round_times_ratio(
		contender_times(row->contender), contender_times(first->contender), CONFIDENCE_99);

	json_put_double(json, "value", estimate.value);
	json_put_double(json, "low", estimate.low);
	json_put_double(json, "high", estimate.high);
	return json;
}

static struct json *row_json(const struct comparison *comparison, const struct row *row)
{
	struct json *json = json_new_object(), *loads = json_new_array();

	json_put_string(json, "name", row->name);
	json_put_string(json, "family", row->contender->loads[0]->result.family);
	json_put_string(json, "configuration", row->contender->loads[0]->result.configuration);
	if (row->wrong) {
		json_put_string(json, "wrong", row->wrong);
		json_free(loads);
		return json;
	}
	for (size_t k = 0; k < row->contender->load_count; k++)
		json_push(loads, json_new_double(row->contender->load_us[k]));
	json_put_double(json, "time_us", round_times_median(contender_times(row->contender)));
	json_put_int(json, "blocks", (int64_t)row->contender->round_count);
	json_put(json, "loads_us", loads);
	if (!comparison->rows[0].wrong)
		json_put(json, "over_first", ratio_json(comparison, row));
	return json;
}

static void comparison_end(struct comparison *comparison)
{
	evaluator_release(&comparison->evaluator);
	for (size_t i = 0; i < comparison->count; i++) {
		struct row *row = &comparison->rows[i];

		candidate_release(&row->candidate);
		contender_release(row->contender);
		free(row->wrong);
	}
	comparison->count = 0;
}

static enum status open_rows(struct comparison *comparison, const struct json_at *at,
	const struct problem *problem, struct error *err)
{
	struct json_at rows;
	enum status status = json_member(at, "rows", &rows, err);

	for (size_t i = 0; status == STATUS_OK && i < json_count(&rows) && i < ROWS_MAX; i++) {
		struct json_at item = json_item(&rows, i);
		struct row *row = &comparison->rows[i];

		*row = (struct row){.contender = &comparison->contenders[i]};
		status = json_member_string(&item, "name", &row->name, err);
		if (status == STATUS_OK)
			status = row_candidate_from_json(&comparison->context->catalogue, problem,
				comparison->context->device->spec, &item, &row->candidate, err);
		comparison->count += status == STATUS_OK;
		if (status == STATUS_OK)
			status = evaluator_add(&comparison->evaluator, &row->candidate,
				TRIAL_COMPILED, &row->contender->loads[0], err);
	}
	return status;
}

/* Reads the problem of an entry; the caller frees it. */
static enum status read_problem(struct comparison *comparison, const struct json_at *at,
	struct problem **problem, struct error *err)
{
	const struct operation *operation;
	struct json_at member;
	const char *name;
	enum status status = json_member_string(at, "operation", &name, err);

	if (status == STATUS_OK)
		status =
			catalogue_operation(&comparison->context->catalogue, name, &operation, err);
	if (status == STATUS_OK)
		status = json_member(at, "problem", &member, err);
	return status == STATUS_OK ? problem_from_json(operation, &member, problem, err) : status;
}

static enum status run_comparison(struct comparison *comparison, const struct json_at *at,
	struct json *results, struct error *err)
{
	struct json *json = json_new_object(), *rows = json_new_array();
	struct problem *problem = NULL;
	struct error reason = {0};
	enum status status = read_problem(comparison, at, &problem, err);

	if (status != STATUS_OK) {
		json_free(rows);
		json_free(json);
		return status;
	}
	json_put_string(json, "operation", problem->operation->name);
	json_put_string(json, "problem", problem->text);
	comparison->evaluator =
		(struct evaluator){.context = comparison->context, .interrupted = &stopped};
	status = evaluator_prepare_problem(&comparison->evaluator, problem, &reason);
	if (status == STATUS_OK)
		status = open_rows(comparison, at, problem, &reason);
	if (status == STATUS_OK)
		status = load(comparison, &reason);
	if (status == STATUS_OK)
		status = sample(comparison, &reason);
	for (size_t i = 0; status == STATUS_OK && i < comparison->count; i++)
		json_push(rows, row_json(comparison, &comparison->rows[i]));
	if (status == STATUS_OK) {
		json_put(json, "rows", rows);
	} else {
		json_put_string(json, "error", reason.message);
		json_free(rows);
	}
	if (stopped)
		json_free(json); /* the run ended early */
	else
		json_push(results, json);
	comparison_end(comparison);
	problem_free(problem);
	if (status == STATUS_NO_DEVICE)
		*err = reason;
	return status == STATUS_NO_DEVICE ? status : STATUS_OK;
}

/* Submits all kernels, so that they compile in parallel. */
static enum status prefetch(
	struct comparison *comparison, const struct json_at *at, struct error *err)
{
	struct problem *problem = NULL;
	struct json_at rows;
	enum status status = read_problem(comparison, at, &problem, err);

	if (status == STATUS_OK)
		status = json_member(at, "rows", &rows, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&rows); i++) {
		struct json_at item = json_item(&rows, i);
		struct evaluator evaluator = {.context = comparison->context};
		struct candidate candidate;
		struct trial *trial;

		status = row_candidate_from_json(&comparison->context->catalogue, problem,
			comparison->context->device->spec, &item, &candidate, err);
		if (status != STATUS_OK)
			break;
		status = evaluator_add(&evaluator, &candidate, TRIAL_COMPILED, &trial, err);
		evaluator_release(&evaluator);
		candidate_release(&candidate);
	}
	problem_free(problem);
	return status;
}

static enum status run_all(
	struct comparison *comparison, const char *path, struct json *results, struct error *err)
{
	struct json *tree = NULL;
	struct json_at root, comparisons;
	enum status status = json_load(path, &tree, err);

	if (status != STATUS_OK)
		return status;
	root = json_root(tree, path);
	status = json_member_double(&root, "seconds", &comparison->seconds, err);
	if (status == STATUS_OK)
		status = json_member_int(&root, "loads", &comparison->loads, err);
	if (status == STATUS_OK && (comparison->loads < 1 || comparison->loads > LOADS_MAX))
		status = json_error(&root, err, "1 to %d loads", LOADS_MAX);
	if (status == STATUS_OK)
		status = json_member(&root, "comparisons", &comparisons, err);
	for (size_t i = 0; status == STATUS_OK && i < json_count(&comparisons); i++) {
		struct json_at item = json_item(&comparisons, i);

		/* the comparison itself reports any other error */
		if (prefetch(comparison, &item, err) == STATUS_NO_DEVICE)
			status = STATUS_NO_DEVICE;
	}
	for (size_t i = 0; status == STATUS_OK && i < json_count(&comparisons) && !stopped; i++) {
		struct json_at item = json_item(&comparisons, i);

		status = run_comparison(comparison, &item, results, err);
	}
	json_free(tree);
	return status;
}

int main(int argc, char **argv)
{
	static struct comparison comparison; /* static, because it is too large for the stack */
	struct bench_test test;
	struct context context = {0};
	struct error err = {0};
	struct json *json = json_new_object(), *results = json_new_array();
	char *printed;
	enum status status;

	bench_test_options(&test, argc, argv);
	if (test.file_count != 1) {
		fprintf(stderr, "usage: compare_rows COMPARISONS.json [--device D] [--path DIR]\n");
		return STATUS_BAD_INPUT;
	}
	signal(SIGTERM, stop);
	comparison.context = &context;
	status = context_open(&test.options, &context, &err);
	if (status != STATUS_OK) {
		fprintf(stderr, "compare_rows: %s\n", err.message);
		json_free(results);
	} else {
		struct run run = run_now(&context);

		status = run_all(&comparison, test.files[0], results, &err);
		if (status != STATUS_OK)
			fprintf(stderr, "compare_rows: %s\n", err.message);
		json_put_string(json, "format", "tiletune.compared_rows/1");
		json_put(json, "device",
			gpu_model_json(context.device->spec, context.device->spec->name));
		json_put(json, "run", record_to_json(&run_record, &run));
		run_release(&run);
		json_put(json, "comparisons", results);
		printed = json_print(json, true);
		puts(printed);
		free(printed);
	}
	context_release(&context);
	json_free(json);
	free(test.files);
	return (int)status;
}
