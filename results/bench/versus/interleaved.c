/* SPDX-License-Identifier: MIT */
#include "bench/versus/interleaved.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/statistics.h"
#include "measure/helper_kernels.h"
#include "measure/runner.h"

/* maximum number of kernels in one run */
enum {
	OPERATIONS_PER_RUN = 4,
};

static const double gap_least = 0.2e-3, gap_most = 2e-3; /* seconds */

static bool record(struct gpu_session *gpu, CUevent event)
{
	return gpu_succeeded(
		gpu, gpu->cuda.cuEventRecord(event, gpu->stream), "recording an event");
}

static bool elapsed_us(struct gpu_session *gpu, const struct timed_run *timed_run, double *us)
{
	float milliseconds = 0;

	if (!gpu_succeeded(gpu, gpu->cuda.cuEventSynchronize(timed_run->end), "running a kernel") ||
		!gpu_succeeded(gpu,
			gpu->cuda.cuEventElapsedTime(
				&milliseconds, timed_run->begin, timed_run->end),
			"reading an event"))
		return false;
	*us = (double)milliseconds * 1e3;
	return true;
}

static bool run_next(struct gpu_session *gpu, struct timed_run *timed_run)
{
	size_t set = timed_run->next_set;

	timed_run->next_set = (set + 1) % timed_run->set_count;
	return timed_run->run(timed_run->context, gpu, set);
}

static bool run_in_turn(struct gpu_session *gpu, const void *context, size_t index)
{
	const struct timed_run *timed_run = context;

	return timed_run->run(timed_run->context, gpu, index % timed_run->set_count);
}

/* Every set has its turn in one graph, so that all timed_runs see the same caches. */
static unsigned runs_of(const struct timed_run *timed_run)
{
	unsigned runs = runner_runs_per_sample(timed_run->estimate_us, OPERATIONS_PER_RUN);

	if (runs > 1 && runs < timed_run->set_count)
		runs = (unsigned)timed_run->set_count;
	return runs;
}

bool interleaved_prepare(struct gpu_session *gpu, struct timed_run *timed_run)
{
	bool done = gpu_succeeded(gpu, gpu->cuda.cuEventCreate(&timed_run->begin, CU_EVENT_DEFAULT),
			    "making an event") &&
		    gpu_succeeded(gpu, gpu->cuda.cuEventCreate(&timed_run->end, CU_EVENT_DEFAULT),
			    "making an event");

	/* the first run by itself triggers lazy loading and reveals crashes */
	done = done && run_next(gpu, timed_run) && gpu_synchronize(gpu, "a first run") &&
	       helper_spacer(gpu) && run_next(gpu, timed_run) && record(gpu, timed_run->begin) &&
	       run_next(gpu, timed_run) && record(gpu, timed_run->end) &&
	       elapsed_us(gpu, timed_run, &timed_run->estimate_us);
	if (!done)
		return false;
	timed_run->runs = runs_of(timed_run);
	return timed_run->runs == 1 ||
	       gpu_graph_make(gpu, CU_STREAM_CAPTURE_MODE_RELAXED, run_in_turn, timed_run,
		       timed_run->runs, &timed_run->graph);
}

static bool turn(struct gpu_session *gpu, struct timed_run *timed_run)
{
	if (!helper_spacer(gpu) || !run_next(gpu, timed_run) || !record(gpu, timed_run->begin))
		return false;
	if (timed_run->graph) {
		if (!gpu_succeeded(gpu, gpu->cuda.cuGraphLaunch(timed_run->graph, gpu->stream),
			    "replaying a graph"))
			return false;
	} else if (!run_next(gpu, timed_run)) {
		return false;
	}
	return record(gpu, timed_run->end);
}

static bool sample_add(struct gpu_session *gpu, struct timed_run *timed_run, unsigned runs)
{
	double us;

	if (!elapsed_us(gpu, timed_run, &us))
		return false;
	ARRAY_GROW(timed_run->samples_us, timed_run->sample_count, timed_run->sample_capacity);
	timed_run->samples_us[timed_run->sample_count++] = us / runs;
	return true;
}

bool interleaved_rounds(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds)
{
	double end = clock_seconds() + seconds;

	for (size_t round = 0; round < rounds && (round < least || clock_seconds() < end);
		round++) {
		for (size_t i = 0; i < count; i++)
			if (!turn(gpu, timed_runs[(i + round) % count]))
				return false;
		for (size_t i = 0; i < count; i++)
			if (!sample_add(gpu, timed_runs[i], timed_runs[i]->runs))
				return false;
	}
	return true;
}

bool interleaved_gaps(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds)
{
	double end = clock_seconds() + seconds;
	size_t order[ROWS_AT_ONCE_MAX];
	struct random_state random;

	random_seed(&random, count);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	for (size_t round = 0; round < rounds && (round < least || clock_seconds() < end);
		round++) {
		random_shuffle(&random, order, count);
		for (size_t i = 0; i < count; i++) {
			struct timed_run *timed_run = timed_runs[order[i]];

			clock_sleep(gap_least + (gap_most - gap_least) * random_unit(&random));
			if (!record(gpu, timed_run->begin) || !run_next(gpu, timed_run) ||
				!record(gpu, timed_run->end) || !sample_add(gpu, timed_run, 1))
				return false;
		}
	}
	return true;
}

double interleaved_median_us(const struct timed_run *timed_run)
{
	return statistics_summary(timed_run->samples_us, timed_run->sample_count).median;
}

void interleaved_restart(struct timed_run *timed_run)
{
	timed_run->sample_count = 0;
}

void timed_run_release(struct gpu_session *gpu, struct timed_run *timed_run)
{
	if (timed_run->graph)
		gpu->cuda.cuGraphExecDestroy(timed_run->graph);
	if (timed_run->begin)
		gpu->cuda.cuEventDestroy(timed_run->begin);
	if (timed_run->end)
		gpu->cuda.cuEventDestroy(timed_run->end);
	free(timed_run->samples_us);
	*timed_run = (struct timed_run){0};
}
