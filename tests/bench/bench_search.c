/* layer: figure */
/* SPDX-License-Identifier: MIT
 *
 * How soon strategies find what is good, over recorded spaces: of each problem of a journal, a
 * Kernel Tuner cache file or T4 results (format/recorded.h), the mean over seeds of optimum / best
 * so far after some evaluations with its standard error, and what an evaluation costs the strategy.
 * Failures count as evaluations. One result is known before the next question; with -b so many
 * questions are open, and answers come in any order.
 *
 *	bench_search [-n SEEDS] [-b OPEN] [-e EVALUATIONS] [-s STRATEGY[:KNOWN]]... [-o NAME]
 *		[FILE]...
 *	bench_search -u SPLITS [-o NAME] FILE...
 *
 * KNOWN is what the strategy knows beforehand: nothing (left out), `physics`, or `learned`: physics
 * times what all other problems of the files teach (left_out.h; templates and configs are of the
 * working folder). Without a FILE: the exhaustive journals of results/. Beside the spaces that
 * kernel_tuner.csv names stands what Kernel Tuner's strategies reach there. NAME.md gets the table,
 * NAME.svg the means over all spaces. -u: what a suite's first problems spare the next (suites.h).
 */
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/random.h"
#include "bench/bench.h"
#include "bench/left_out.h"
#include "bench/suites.h"
#include "figure/chart.h"

enum {
	SEEDS = 50,
	STRATEGIES_MAX = 16,
	OPEN_MAX = 64,
	OTHERS_MAX = 64,
	SPACES_LISTED = 8, /* of more the table has the means alone */
	AFTER_COUNT = 5,
};
static const size_t after[AFTER_COUNT] = {25, 50, 100, 200, 400};
static const char others_path[] = "tests/bench/kernel_tuner.csv";
static const char *const known_names[PREDICTED_COUNT] = {"", ":physics", ":learned"};

/* What was reached after each number of evaluations: sums over seeds or spaces. */
struct reached {
	double sum[AFTER_COUNT], squares[AFTER_COUNT]; /* of spaces: of standard errors */
};

struct contender {
	const struct strategy *strategy;
	enum predicted known;
	char *name;
	struct reached all;
};

/* What others reached on a space. */
struct other {
	char space[64], strategy[64];
	double reached[AFTER_COUNT];
};

struct bench {
	struct contender contenders[STRATEGIES_MAX];
	struct other others[OTHERS_MAX];
	size_t contender_count, other_count;
	double best_of_others[AFTER_COUNT]; /* sums over spaces */
	size_t seeds, spaces, compared;     /* compared: spaces that others searched, too */
	size_t open, evaluations, questions, splits;
	double seconds;
	struct teacher teacher; /* if somebody asks */
	struct text table;
	const char *output;
};

/* Adds optimum / best so far after each number of evaluations, and seconds of the strategy's. */
static void search(struct bench *bench, const struct recorded_space *space,
	const struct contender *contender, uint64_t seed, struct reached *reached)
{
	const struct strategy *strategy = contender->strategy;
	struct search_view view = space->view;
	double best_us = INFINITY;
	size_t open[OPEN_MAX], open_count = 0, done = 0;
	struct random_state random;
	bool ended = false;
	void *state;

	view.seed = seed;
	view.budget = after[AFTER_COUNT - 1];
	view.predicted_us = space->predicted_us[contender->known];
	random_seed(&random, seed);
	state = strategy->open(&view);
	for (size_t next = 0; next < AFTER_COUNT; next++) {
		while (!ended && done < after[next] && done < bench->evaluations) {
			const double started = cpu_seconds();
			size_t drawn, candidate;

			while (open_count < bench->open &&
				strategy->ask(state, &candidate) == ASK_CANDIDATE)
				open[open_count++] = candidate;
			ended = !open_count;
			if (ended)
				break;
			drawn = random_below(&random, open_count);
			candidate = open[drawn];
			open[drawn] = open[--open_count];
			strategy->tell(state, candidate, space->time_us[candidate]);
			bench->seconds += cpu_seconds() - started;
			best_us = fmin(best_us, space->time_us[candidate]);
			done++;
		}
		reached->sum[next] += space->best_us / best_us;
		reached->squares[next] += pow(space->best_us / best_us, 2);
	}
	bench->questions += done;
	strategy->close(state);
}

