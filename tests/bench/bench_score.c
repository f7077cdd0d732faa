/* SPDX-License-Identifier: MIT
 *
 * How many candidates the score can rate in a second on one core, work already evaluated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "unit/score_cases.h"

struct bench {
	struct device_spec device;
	size_t count;
	double seconds; /* in score_compute() alone */
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
	start = clock_seconds();
	for (int i = 0; i < REPEATS; i++) {
		struct score score;

		score_compute(&bench->device, &work.work, NULL, &score);
		if (score.launches[0].blocks_per_sm > 0)
			bench->sum_us += score.predicted_time_us;
		score_release(&score);
	}
	bench->seconds += clock_seconds() - start;
	bench->count += REPEATS;
}

int main(void)
{
	const double promised = 500e3;
	struct bench bench = {.device = case_device_hopper()};
	double rate;

	case_mma_space(4096, 4096, 4096, bench_visit, &bench);
	case_mma_space(127, 4097, 7169, bench_visit, &bench); /* nothing aligned */
	rate = (double)bench.count / bench.seconds;
	printf("score: %.0f scores/s (promised: %.0f) %s\n", rate, promised,
		rate >= promised && bench.sum_us > 0 ? "ok" : "MISSED");
	return rate >= promised && bench.sum_us > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
