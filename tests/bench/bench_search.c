/* layer: figure */
/* SPDX-License-Identifier: MIT
 *
 * How soon strategies find what is good, over recorded spaces: of each problem of a journal, a
 * Kernel Tuner cache file or T4 results (format/recorded.h), the mean over seeds of optimum / best
 * so far after some evaluations, and what an evaluation costs the strategy. Failures count as
 * evaluations, and nothing is predicted: strategies see parameters and times alone. One result is
 * known before the next question; with -b so many questions are open, and answers come in any
 *order.
 *
 *	bench_search [-n SEEDS] [-b OPEN] [-e EVALUATIONS] [-s STRATEGY]... [-f FIGURE.svg]
 *		[-r NAME=NUMBERS]... [FILE]...
 *
 * Without a FILE: the exhaustive journals of results/. The figure shows the means over all spaces,
 * and beside them what others reached after as many evaluations (-r).
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "figure/chart.h"
#include "format/journal.h"
#include "report/format.h"
#include "search/strategy.h"

enum {
	SEEDS = 50,
	SMALLEST = 100, /* recorded candidates of a space that is worth a search */
	STRATEGIES_MAX = 16,
	OTHERS_MAX = 4,
	OPEN_MAX = 64,
};
static const size_t after[] = {25, 50, 100, 200, 400};

/* One family of a problem with what was recorded of it. */
struct recorded_space {
	struct search_view view;
	struct search_family family;
	double *time_us, best_us;
};

/* The values of one parameter, in the order in which a space has them: numbers by size. */
struct values {
	char **texts;
	size_t count, capacity;
	bool are_numbers;
};

static bool number_of(const char *text, double *number)
{
	char *end;

	*number = strtod(text, &end);
	return end != text && !*end;
}

static int compare_values(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	double p, q;

	if (number_of(x, &p) && number_of(y, &q))
		return (p > q) - (p < q);
	return strcmp(x, y);
}

static size_t value_index(const struct values *values, const char *text)
{
	for (size_t i = 0; i < values->count; i++)
		if (strcmp(values->texts[i], text) == 0)
			return i;
	return values->count;
}

static size_t read_values(
	const struct journal_problem *problem, const char *family, struct values *values)
{
	size_t parameters = 0;

	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const char *list = problem->evaluations[i].configuration;
		struct pair pair;

		if (strcmp(problem->evaluations[i].family, family) != 0)
			continue;
		for (size_t p = 0; p < SPACE_PARAMETERS_MAX && pair_next(&list, &pair); p++) {
			char *text = string_copy_bytes(pair.value, (size_t)pair.value_length);

			if (p >= parameters)
				parameters = p + 1;
			if (value_index(&values[p], text) < values[p].count) {
				free(text);
				continue;
			}
			ARRAY_GROW(values[p].texts, values[p].count, values[p].capacity);
			values[p].texts[values[p].count++] = text;
		}
	}
	for (size_t p = 0; p < parameters; p++) {
		double number;

		qsort(values[p].texts, values[p].count, sizeof(char *), compare_values);
		values[p].are_numbers = true;
		for (size_t i = 0; i < values[p].count; i++)
			values[p].are_numbers &= number_of(values[p].texts[i], &number);
	}
	return parameters;
}

struct row {
	choice choices[SPACE_PARAMETERS_MAX];
	double time_us;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (size_t p = 0; p < SPACE_PARAMETERS_MAX; p++)
		if (x->choices[p] != y->choices[p])
			return x->choices[p] < y->choices[p] ? -1 : 1;
	return 0;
}