/* Of a mean over seeds. */
static double standard_error(const struct reached *reached, size_t at, size_t seeds)
{
	const double mean = reached->sum[at] / (double)seeds;
	const double variance = reached->squares[at] / (double)seeds - mean * mean;

	return seeds > 1 ? sqrt(fmax(0, variance) / (double)(seeds - 1)) : 0;
}

static void row_begin(struct text *table, const char *space, const char *name)
{
	text_appendf(table, "| %s | %s |", space, name);
}

static void row_put(struct bench *bench, struct text *table, size_t at, double mean, double error)
{
	if (after[at] > bench->evaluations)
		text_appendf(table, " |");
	else if (error > 0)
		text_appendf(table, " %.4f ±%.4f |", mean, error);
	else
		text_appendf(table, " %.4f |", mean);
}

/* Rows of those who searched this space elsewhere; adds their best. */
static void put_others(struct bench *bench, struct text *table, const char *path)
{
	double best[AFTER_COUNT] = {0};

	for (size_t i = 0; i < bench->other_count; i++) {
		const struct other *other = &bench->others[i];

		if (!strstr(path, other->space))
			continue;
		row_begin(table, "", other->strategy);
		for (size_t k = 0; k < AFTER_COUNT; k++) {
			row_put(bench, table, k, other->reached[k], 0);
			best[k] = fmax(best[k], other->reached[k]);
		}
		text_appendf(table, " |\n");
	}
	bench->compared += best[0] > 0;
	for (size_t k = 0; k < AFTER_COUNT; k++)
		bench->best_of_others[k] += best[k];
}

static void bench_space(struct bench *bench, const char *path, const struct recorded_space *space)
{
	CLEANUP(text_release) struct text rows = {0}, title = {0};

	text_appendf(&title, "%.*s, %zu candidates", (int)strcspn(path_name(path), "."),
		path_name(path), space->view.count);
	for (size_t c = 0; c < bench->contender_count; c++) {
		struct contender *contender = &bench->contenders[c];
		struct reached reached = {0};

		if (!space->predicted_us[contender->known])
			continue;
		bench->questions = 0;
		bench->seconds = 0;
		for (size_t seed = 1; seed <= bench->seeds; seed++)
			search(bench, space, contender, seed, &reached);
		row_begin(&rows, c ? "" : text_string(&title), contender->name);
		for (size_t k = 0; k < AFTER_COUNT; k++) {
			const double mean = reached.sum[k] / (double)bench->seeds;
			const double error = standard_error(&reached, k, bench->seeds);

			row_put(bench, &rows, k, mean, error);
			contender->all.sum[k] += mean;
			contender->all.squares[k] += error * error;
		}
		text_appendf(&rows, " %.2f |\n", 1e3 * bench->seconds / (double)bench->questions);
	}
	put_others(bench, &rows, path);
	bench->spaces++;
	fputs(text_string(&rows), stdout);
	fflush(stdout);
	if (bench->spaces <= SPACES_LISTED)
		text_append(&bench->table, text_string(&rows));
}

/* Where a family comes first. */
static size_t first_of(const struct journal_problem *problem, const char *family)
{
	size_t i = 0;

	while (strcmp(problem->evaluations[i].family, family) != 0)
		i++;
	return i;
}

static void bench_problem(
	struct bench *bench, const char *path, const struct journal_problem *problem)
{
	struct error err = {0};

	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const char *family = problem->evaluations[i].family;
		struct recorded_space space;

		if (first_of(problem, family) < i)
			continue;
		if (space_open(problem, family, &space)) {
			if (bench->teacher.device)
				expect(teacher_predict_both(
					       &bench->teacher, problem, family, &space, &err),
					&err);
			bench_space(bench, path, &space);
		}
		space_close(&space);
	}
}

