/* SPDX-License-Identifier: MIT
 *
 * Promises for expressions and spaces: evaluations per second on one core, and time and memory for
 * enumerating the space of templates/gemm/mma.json. Times are the process's CPU time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/bench.h"
#include "base/memory.h"
#include "base/random.h"
#include "candidate/bound_family.h"
#include "engine/context.h"
#include "space/enumerate.h"

static bool promise(const char *name, double value, const char *unit, double promised, bool least)
{
	bool kept = least ? value >= promised : value <= promised;
	printf("%s: %.3g %s (promised: %s%.3g) %s\n", name, value, unit,
		least ? ">= " : "<= ", promised, kept ? "ok" : "MISSED");
	return kept;
}

/* ---- evaluations ---- */
static double evaluations_per_s(const char *text)
{
	enum {
		ROWS = 4096,
		ROUNDS = 1024,
		TURNS = 3
	};
	const char *names[] = {"BM", "BN", "WM", "WN"};
	const struct name_table table = {.names = names, .count = 4};
	struct value(*rows)[4] = memory_zeroed(ROWS, sizeof(*rows));
	struct random_state random;
	struct expression *expression;
	struct error err = {0};
	double best = 0;
	size_t legal = 0;
	random_seed(&random, 1);
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < 4; j++)
			rows[i][j] = value_int(j < 2 ? 16 * (1 + (int64_t)random_below(&random, 16))
						     : 16 << random_below(&random, 3));
	expect(expression_compile(text, "bench", &table, &expression, &err), &err);
	for (int turn = 0; turn < TURNS; turn++) {
		double start = cpu_seconds();
		for (size_t round = 0; round < ROUNDS; round++)
			for (size_t i = 0; i < ROWS; i++) {
				bool truth;
				expect(expression_test(expression, rows[i], &truth, &err), &err);
				legal += truth;
			}
		double rate = (double)ROWS * ROUNDS / (cpu_seconds() - start);
		best = rate > best ? rate : best;
	}
	if (legal == 0 || legal == (size_t)ROWS * ROUNDS * TURNS)
		expect(error_set(&err, STATUS_FAILED, "a constraint that is always the same"),
			&err);
	expression_free(expression);
	free(rows);
	return best;
}

/* ---- the space of a family ---- */
/* The context stays open, because it owns the constants of the space. */
static struct space *family_space(struct context *context, const char *name, const char *text)
{
	const char *const roots[] = {".", NULL};
	const struct context_options options = {
		.roots = roots, .device = "model:h200-sxm", .no_cache = true};
	const struct operation *operation;
	const struct family *family;
	struct problem_list problems = {0};
	struct bound_family *bound;
	struct error err = {0};

	expect(context_open(&options, context, &err), &err);
	expect(catalogue_operation(&context->catalogue, "gemm", &operation, &err), &err);
	expect(catalogue_family(&context->catalogue, operation, name, &family, &err), &err);
	expect(problem_parse(operation, text, &problems, &err), &err);
	expect(family_bind(family, problems.items[0], context->device->spec, NULL, &bound, &err),
		&err);
	return bound->space;
}

static bool count_visit(const choice *configuration, void *context)
{
	(void)configuration;
	++*(uint64_t *)context;
	return true;
}

/* Returns the seconds to enumerate the space, with or without calling visit; checks that the counts
 * add up. */
static double enumerate(struct space *space, space_visit *visit, double *legal)
{
	struct error err = {0};
	struct space_removed removed = {
		.by_constraint = memory_zeroed(space->constraint_count, sizeof(double))};
	uint64_t visited = 0;
	double start = cpu_seconds();
	expect(space_enumerate(space, visit, &visited, &removed, &err), &err);
	double seconds = cpu_seconds() - start, sum = removed.legal;
	for (size_t i = 0; i < space->constraint_count; i++)
		sum += removed.by_constraint[i];
	if (sum != space->tail[0] || (visit && (double)visited != removed.legal))
		expect(error_set(&err, STATUS_FAILED, "the counts do not add up"), &err);
	*legal = removed.legal;
	free(removed.by_constraint);
	return seconds;
}

int main(void)
{
	struct rusage usage;
	bool kept = true;
	kept &= promise("expressions",
		evaluations_per_s("BM % WM == 0 and 32*(BM//WM)*(BN//WN) <= 1024") * 1e-6,
		"million evaluations/s", 10, true);
	struct context context;
	struct space *space = family_space(&context, "gemm/mma", "M=4096,N=4096,K=4096,dtype=bf16");
	double legal, seconds = enumerate(space, count_visit, &legal);
	printf("space of gemm/mma: %.3g configurations, %.3g legal, visited in %.3g s, "
	       "%.3g us per legal one\n",
		space->tail[0], legal, seconds, 1e6 * seconds / legal);
	printf("space of gemm/mma, counted: %.3g s\n", enumerate(space, NULL, &legal));
	kept &= promise("enumeration of 10^7 configurations", seconds * 1e7 / space->tail[0], "s",
		2, false);
	getrusage(RUSAGE_SELF, &usage);
	kept &= promise("peak memory", (double)usage.ru_maxrss / 1024, "MiB", 200, false);
	return kept ? EXIT_SUCCESS : EXIT_FAILURE;
}
