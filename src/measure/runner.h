/* SPDX-License-Identifier: MIT
 *
 * Times one candidate with single runs or graphs between events (README.md).
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
	bool restores_inputs;     /* runs overwrite their inputs */
	double estimate_us;       /* 0 before runner_prepare() */
	unsigned runs_per_sample; /* 1 means no graph */
	CUgraphExec *graphs;      /* the graphs cover all sets and are made on first use */
	size_t graph_count;
	size_t group_size_variants; /* number of group sizes; each sample covers all */
	size_t next_set, next_graph;
	unsigned batch_samples; /* number of queued samples */
};

/* Warms up the GPU, and chooses the method from the times of single runs. */
bool runner_prepare(
	struct gpu_session *gpu, struct runner *runner, double estimates_us[RUNNER_ESTIMATES]);
/* Queues up to `count` samples (1 to RUNNER_VISIT_SAMPLES_MAX), fewer for kernels that work in
 * place, and sets batch_samples. Call runner_finish() next. */
bool runner_start(struct gpu_session *gpu, struct runner *runner, unsigned count);
/* Chooses a sample with a run on `set`, which uses *count sets from *first on. Queues an untimed
 * run on another set, if any. The caller then fills and poisons the sets, so that the untimed run
 * cannot compute their results. */
bool runner_warm_on(
	struct gpu_session *gpu, struct runner *runner, size_t set, size_t *first, size_t *count);
/* Restores the tensors of all sets that runs overwrite. */
bool runner_restore(struct gpu_session *gpu, const struct runner *runner);
/* Queues the sample that runner_warm_on() chose. Call runner_finish() next. */
bool runner_start_chosen(struct gpu_session *gpu, struct runner *runner);
/* Prepares `once`, whose samples use no set twice. */
void runner_prepare_once(const struct runner *prepared, struct runner *once);
/* Waits for the queued samples. samples_us gets microseconds per run. */
bool runner_finish(struct gpu_session *gpu, struct runner *runner, double *samples_us);
void runner_release(struct gpu_session *gpu, struct runner *runner);

/* Returns a power of two; 1 means no graph. */
unsigned runner_runs_per_sample(double estimate_us, size_t operations);

/* Runs spacer kernels until the clock is high. */
bool runner_warm_up(struct gpu_session *gpu, double least_s, double most_s);

/* *time_us gets the mean time of a run, including the gap of about 1 us between runs, in the second
 * half of `seconds`, when the clock has settled. */
bool runner_sustain(
	struct gpu_session *gpu, struct runner *runner, double seconds, double *time_us);

/* Measures for up to three times `seconds`. The energy is NaN without an energy counter and for
 * kernels that work in place. */
bool energy_measure(
	struct gpu_session *gpu, struct runner *runner, double seconds, struct measured *measured);

#endif