static void bench_files(struct bench *bench, char **paths, size_t count)
{
	struct journal_record *records = memory_zeroed(count + 1, sizeof(*records));
	struct error err = {0};

	for (size_t i = 0; i < count; i++)
		expect(journal_read(paths[i], &records[i], &err), &err);
	bench->teacher.records = records;
	bench->teacher.record_count = count;
	for (size_t i = 0; i < count; i++)
		for (size_t r = 0; r < records[i].run_count && !bench->splits; r++)
			for (size_t p = 0; p < records[i].runs[r].problem_count; p++)
				bench_problem(bench, paths[i], &records[i].runs[r].problems[p]);
	if (bench->splits)
		suites_run(&bench->teacher, paths, bench->splits, &bench->table);
	for (size_t i = 0; i < count; i++)
		journal_record_release(&records[i]);
	free(records);
}

/* "guided", "guided:learned" */
static bool bench_add(struct bench *bench, const char *name)
{
	const size_t length = strcspn(name, ":");
	struct contender *contender = &bench->contenders[bench->contender_count];
	CLEANUP(memory_free) char *strategy = string_copy_bytes(name, length);

	if (bench->contender_count == STRATEGIES_MAX)
		return false;
	*contender =
		(struct contender){.strategy = strategy_find(strategy), .known = PREDICTED_COUNT};
	for (int known = 0; known < PREDICTED_COUNT; known++)
		if (strcmp(name + length, known_names[known]) == 0)
			contender->known = (enum predicted)known;
	if (!contender->strategy || contender->known == PREDICTED_COUNT)
		return false;
	contender->name = string_copy(name);
	bench->contender_count++;
	return true;
}

static void others_read(struct bench *bench)
{
	FILE *file = fopen(others_path, "r");
	char line[256];

	while (file && bench->other_count < OTHERS_MAX && fgets(line, sizeof(line), file)) {
		struct other *other = &bench->others[bench->other_count];
		double *reached = other->reached;

		bench->other_count +=
			sscanf(line, "%63[^,],%63[^,],%lf,%lf,%lf,%lf,%lf", other->space,
				other->strategy, &reached[0], &reached[1], &reached[2], &reached[3],
				&reached[4]) == 2 + AFTER_COUNT;
	}
	if (file)
		fclose(file);
}

/* The last rows, and the figure. */
static void bench_means(struct bench *bench, struct text *svg)
{
	struct chart_series series[STRATEGIES_MAX + 1] = {0};
	double x[AFTER_COUNT], y[STRATEGIES_MAX + 1][AFTER_COUNT];
	CLEANUP(text_release) struct text rows = {0}, title = {0};
	size_t count = 0, shown = 0;

	while (shown < AFTER_COUNT && after[shown] <= bench->evaluations)
		shown++;
	text_appendf(&title, "mean of %zu spaces", bench->spaces);
	for (; count < bench->contender_count; count++) {
		const struct contender *contender = &bench->contenders[count];
		const double spaces = (double)bench->spaces;

		row_begin(&rows, count ? "" : text_string(&title), contender->name);
		for (size_t k = 0; k < AFTER_COUNT; k++) {
			y[count][k] = contender->all.sum[k] / spaces;
			row_put(bench, &rows, k, y[count][k],
				sqrt(contender->all.squares[k]) / spaces);
		}
		text_appendf(&rows, " |\n");
		series[count] = (struct chart_series){
			contender->name, y[count], count ? CHART_DASHED : CHART_LINE};
	}
	if (bench->compared == bench->spaces) {
		for (size_t k = 0; k < AFTER_COUNT; k++)
			y[count][k] = bench->best_of_others[k] / (double)bench->spaces;
		series[count] =
			(struct chart_series){"best of Kernel Tuner's nine", y[count], CHART_LINE};
		count++;
	}
	for (size_t k = 0; k < AFTER_COUNT; k++)
		x[k] = (double)after[k];
	fputs(text_string(&rows), stdout);
	text_append(&bench->table, text_string(&rows));
	text_appendf(&title, ", %zu seeds, %zu open", bench->seeds, bench->open);
	chart_svg(&(struct chart){.title = "How soon strategies find what is good",
			  .subtitle = text_string(&title),
			  .x_label = "evaluations",
			  .y_label = "optimum / best so far",
			  .x = x,
			  .count = shown,
			  .series = series,
			  .series_count = count},
		svg);
}

