/* SPDX-License-Identifier: MIT
 *
 * Suites: what the problems that were tuned first spare those that follow, on a card of which
 * nothing is shipped. A suite is what a journal has of an operation, each problem with all families
 * that were measured. By lot, some problems are searched by physics; what these searches measured
 * is learned from; others are searched with that, and by physics.
 */
#ifndef BENCH_SUITES_H
#define BENCH_SUITES_H

#include "base/file.h"
#include "base/random.h"
#include "bench/bench.h"
#include "bench/left_out.h"

enum {
	SUITE_FIRST = 10, /* problems that are learned from */
	SUITE_NEXT = 10,
	SUITE_EVALUATIONS = 150, /* of a search */
	SUITE_SHARES = 3,
};
static const double suite_shares[SUITE_SHARES] = {0.95, 0.97, 0.99}; /* of the best recorded */

/* A problem with all that was recorded of it. */
struct suite_problem {
	const struct journal_problem *recorded;
	struct recorded_space *spaces; /* of families */
	struct search_family *families;
	struct search_view view;
	double *time_us, best_us;
	size_t asked[SUITE_EVALUATIONS], asked_count; /* by physics */
};

/* Sums over searches. */
struct suite_counts {
	double physics[SUITE_SHARES], learned[SUITE_SHARES]; /* evaluations to the shares */
	double searches;
};

static void suite_problem_close(struct suite_problem *problem)
{
	for (size_t f = 0; f < problem->view.family_count; f++)
		space_close(&problem->spaces[f]);
	free(problem->spaces);
	free(problem->families);
	free((void *)(uintptr_t)problem->view.family);
	free(problem->time_us);
}

/* What is predicted of all families, NULL: one is not there today; caller frees. */
static double *suite_predict(const struct teacher *teacher, const struct suite_problem *problem,
	const struct learned *learned)
{
	double *all = memory_zeroed(problem->view.count + 1, sizeof(*all));

	for (size_t f = 0; f < problem->view.family_count; f++) {
		const struct recorded_space *space = &problem->spaces[f];
		CLEANUP(memory_free) double *predicted_us = NULL;

		if (teacher_predict(teacher, problem->recorded, problem->recorded->families[f].name,
			    learned, space, &predicted_us, NULL) != STATUS_OK) {
			free(all);
			return NULL;
		}
		memcpy(all + problem->families[f].first, predicted_us,
			space->view.count * sizeof(*all));
	}
	return all;
}

static size_t suite_search(
	const struct suite_problem *problem, const double *predicted_us, size_t *asked)
{
	const struct strategy *strategy = strategy_find("guided");
	struct search_view view = problem->view;
	size_t count = 0;
	void *state;

	view.predicted_us = predicted_us;
	state = strategy->open(&view);
	while (count < SUITE_EVALUATIONS && strategy->ask(state, &asked[count]) == ASK_CANDIDATE) {
		strategy->tell(state, asked[count], problem->time_us[asked[count]]);
		count++;
	}
	strategy->close(state);
	return count;
}

/* False: it is none to search. */
static bool suite_problem_open(const struct teacher *teacher,
	const struct journal_problem *recorded, struct suite_problem *problem)
{
	const size_t family_count = recorded->family_count;
	CLEANUP(memory_free) double *physics_us = NULL;
	uint32_t *family;
	size_t count = 0;

	*problem = (struct suite_problem){.recorded = recorded,
		.spaces = memory_zeroed(family_count + 1, sizeof(*problem->spaces)),
		.families = memory_zeroed(family_count + 1, sizeof(*problem->families)),
		.best_us = INFINITY};
	for (size_t f = 0; f < family_count; f++) {
		struct recorded_space *space = &problem->spaces[f];

		space_open(recorded, recorded->families[f].name, space);
		problem->families[f] = space->family;
		problem->families[f].first = count;
		count += space->view.count;
		problem->best_us = fmin(problem->best_us, space->best_us);
	}
	family = memory_zeroed(count + 1, sizeof(*family));
	problem->time_us = memory_zeroed(count + 1, sizeof(double));
	problem->view = (struct search_view){.count = count,
		.family = family,
		.family_count = family_count,
		.families = problem->families,
		.seed = 1,
		.budget = SUITE_EVALUATIONS};
	for (size_t f = 0, i = 0; f < family_count; f++)
		for (size_t k = 0; k < problem->spaces[f].view.count; k++, i++) {
			family[i] = (uint32_t)f;
			problem->time_us[i] = problem->spaces[f].time_us[k];
		}
	if (count < RECORDED_SMALLEST || !isfinite(problem->best_us))
		return false;
	physics_us = suite_predict(teacher, problem, NULL);
	if (physics_us)
		problem->asked_count = suite_search(problem, physics_us, problem->asked);
	return physics_us;
}

static void suite_learn(struct training *training, const struct suite_problem *problem)
{
	struct error err = {0};

	for (size_t f = 0; f < problem->view.family_count; f++) {
		const struct search_family *family = &problem->families[f];
		struct timings timings =
			timings_of(problem->recorded->operation, problem->recorded->problem,
				problem->recorded->families[f].name, SUITE_EVALUATIONS);

		for (size_t i = 0; i < problem->asked_count; i++) {
			const size_t asked = problem->asked[i];

			if (problem->view.family[asked] != f || !isfinite(problem->time_us[asked]))
				continue;
			timings.configurations[timings.count] =
				string_copy(problem->spaces[f].texts[asked - family->first]);
			timings.times_us[timings.count++] = problem->time_us[asked];
		}
		expect(training_add(training, &timings, &err), &err);
		record_release(&timings_record, &timings);
	}
}

