/* SPDX-License-Identifier: MIT
 *
 * Number of candidates that the score rates per second on one core if their work is known, and
 * processor time for all candidates of a product including enumeration.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/candidates.h"
#include "score/learned.h"
#include "unit/score_cases.h"

/* Processor time of all threads, so that other programs do not count. */
static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct bench {
	struct device_spec device;
	size_t count;
	double seconds; /* time spent in score_compute() */
	double sum_us;
};

static void bench_visit(const struct case_mma *mma, void *context)
{
	enum {
		REPEATS = 32
	};
	struct bench *bench = context;
	struct case_work work;
	double start;

	case_mma_work(mma, &work);
	start = processor_seconds();
	for (int i = 0; i < REPEATS; i++) {
		struct score score;

		score_compute(&bench->device, &work.work, NULL, &score);
		if (score.launches[0].blocks_per_sm > 0)
			bench->sum_us += score.predicted_time_us;
		score_release(&score);
	}
	bench->seconds += processor_seconds() - start;
	bench->count += REPEATS;
}

static bool bench_works(void)
{
	const double promised = 500e3;
	struct bench bench = {.device = case_device_hopper()};
	double rate;
	bool holds;

	case_mma_space(4096, 4096, 4096, bench_visit, &bench);
	case_mma_space(127, 4097, 7169, bench_visit, &bench); /* unaligned sizes */
	rate = (double)bench.count / bench.seconds;
	holds = rate >= promised && bench.sum_us > 0;
	printf("score: %.0f scores/s (promised: %.0f) %s\n", rate, promised,
		holds ? "ok" : "MISSED");
	return holds;
}

/* Enumerates, evaluates and scores every legal configuration of every family. */
static enum status bench_pool(double *seconds, size_t *count, struct error *err)
{
	static const char *const templates[] = {"templates", NULL}, *const configs[] = {
									    "configs", NULL};
	const struct candidates_options options = {.score = true};
	CLEANUP(catalogue_release) struct catalogue catalogue = {0};
	CLEANUP(problem_list_release) struct problem_list problems = {0};
	CLEANUP(device_spec_release) struct device_spec *device = NULL;
	CLEANUP(learned_release) struct learned learned = {0};
	CLEANUP(candidates_release) struct candidates pool = {0};
	const struct operation *operation;
	double start;

	TRY(catalogue_load(templates, "gemm", &catalogue, err));
	TRY(catalogue_operation(&catalogue, "gemm", &operation, err));
	TRY(problem_parse(operation, "M=4096,N=4096,K=4096,dtype=bf16", &problems, err));
	TRY(device_spec_load("h200-sxm", configs, &device, err));
	TRY(learned_open(
		&(struct learned_choice){0}, configs, device->name, &catalogue, &learned, err));
	device->learned = &learned;
	start = processor_seconds();
	TRY(candidates_open(&catalogue, problems.items[0], device, &options, &pool, err));
	*seconds = processor_seconds() - start;
	*count = pool.count;
	return STATUS_OK;
}

static bool bench_candidates(void)
{
	const double promised = 1.2;
	struct error err = {0};
	double seconds = 0;
	size_t count = 0;
	bool holds;

	if (bench_pool(&seconds, &count, &err) != STATUS_OK) {
		printf("score: %s\n", err.message);
		return false;
	}
	holds = count > 500000 && seconds <= promised;
	printf("score: %zu candidates in %.2f s of processor time (promised: %.2f) %s\n", count,
		seconds, promised, holds ? "ok" : "MISSED");
	return holds;
}

int main(void)
{
	const bool works = bench_works(), candidates = bench_candidates();

	return works && candidates ? EXIT_SUCCESS : EXIT_FAILURE;
}