static struct row *read_rows(const struct journal_problem *problem, const char *family,
	const struct values *values, size_t *count)
{
	struct row *rows = memory_zeroed(problem->evaluation_count + 1, sizeof(*rows));
	size_t kept = 0;

	*count = 0;
	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const struct evaluation *evaluation = &problem->evaluations[i];
		const char *list = evaluation->configuration;
		struct row *row = &rows[*count];
		struct pair pair;

		if (strcmp(evaluation->family, family) != 0)
			continue;
		for (size_t p = 0; p < SPACE_PARAMETERS_MAX && pair_next(&list, &pair); p++) {
			CLEANUP(memory_free)
			char *text = string_copy_bytes(pair.value, (size_t)pair.value_length);

			row->choices[p] = (choice)value_index(&values[p], text);
		}
		row->time_us =
			evaluation->outcome == OUTCOME_OK ? evaluation->time.median : INFINITY;
		(*count)++;
	}
	qsort(rows, *count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < *count; i++) /* what was recorded twice counts once */
		if (!kept || compare_rows(&rows[kept - 1], &rows[i]) != 0)
			rows[kept++] = rows[i];
	*count = kept;
	return rows;
}

static bool space_open(
	const struct journal_problem *problem, const char *family, struct recorded_space *space)
{
	struct values values[SPACE_PARAMETERS_MAX] = {0};
	const size_t parameters = read_values(problem, family, values);
	choice *configurations;
	double *predicted_us;
	bool *ordered = memory_zeroed(parameters + 1, sizeof(*ordered));
	size_t count;
	CLEANUP(memory_free) struct row *rows = read_rows(problem, family, values, &count);

	*space = (struct recorded_space){.best_us = INFINITY};
	space->time_us = memory_zeroed(count + 1, sizeof(double));
	predicted_us = memory_zeroed(count + 1, sizeof(double));
	configurations = memory_zeroed(count * parameters + 1, sizeof(choice));
	for (size_t i = 0; i < count; i++) {
		memcpy(configurations + i * parameters, rows[i].choices,
			parameters * sizeof(choice));
		predicted_us[i] = 1;
		space->time_us[i] = rows[i].time_us;
		space->best_us = fmin(space->best_us, rows[i].time_us);
	}
	for (size_t p = 0; p < parameters; p++) {
		ordered[p] = values[p].are_numbers;
		for (size_t i = 0; i < values[p].count; i++)
			free(values[p].texts[i]);
		free(values[p].texts);
	}
	space->family = (struct search_family){.count = count,
		.parameter_count = parameters,
		.configurations = configurations,
		.ordered = ordered};
	space->view = (struct search_view){.count = count,
		.predicted_us = predicted_us,
		.family = memory_zeroed(count + 1, sizeof(uint32_t)),
		.family_count = 1,
		.families = &space->family,
		.budget = after[ARRAY_COUNT(after) - 1]};
	return count >= SMALLEST && isfinite(space->best_us);
}

static void space_close(struct recorded_space *space)
{
	free(space->time_us);
	free((void *)(uintptr_t)space->view.predicted_us);
	free((void *)(uintptr_t)space->view.family);
	free((void *)(uintptr_t)space->family.configurations);
	free((void *)(uintptr_t)space->family.ordered);
}

struct bench {
	const struct strategy *strategies[STRATEGIES_MAX];
	size_t strategy_count, seeds, spaces;
	double sums[STRATEGIES_MAX][ARRAY_COUNT(after)]; /* over spaces */
	const char *figure;
	struct other {
		char *name;
		double reached[ARRAY_COUNT(after)];
	} others[OTHERS_MAX];
	size_t other_count;
	size_t open, evaluations, questions;
	double seconds;
};

/* Adds optimum / best so far after each number of evaluations, and seconds of the strategy's. */
static void search(struct bench *bench, const struct recorded_space *space,
	const struct strategy *strategy, uint64_t seed, double *sums)
{
	struct search_view view = space->view;
	double best_us = INFINITY;
	size_t open[OPEN_MAX], open_count = 0, next = 0;
	struct random_state random;
	void *state;

	view.seed = seed;
	random_seed(&random, seed);
	state = strategy->open(&view);
	for (size_t done = 0; next < ARRAY_COUNT(after); done++) {
		const clock_t started = clock();
		size_t drawn, candidate;

		if (done == after[next])
			sums[next++] += space->best_us / best_us;
		if (done == bench->evaluations)
			break;
		while (open_count < bench->open &&
			strategy->ask(state, &candidate) == ASK_CANDIDATE)
			open[open_count++] = candidate;
		if (!open_count)
			break;
		drawn = random_below(&random, open_count);
		candidate = open[drawn];
		open[drawn] = open[--open_count];
		strategy->tell(state, candidate, space->time_us[candidate]);
		bench->seconds += (double)(clock() - started) / CLOCKS_PER_SEC;
		bench->questions++;
		best_us = fmin(best_us, space->time_us[candidate]);
	}
	for (; next < ARRAY_COUNT(after); next++)
		sums[next] += space->best_us / best_us; /* nothing was left */
	strategy->close(state);
}

