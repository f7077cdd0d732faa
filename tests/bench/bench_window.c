/* SPDX-License-Identifier: MIT
 *
 * What it costs a search to choose candidates before the results of others are there, and what it
 * costs compilers and GPU to wait for them: `guided`, to which nothing is predicted, searches
 * recorded spaces, with the recorded times of its compilers, and the GPU's (12 ms a candidate in
 * these journals; 50 ms for slower kernels).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "bench/bench.h"
#include "format/journal.h"
#include "search/strategy.h"
#include "tune/session.h"

enum {
	COMPILERS = 16,
	RESULTS = 50,
	COMPILED_BEFORE = 16, /* compiled candidates that waited for the GPU */
	COMPILED = 4,
	SEEDS = 8,
	SPACES_MAX = 32,
	SMALLEST = 400
};

struct row {
	choice choices[SPACE_PARAMETERS_MAX];
	double time_us, compile_s;
};

struct recorded {
	struct row *rows;
	struct search_family family;
	struct search_view view;
	double best_us;
};

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	for (size_t i = 0; i < SPACE_PARAMETERS_MAX; i++)
		if (x->choices[i] != y->choices[i])
			return x->choices[i] < y->choices[i] ? -1 : 1;
	return 0;
}

/* "BM=128,BN=64,..." in the order of the parameters. */
static void read_choices(const struct journal_family *family, const char *text, choice *choices)
{
	for (size_t i = 0; i < family->parameter_count; i++) {
		const char *value = strchr(text, '=') + 1;
		const size_t length = strcspn(value, ",");
		char **values = family->parameters[i].values;

		while (strncmp(values[choices[i]], value, length) != 0 ||
			values[choices[i]][length])
			choices[i]++;
		text = value + length + 1;
	}
}

static void space_read(const struct journal_problem *problem, const struct journal_family *family,
	struct recorded *space)
{
	const size_t parameters = family->parameter_count;
	struct search_parameter *known = memory_zeroed(parameters, sizeof(*known));
	choice *configurations =
		memory_zeroed(problem->evaluation_count * parameters, sizeof(choice));
	uint32_t *of_family = memory_zeroed(problem->evaluation_count, sizeof(*of_family));
	double *predicted = memory_zeroed(problem->evaluation_count, sizeof(*predicted));
	size_t count = 0;

	*space = (struct recorded){
		.rows = memory_zeroed(problem->evaluation_count, sizeof(struct row)),
		.best_us = INFINITY};
	for (size_t i = 0; i < problem->evaluation_count; i++) {
		const struct evaluation *evaluation = &problem->evaluations[i];
		struct row *row = &space->rows[count];

		if (strcmp(evaluation->family, family->name) != 0)
			continue;
		read_choices(family, evaluation->configuration, row->choices);
		row->time_us =
			evaluation->outcome == OUTCOME_OK ? evaluation->time.median : INFINITY;
		row->compile_s = evaluation->compile_seconds;
		space->best_us = fmin(space->best_us, row->time_us);
		predicted[count++] = 1;
	}
	qsort(space->rows, count, sizeof(*space->rows), compare_rows);
	for (size_t i = 0; i < count; i++)
		memcpy(configurations + i * parameters, space->rows[i].choices,
			parameters * sizeof(choice));
	for (size_t i = 0; i < parameters; i++) {
		while (family->parameters[i].values[known[i].levels])
			known[i].levels++;
		known[i].is_ordered = true;
	}
	space->family = (struct search_family){0, count, parameters, configurations, known};
	space->view =
		(struct search_view){count, predicted, of_family, 1, &space->family, 1, RESULTS};
}

static const struct strategy *guided;

struct result {
	double share; /* of the best, after RESULTS */
	double seconds;
};

struct trial {
	size_t candidate;
	double compiled_s; /* when */
};

enum window {
	ONE,
	WIDE, /* as many as compilers and GPU can take */
	OURS
};

static bool has_room(enum window window, size_t open, size_t compiling, size_t results)
{
	if (window == ONE)
		return open == 0;
	if (window == OURS && open >= session_trials_max(COMPILERS, results))
		return false;
	return compiling < 2 * COMPILERS + 2 &&
	       open - compiling < (window == OURS ? COMPILED : COMPILED_BEFORE);
}

