/* SPDX-License-Identifier: MIT
 *
 * Lookup against recorded timings, leaving one out: each problem of a tuned file is looked up in
 * the file without its entry, and what is found is compared with the entry's winner where the
 * journal timed both for this very problem. Ratios are the winner's time / that of what was found.
 *
 *	lookup_quality [-v] ROOT DEVICE TUNED.json JOURNAL...
 *
 * Both times are the sweep's (one configuration after the other), so that heat is the same for
 * both. What is found need not have been timed: such problems are counted, not guessed. -v prints
 * every problem.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "format/journal.h"
#include "advise/lookup.h"
#include "engine/context.h"

struct comparison {
	struct context context;
	struct tuned tuned;
	struct journal_record *records;
	size_t record_count;
	bool verbose;
	size_t problems, refused, compared;
	double sum, log_sum, worst;
	char *worst_problem;
};

/* What the sweep measured for a row, infinite if it did not. */
static double swept_us(
	const struct comparison *comparison, const char *problem, const struct tuned_row *row)
{
	char *configuration = named_values_text(&row->configuration);
	double time_us = INFINITY;

	for (size_t r = 0; r < comparison->record_count; r++)
		for (size_t i = 0; i < comparison->records[r].run_count; i++) {
			const struct journal_run *run = &comparison->records[r].runs[i];

			for (size_t p = 0; p < run->problem_count; p++) {
				const struct journal_problem *recorded = &run->problems[p];

				if (strcmp(recorded->problem, problem) != 0)
					continue;
				for (size_t k = 0; k < recorded->evaluation_count; k++) {
					const struct evaluation *evaluation =
						&recorded->evaluations[k];

					if (evaluation->outcome == OUTCOME_OK &&
						!evaluation->predicted &&
						strcmp(evaluation->family, row->family) == 0 &&
						strcmp(evaluation->configuration, configuration) ==
							0)
						time_us = fmin(time_us, evaluation->time.median);
				}
			}
		}
	free(configuration);
	return time_us;
}

/* The file without one of its entries. */
static struct tuned without_entry(const struct tuned *tuned, size_t left_out)
{
	struct tuned rest = {.path = string_copy(tuned->path)};

	record_copy(&tuned_record, tuned, &rest);
	tuned_entry_release(&rest.entries[left_out]);
	rest.entries[left_out] = rest.entries[--rest.entry_count];
	memset(&rest.entries[rest.entry_count], 0, sizeof(*rest.entries));
	return rest;
}

static void compare(struct comparison *comparison, const struct problem *problem,
	const struct tuned_entry *entry, const struct lookup_answer *answer)
{
	double best_us, found_us, ratio;

	comparison->problems++;
	if (answer->grade != LOOKUP_NEAREST) {
		comparison->refused++;
		return;
	}
	best_us = swept_us(comparison, problem->text, &entry->winner);
	found_us = swept_us(comparison, problem->text, &answer->result);
	ratio = best_us / found_us;
	if (comparison->verbose) {
		char *configuration = tuned_row_configuration(&answer->result);

		printf("%8.2f us, the winner %8.2f us, predicted %8.2f us  %s  {%s}\n", found_us,
			best_us, answer->predicted_us, problem->text, configuration);
		free(configuration);
	}
	if (!isfinite(best_us) || !isfinite(found_us))
		return;
	comparison->compared++;
	comparison->sum += ratio;
	comparison->log_sum += log(ratio);
	if (!comparison->worst_problem || ratio < comparison->worst) {
		comparison->worst = ratio;
		free(comparison->worst_problem);
		comparison->worst_problem = string_copy(problem->text);
	}
}

static enum status compare_entry(struct comparison *comparison, const struct tuned_entry *entry,
	size_t index, struct error *err)
{
	const struct operation *operation;
	struct problem *problem = NULL;
	struct lookup_answer answer;
	struct tuned rest;
	enum status status = catalogue_operation(
		&comparison->context.catalogue, entry->operation, &operation, err);

	if (status == STATUS_OK)
		status = problem_from_named_values(operation, &entry->problem, &problem, err);
	if (status != STATUS_OK)
		return status;
	rest = without_entry(&comparison->tuned, index);
	const struct lookup_request request = {
		.catalogue = &comparison->context.catalogue,
		.device = comparison->context.device->spec,
		.tuned = &rest,
		.without_best = true,
	};

	status = lookup_find(&request, problem, &answer, err);
	if (status == STATUS_OK)
		compare(comparison, problem, entry, &answer);
	lookup_answer_release(&answer);
	tuned_release(&rest);
	problem_free(problem);
	return status;
}

static enum status run(
	struct comparison *comparison, char **arguments, int count, struct error *err)
{
	const char *const roots[] = {arguments[0], NULL};
	const struct context_options options = {
		.roots = roots, .device = arguments[1], .no_cache = true};
	enum status status = context_open(&options, &comparison->context, err);

	if (status == STATUS_OK)
		status = tuned_load(arguments[2], &comparison->tuned, err);
	comparison->records = memory_zeroed((size_t)count, sizeof(*comparison->records));
	for (int i = 3; i < count && status == STATUS_OK; i++)
		status = journal_read(
			arguments[i], &comparison->records[comparison->record_count++], err);
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; status == STATUS_OK && i < comparison->tuned.entry_count; i++)
		status = compare_entry(comparison, &comparison->tuned.entries[i], i, err);
	if (status == STATUS_OK && comparison->compared)
		printf("%zu problems, %zu refused, %zu of what was found were timed: mean %.1f%% "
		       "of the winner's speed, geometric mean %.1f%%, worst %.1f%% (%s)\n",
			comparison->problems, comparison->refused, comparison->compared,
			100 * comparison->sum / (double)comparison->compared,
			100 * exp(comparison->log_sum / (double)comparison->compared),
			100 * comparison->worst, comparison->worst_problem);
	return status;
}

int main(int count, char **arguments)
{
	struct comparison comparison = {0};
	struct error err = {0};
	enum status status;
	int at = 1;

	if (at < count && strcmp(arguments[at], "-v") == 0) {
		comparison.verbose = true;
		at++;
	}
	if (count - at < 4) {
		fprintf(stderr, "usage: lookup_quality [-v] ROOT DEVICE TUNED.json JOURNAL...\n");
		return STATUS_BAD_INPUT;
	}
	status = run(&comparison, arguments + at, count - at, &err);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.message);
	for (size_t i = 0; i < comparison.record_count; i++)
		journal_record_release(&comparison.records[i]);
	free(comparison.records);
	free(comparison.worst_problem);
	tuned_release(&comparison.tuned);
	context_release(&comparison.context);
	return (int)status;
}