static void bench_write(const struct bench *bench, const struct text *svg)
{
	CLEANUP(memory_free) char *table = string_format("%s.md", bench->output);
	CLEANUP(memory_free) char *figure = string_format("%s.svg", bench->output);
	struct error err = {0};

	expect(file_write(table, text_string(&bench->table), bench->table.length, &err), &err);
	if (svg->length)
		expect(file_write(figure, text_string(svg), svg->length, &err), &err);
}

static void head_put(struct bench *bench)
{
	struct text *table = &bench->table;

	if (bench->splits) {
		suites_head(table, bench->splits);
	} else {
		text_appendf(table,
			"Optimum / best so far after so many evaluations, mean of %zu seeds ± "
			"standard error, %zu open at a time.\n\n| space | |",
			bench->seeds, bench->open);
		for (size_t k = 0; k < AFTER_COUNT; k++)
			text_appendf(table, " %zu |", after[k]);
		text_appendf(table, " ms each |\n|---|---|---|---|---|---|---|---|\n");
	}
	fputs(text_string(table), stdout);
}

int main(int argc, char **argv)
{
	static struct bench bench = {
		.seeds = SEEDS, .open = 1, .evaluations = after[AFTER_COUNT - 1]};
	CLEANUP(text_release) struct text svg = {0};
	struct error err = {0};
	glob_t own = {0};
	int option;

	while ((option = getopt(argc, argv, "n:b:e:s:o:u:")) != -1)
		if (option == 'n' && atoi(optarg) > 0)
			bench.seeds = (size_t)atoi(optarg);
		else if (option == 'b' && atoi(optarg) > 0 && atoi(optarg) <= OPEN_MAX)
			bench.open = (size_t)atoi(optarg);
		else if (option == 'e' && atoi(optarg) > 0)
			bench.evaluations = (size_t)atoi(optarg);
		else if (option == 'u' && atoi(optarg) > 0)
			bench.splits = (size_t)atoi(optarg);
		else if (option == 'o')
			bench.output = optarg;
		else if (option != 's' || !bench_add(&bench, optarg)) {
			fprintf(stderr, "usage: bench_search [-n SEEDS] [-b OPEN] "
					"[-e EVALUATIONS] [-s STRATEGY[:physics|:learned]]... "
					"[-o NAME] [FILE]...\n"
					"       bench_search -u SPLITS [-o NAME] FILE...\n");
			return 2;
		}
	if (!bench.contender_count) {
		static const char *const names[] = {"guided", "local", "evolution", "random",
			"guided:physics", "guided:learned"};

		for (size_t i = 0; i < ARRAY_COUNT(names) - (optind < argc ? 2 : 0); i++)
			bench_add(&bench, names[i]);
	}
	others_read(&bench);
	for (size_t c = 0; c < bench.contender_count; c++)
		if ((bench.contenders[c].known != PREDICTED_NOTHING || bench.splits) &&
			!bench.teacher.device)
			expect(teacher_open(&bench.teacher, &err), &err);
	head_put(&bench);
	if (optind == argc)
		glob("results/*/exhaustive*.journal.jsonl.gz", 0, NULL, &own);
	bench_files(&bench, optind == argc ? own.gl_pathv : argv + optind,
		optind == argc ? own.gl_pathc : (size_t)(argc - optind));
	globfree(&own);
	if (bench.spaces)
		bench_means(&bench, &svg);
	if ((bench.spaces || bench.splits) && bench.output)
		bench_write(&bench, &svg);
	for (size_t c = 0; c < bench.contender_count; c++)
		free(bench.contenders[c].name);
	if (bench.teacher.device)
		teacher_close(&bench.teacher);
	text_release(&bench.table);
	return bench.spaces || bench.splits ? 0 : 1;
}
