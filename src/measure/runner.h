/* SPDX-License-Identifier: MIT
 *
 * How one candidate is timed. Long kernels: one run per sample between two events. Short ones: a
 * sample is the replay of a CUDA graph of many runs, so that launch overhead is out. Runs take the
 * problem's buffer sets in turn; where they overwrite tensors in place, all sets are copied back
 * before a visit, and none is run on twice in it. Each visit starts behind other work on the GPU,
 * so that its first sample does not contain the processor's time for queueing it. Where sets differ
 * in how large groups are, every sample is a mean over all sets.
 */
#ifndef MEASURE_RUNNER_H
#define MEASURE_RUNNER_H

#include "measure/loaded.h"

enum {
	RUNNER_VISIT_SAMPLES_MAX = 8,
	RUNNER_ESTIMATES = 2,
};

struct runner {
	const struct loaded *loaded;
	bool rewinds;             /* runs overwrite tensors that they read */
	double estimate_us;       /* of one run; 0: not prepared */
	unsigned runs_per_sample; /* 1: timed without a graph */
	CUgraphExec *graphs;      /* together they cover all sets; made when first needed */
	size_t graph_count;
	size_t draws; /* of group sizes in the sets; each sample has all of them */
	size_t next_set, next_graph;
	unsigned visit_samples; /* how many are queued at present */
};

/* Warm-up, first timing, choice of the method. estimates_us: two timings of single runs. */
bool runner_prepare(
	struct gpu_session *gpu, struct runner *runner, double estimates_us[RUNNER_ESTIMATES]);
/* Queues `count` samples (1..RUNNER_VISIT_SAMPLES_MAX), or fewer where sets are not run on twice
 * (visit_samples); the GPU works until runner_finish(). */
bool runner_start(struct gpu_session *gpu, struct runner *runner, unsigned count);
/* Queues one sample that runs on `set` and on those sets that go with it; they are told by *first
 * and *count. The caller has filled them as it wants: the run that comes before the sample is on
 * another set, or there is none. */
bool runner_start_on(
	struct gpu_session *gpu, struct runner *runner, size_t set, size_t *first, size_t *count);
/* Another runner of the same kernel, prepared as the first one is, but no sample of which runs on a
 * set twice. */
void runner_prepare_once(const struct runner *prepared, struct runner *once);
/* Waits for them: microseconds per run. */
bool runner_finish(struct gpu_session *gpu, struct runner *runner, double *samples_us);
void runner_release(struct gpu_session *gpu, struct runner *runner);

/* How many runs a sample holds (a power of two; 1: no graph) for a kernel of this duration with
 * that many stream operations per run. Pure function. */
unsigned runner_runs_per_sample(double estimate_us, size_t operations);

/* Keeps the GPU at work until its clock is up: at least the one time, at most the other. */
bool runner_warm_up(struct gpu_session *gpu, double least_s, double most_s);

/* What a run takes of the GPU's energy. A prepared runner, busy for `seconds` at least and three
 * times that at most. NaN where the card says nothing, and of kernels that work in place. */
bool energy_measure(
	struct gpu_session *gpu, struct runner *runner, double seconds, struct measured *measured);

#endif