/* Adds how many evaluations it took; one more than all where they did not do. */
static void suite_count(
	const struct suite_problem *problem, const size_t *asked, size_t count, double *evaluations)
{
	for (size_t k = 0; k < SUITE_SHARES; k++) {
		size_t i = 0;

		while (i < count && problem->time_us[asked[i]] * suite_shares[k] > problem->best_us)
			i++;
		evaluations[k] += (double)i + 1;
	}
}

static void suite_split(const struct teacher *teacher, struct suite_problem *const *problems,
	size_t count, struct suite_counts *counts)
{
	CLEANUP(training_release)
	struct training training = {.catalogue = &teacher->catalogue, .device = teacher->device};
	CLEANUP(learned_release) struct learned learned = {0};

	for (size_t i = 0; i < SUITE_FIRST; i++)
		suite_learn(&training, problems[i]);
	training_fit(&training, false, &learned.layers[1]);
	for (size_t i = SUITE_FIRST; i < count && i < SUITE_FIRST + SUITE_NEXT; i++) {
		const struct suite_problem *problem = problems[i];
		CLEANUP(memory_free)
		double *predicted_us = suite_predict(teacher, problem, &learned);
		size_t asked[SUITE_EVALUATIONS], asked_count;

		asked_count = suite_search(problem, predicted_us, asked);
		suite_count(problem, problem->asked, problem->asked_count, counts->physics);
		suite_count(problem, asked, asked_count, counts->learned);
		counts->searches++;
	}
}

static void suites_head(struct text *table, size_t splits)
{
	text_appendf(table,
		"Evaluations to shares of the best recorded: by physics, with what ten other "
		"problems of the suite taught (%d evaluations each, by physics), and the ratio. "
		"Ten "
		"problems a split, mean of %zu splits.\n\n| suite |",
		SUITE_EVALUATIONS, splits);
	for (size_t k = 0; k < SUITE_SHARES; k++)
		text_appendf(table, " %.2f: physics | learned | ratio |", suite_shares[k]);
	text_appendf(table, "\n|---|---|---|---|---|---|---|---|---|---|\n");
}

static void suite_row(struct text *table, const char *name, const struct suite_counts *counts)
{
	CLEANUP(text_release) struct text row = {0};

	text_appendf(&row, "| %s |", name);
	for (size_t k = 0; k < SUITE_SHARES; k++)
		text_appendf(&row, " %.1f | %.1f | %.2f |", counts->physics[k] / counts->searches,
			counts->learned[k] / counts->searches,
			counts->learned[k] / counts->physics[k]);
	text_append_char(&row, '\n');
	fputs(text_string(&row), stdout);
	fflush(stdout);
	text_append(table, text_string(&row));
}

/* One journal's problems of an operation; false: too few. */
static bool suite_run(const struct teacher *teacher, const struct journal_record *record,
	const char *operation, size_t splits, struct suite_counts *counts, size_t *problem_count)
{
	struct suite_problem **problems = NULL;
	struct random_state random;
	size_t count = 0, capacity = 0;

	for (size_t r = 0; r < record->run_count; r++)
		for (size_t p = 0; p < record->runs[r].problem_count; p++) {
			struct suite_problem *problem;

			if (strcmp(record->runs[r].problems[p].operation, operation) != 0)
				continue;
			problem = memory_zeroed(1, sizeof(*problem));
			ARRAY_GROW(problems, count, capacity);
			problems[count++] = problem;
			if (suite_problem_open(teacher, &record->runs[r].problems[p], problem))
				continue;
			suite_problem_close(problem);
			free(problem);
			count--;
		}
	random_seed(&random, 1);
	for (size_t split = 0; count >= SUITE_FIRST + SUITE_NEXT && split < splits; split++) {
		for (size_t i = count - 1; i > 0; i--) {
			const size_t other = random_below(&random, i + 1);
			struct suite_problem *kept = problems[i];

			problems[i] = problems[other];
			problems[other] = kept;
		}
		suite_split(teacher, problems, count, counts);
	}
	*problem_count = count;
	for (size_t i = 0; i < count; i++) {
		suite_problem_close(problems[i]);
		free(problems[i]);
	}
	free(problems);
	return counts->searches > 0;
}

/* All suites of the teacher's records, and their mean. */
static void suites_run(
	const struct teacher *teacher, char *const *paths, size_t splits, struct text *table)
{
	const struct catalogue *catalogue = &teacher->catalogue;
	struct suite_counts all = {0};

	for (size_t i = 0; i < teacher->record_count; i++)
		for (size_t o = 0; o < catalogue->operation_count; o++) {
			const char *operation = catalogue->operations[o]->name;
			CLEANUP(text_release) struct text name = {0};
			struct suite_counts counts = {0};
			size_t problems;

			if (!suite_run(teacher, &teacher->records[i], operation, splits, &counts,
				    &problems))
				continue;
			text_appendf(&name, "%.*s, %zu problems of %s",
				(int)strcspn(path_name(paths[i]), "."), path_name(paths[i]),
				problems, operation);
			suite_row(table, text_string(&name), &counts);
			for (size_t k = 0; k < SUITE_SHARES; k++) {
				all.physics[k] += counts.physics[k] / counts.searches;
				all.learned[k] += counts.learned[k] / counts.searches;
			}
			all.searches++;
		}
	if (all.searches > 0)
		suite_row(table, "mean", &all);
}

#endif