static void bench_space(struct bench *bench, const char *file, const struct recorded_space *space)
{
	printf("%s: %zu candidates of %zu parameters\n", file, space->view.count,
		space->family.parameter_count);
	for (size_t s = 0; s < bench->strategy_count; s++) {
		double sums[ARRAY_COUNT(after)] = {0};

		bench->questions = 0;
		bench->seconds = 0;
		for (size_t seed = 1; seed <= bench->seeds; seed++)
			search(bench, space, bench->strategies[s], seed, sums);
		printf("  %-12s", bench->strategies[s]->name);
		for (size_t i = 0; i < ARRAY_COUNT(after); i++) {
			bench->sums[s][i] += sums[i] / (double)bench->seeds;
			printf(" %6.4f", sums[i] / (double)bench->seeds);
		}
		printf("  %.2f ms each\n", 1e3 * bench->seconds / (double)bench->questions);
		fflush(stdout);
	}
	bench->spaces++;
}

/* Where a family comes first. */
static size_t first_of(const struct journal_problem *problem, const char *family)
{
	size_t i = 0;

	while (strcmp(problem->evaluations[i].family, family) != 0)
		i++;
	return i;
}

static enum status bench_file(struct bench *bench, const char *path, struct error *err)
{
	CLEANUP(journal_record_release) struct journal_record record = {0};

	TRY(journal_read(path, &record, err));
	for (size_t r = 0; r < record.run_count; r++)
		for (size_t p = 0; p < record.runs[r].problem_count; p++) {
			const struct journal_problem *problem = &record.runs[r].problems[p];

			for (size_t i = 0; i < problem->evaluation_count; i++) {
				const char *family = problem->evaluations[i].family;
				struct recorded_space space;

				if (first_of(problem, family) < i)
					continue;
				if (space_open(problem, family, &space))
					bench_space(bench, path, &space);
				space_close(&space);
			}
		}
	return STATUS_OK;
}

static bool bench_add(struct bench *bench, const char *name)
{
	const struct strategy *strategy = strategy_find(name);

	if (!strategy || bench->strategy_count == STRATEGIES_MAX)
		return false;
	bench->strategies[bench->strategy_count++] = strategy;
	return true;
}

/* "NAME=0.87,0.91,...": one number for each of after[]. */
static bool bench_other(struct bench *bench, const char *text)
{
	const char *equals = strchr(text, '=');
	struct other *other = &bench->others[bench->other_count];

	if (!equals || bench->other_count == OTHERS_MAX)
		return false;
	for (size_t i = 0; i < ARRAY_COUNT(after); i++) {
		char *end;

		other->reached[i] = strtod(equals + 1, &end);
		if (end == equals + 1 || *end != (i + 1 < ARRAY_COUNT(after) ? ',' : '\0'))
			return false;
		equals = end;
	}
	other->name = string_copy_bytes(text, (size_t)(strchr(text, '=') - text));
	bench->other_count++;
	return true;
}

static enum status bench_draw(const struct bench *bench, struct error *err)
{
	struct chart_series series[STRATEGIES_MAX + OTHERS_MAX] = {0};
	double x[ARRAY_COUNT(after)], means[STRATEGIES_MAX][ARRAY_COUNT(after)];
	CLEANUP(text_release) struct text svg = {0}, title = {0};
	size_t count = 0;