static void start(const struct recorded *space, struct trial *trial, double now_s, double *free_s)
{
	size_t worker = 0;

	for (size_t i = 1; i < COMPILERS; i++)
		if (free_s[i] < free_s[worker])
			worker = i;
	free_s[worker] = fmax(now_s, free_s[worker]) + space->rows[trial->candidate].compile_s;
	trial->compiled_s = free_s[worker];
}

static struct result simulate(
	const struct recorded *space, enum window window, uint64_t seed, double gpu_s)
{
	struct search_view view = space->view;
	struct trial trials[RESULTS];
	double now_s = 0, best_us = INFINITY, compilers_free_s[COMPILERS] = {0};
	size_t open = 0;
	void *state;

	view.seed = seed;
	state = guided->open(&view);
	for (size_t results = 0; results < RESULTS;) {
		size_t compiling = 0, first = 0, candidate;

		for (size_t i = 0; i < open; i++)
			compiling += trials[i].compiled_s > now_s;
		while (results + open < RESULTS && has_room(window, open, compiling, results) &&
			guided->ask(state, &candidate) == ASK_CANDIDATE) {
			trials[open].candidate = candidate;
			start(space, &trials[open++], now_s, compilers_free_s);
			compiling++;
		}
		for (size_t i = 1; i < open; i++)
			if (trials[i].compiled_s < trials[first].compiled_s)
				first = i;
		if (trials[first].compiled_s > now_s) {
			now_s = trials[first].compiled_s; /* the GPU waits */
			continue;
		}
		now_s += gpu_s;
		candidate = trials[first].candidate;
		trials[first] = trials[--open];
		best_us = fmin(best_us, space->rows[candidate].time_us);
		guided->tell(state, candidate, space->rows[candidate].time_us);
		results++;
	}
	guided->close(state);
	return (struct result){space->best_us / best_us, now_s};
}

static struct result mean(
	const struct recorded *spaces, size_t count, enum window window, double gpu_s)
{
	const double searches = (double)(count * SEEDS);
	struct result sum = {0};

	for (size_t i = 0; i < count; i++)
		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			const struct result one = simulate(&spaces[i], window, seed, gpu_s);

			sum.share += one.share / searches;
			sum.seconds += one.seconds / searches;
		}
	return sum;
}

/* At least `least` of what is lost to asking ahead is won back, in at most `most` times the time.
 */
static bool promise(
	const struct recorded *spaces, size_t count, double gpu_s, double least, double most)
{
	const struct result one = mean(spaces, count, ONE, gpu_s);
	const struct result wide = mean(spaces, count, WIDE, gpu_s);
	const struct result ours = mean(spaces, count, OURS, gpu_s);
	const double won = (ours.share - wide.share) / (one.share - wide.share);
	const double slower = ours.seconds / wide.seconds;
	const bool ok = won >= least && slower <= most;

	printf("window, %.0f ms a candidate: %.2f (promised: %.2f) of what asking ahead loses "
	       "after %d results won back "
	       "(%.4f, %.4f, one at a time %.4f) in %.3f times the time (promised: %.2f) %s\n",
		1e3 * gpu_s, won, least, RESULTS, wide.share, ours.share, one.share, slower, most,
		ok ? "ok" : "MISSED");
	return ok;
}

int main(void)
{
	static struct recorded spaces[SPACES_MAX];
	struct journal_record record = {0};
	struct error err = {0};
	size_t count = 0;
	bool ok;

	guided = strategy_find("guided");
	expect(journal_read("results/nvidia-h200/exhaustive_wgmma.journal.jsonl.gz", &record, &err),
		&err);
	for (size_t i = 0; i < record.run_count; i++)
		for (size_t j = 0; j < record.runs[i].problem_count; j++) {
			const struct journal_problem *problem = &record.runs[i].problems[j];

			for (size_t k = 0; k < problem->family_count && count < SPACES_MAX; k++)
				if (problem->families[k].legal > SMALLEST)
					space_read(
						problem, &problem->families[k], &spaces[count++]);
		}
	ok = promise(spaces, count, 0.012, 0.3, 1.08);
	ok = promise(spaces, count, 0.05, 0.5, 1.05) && ok;
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
