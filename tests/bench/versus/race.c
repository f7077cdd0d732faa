/* SPDX-License-Identifier: MIT */
#include "bench/versus/race.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "measure/runner.h"

/* Contenders differ in how many kernels a run has; this is more than any of them. */
enum {
	OPERATIONS_PER_RUN = 4,
};

static bool record(struct gpu_session *gpu, CUevent event, struct failure *failure)
{
	return gpu_succeeded(
		gpu, gpu->cuda.cuEventRecord(event, gpu->stream), "recording an event", failure);
}

static bool elapsed_us(struct gpu_session *gpu, const struct contender *contender, double *us,
	struct failure *failure)
{
	float milliseconds = 0;

	if (!gpu_succeeded(gpu, gpu->cuda.cuEventSynchronize(contender->end), "running a kernel",
		    failure) ||
		!gpu_succeeded(gpu,
			gpu->cuda.cuEventElapsedTime(
				&milliseconds, contender->begin, contender->end),
			"reading an event", failure))
		return false;
	*us = (double)milliseconds * 1e3;
	return true;
}

static bool run_next(struct gpu_session *gpu, struct contender *contender, struct failure *failure)
{
	size_t set = contender->next_set;

	contender->next_set = (set + 1) % contender->set_count;
	return contender->run(contender->context, gpu, set, failure);
}

static bool graph_make(
	struct gpu_session *gpu, struct contender *contender, struct failure *failure)
{
	const struct cuda_api *cuda = &gpu->cuda;
	CUgraph graph = NULL;
	bool done = gpu_succeeded(gpu,
		cuda->cuStreamBeginCapture(gpu->stream, CU_STREAM_CAPTURE_MODE_RELAXED),
		"capturing a graph", failure);
	CUresult ended;

	if (!done)
		return false;
	for (unsigned i = 0; done && i < contender->runs; i++)
		done = contender->run(contender->context, gpu, i % contender->set_count, failure);
	ended = cuda->cuStreamEndCapture(gpu->stream, &graph);
	done = done && gpu_succeeded(gpu, ended, "capturing a graph", failure) &&
	       gpu_succeeded(gpu, cuda->cuGraphInstantiateWithFlags(&contender->graph, graph, 0),
		       "instantiating a graph", failure) &&
	       gpu_succeeded(gpu, cuda->cuGraphUpload(contender->graph, gpu->stream),
		       "uploading a graph", failure);
	if (graph)
		cuda->cuGraphDestroy(graph);
	return done;
}

/* Every set has its turn in one graph, so that all contenders meet the same caches. */
static unsigned runs_of(const struct contender *contender)
{
	unsigned runs = runner_runs_per_sample(contender->estimate_us, OPERATIONS_PER_RUN);

	if (runs > 1 && runs < contender->set_count)
		runs = (unsigned)contender->set_count;
	return runs;
}

bool race_prepare(struct gpu_session *gpu, struct contender *contender, struct failure *failure)
{
	bool done = gpu_succeeded(gpu, gpu->cuda.cuEventCreate(&contender->begin, CU_EVENT_DEFAULT),
			    "making an event", failure) &&
		    gpu_succeeded(gpu, gpu->cuda.cuEventCreate(&contender->end, CU_EVENT_DEFAULT),
			    "making an event", failure);

	/* the first run alone: lazy loading, and a crash shows here */
	done = done && run_next(gpu, contender, failure) &&
	       gpu_synchronize(gpu, "a first run", failure) && helper_spacer(gpu, failure) &&
	       run_next(gpu, contender, failure) && record(gpu, contender->begin, failure) &&
	       run_next(gpu, contender, failure) && record(gpu, contender->end, failure) &&
	       elapsed_us(gpu, contender, &contender->estimate_us, failure);
	if (!done)
		return false;
	contender->runs = runs_of(contender);
	return contender->runs == 1 || graph_make(gpu, contender, failure);
}

static bool turn(struct gpu_session *gpu, struct contender *contender, struct failure *failure)
{
	if (!helper_spacer(gpu, failure) || !run_next(gpu, contender, failure) ||
		!record(gpu, contender->begin, failure))
		return false;
	if (contender->graph) {
		if (!gpu_succeeded(gpu, gpu->cuda.cuGraphLaunch(contender->graph, gpu->stream),
			    "replaying a graph", failure))
			return false;
	} else if (!run_next(gpu, contender, failure)) {
		return false;
	}
	return record(gpu, contender->end, failure);
}

bool race_rounds(struct gpu_session *gpu, struct contender *const *contenders, size_t count,
	size_t least, size_t rounds, double seconds, struct failure *failure)
{
	double end = clock_seconds() + seconds;

	for (size_t round = 0; round < rounds && (round < least || clock_seconds() < end);
		round++) {
		for (size_t i = 0; i < count; i++)
			if (!turn(gpu, contenders[(i + round) % count], failure))
				return false;
		for (size_t i = 0; i < count; i++) {
			struct contender *contender = contenders[i];
			double us;

			if (!elapsed_us(gpu, contender, &us, failure))
				return false;
			ARRAY_GROW(contender->samples_us, contender->sample_count,
				contender->sample_capacity);
			contender->samples_us[contender->sample_count++] = us / contender->runs;
		}
	}
	return true;
}

double race_median_us(const struct contender *contender)
{
	return statistics_summary(contender->samples_us, contender->sample_count).median;
}

void race_restart(struct contender *contender)
{
	contender->sample_count = 0;
}

void contender_release(struct gpu_session *gpu, struct contender *contender)
{
	if (contender->graph)
		gpu->cuda.cuGraphExecDestroy(contender->graph);
	if (contender->begin)
		gpu->cuda.cuEventDestroy(contender->begin);
	if (contender->end)
		gpu->cuda.cuEventDestroy(contender->end);
	free(contender->samples_us);
	*contender = (struct contender){0};
}