	for (size_t s = 0; s < bench->strategy_count; s++) {
		for (size_t i = 0; i < ARRAY_COUNT(after); i++)
			means[s][i] = bench->sums[s][i] / (double)bench->spaces;
		series[count++] = (struct chart_series){
			bench->strategies[s]->name, means[s], s ? CHART_DASHED : CHART_LINE};
	}
	for (size_t i = 0; i < bench->other_count; i++)
		series[count++] = (struct chart_series){
			bench->others[i].name, bench->others[i].reached, CHART_LINE};
	for (size_t i = 0; i < ARRAY_COUNT(after); i++)
		x[i] = (double)after[i];
	text_appendf(&title, "mean of %zu recorded spaces and %zu seeds, nothing predicted",
		bench->spaces, bench->seeds);
	chart_svg(&(struct chart){.title = "How soon strategies find what is good",
			  .subtitle = text_string(&title),
			  .x_label = "evaluations",
			  .y_label = "optimum / best so far",
			  .x = x,
			  .count = ARRAY_COUNT(after),
			  .series = series,
			  .series_count = count},
		&svg);
	return file_write(bench->figure, text_string(&svg), svg.length, err);
}

int main(int argc, char **argv)
{
	static struct bench bench = {
		.seeds = SEEDS, .open = 1, .evaluations = after[ARRAY_COUNT(after) - 1]};
	struct error err = {0};
	glob_t own = {0};
	int option;

	while ((option = getopt(argc, argv, "n:b:e:s:f:r:")) != -1)
		if (option == 'n' && atoi(optarg) > 0)
			bench.seeds = (size_t)atoi(optarg);
		else if (option == 'b' && atoi(optarg) > 0 && atoi(optarg) <= OPEN_MAX)
			bench.open = (size_t)atoi(optarg);
		else if (option == 'e' && atoi(optarg) > 0)
			bench.evaluations = (size_t)atoi(optarg);
		else if (option == 'f')
			bench.figure = optarg;
		else if ((option != 's' || !bench_add(&bench, optarg)) &&
			 (option != 'r' || !bench_other(&bench, optarg))) {
			fprintf(stderr, "usage: bench_search [-n SEEDS] [-b OPEN] "
					"[-e EVALUATIONS] [-s STRATEGY]... [-f FIGURE.svg] [-r "
					"NAME=NUMBERS]... [FILE]...\n");
			return 2;
		}
	if (!bench.strategy_count) {
		bench_add(&bench, "guided");
		bench_add(&bench, "random");
	}
	printf("optimum / best so far after");
	for (size_t i = 0; i < ARRAY_COUNT(after); i++)
		printf(" %zu", after[i]);
	printf(" evaluations, mean of %zu seeds\n", bench.seeds);
	if (optind == argc)
		glob("results/*/exhaustive*.journal.jsonl.gz", 0, NULL, &own);
	for (int i = optind; i < argc; i++)
		if (bench_file(&bench, argv[i], &err) != STATUS_OK)
			break;
	for (size_t i = 0; i < own.gl_pathc && err.status == STATUS_OK; i++)
		bench_file(&bench, own.gl_pathv[i], &err);
	globfree(&own);
	if (err.status != STATUS_OK) {
		fprintf(stderr, "bench_search: %s\n", err.message);
		return 1;
	}
	printf("mean of %zu spaces\n", bench.spaces);
	for (size_t s = 0; s < bench.strategy_count; s++) {
		printf("  %-12s", bench.strategies[s]->name);
		for (size_t i = 0; i < ARRAY_COUNT(after); i++)
			printf(" %6.4f", bench.sums[s][i] / (double)bench.spaces);
		putchar('\n');
	}
	if (bench.figure && bench.spaces && bench_draw(&bench, &err) != STATUS_OK) {
		fprintf(stderr, "bench_search: %s\n", err.message);
		return 1;
	}
	for (size_t i = 0; i < bench.other_count; i++)
		free(bench.others[i].name);
	return bench.spaces ? 0 : 1;
}
