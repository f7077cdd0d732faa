/* SPDX-License-Identifier: MIT
 *
 * Times one candidate. A sample of a long kernel is one run between two events. A sample of a short
 * kernel is the replay of a CUDA graph of many runs, which excludes launch overhead. Runs use the
 * problem's buffer sets in turn. If they overwrite tensors in place, all sets are restored before
 * each sample batch, and the batch uses no set twice. A spacer kernel runs before each batch, so
 * that the first sample does not contain the host's time for queueing. If group sizes differ
 * between sets, every sample is a mean over all sets.
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
	bool restores_inputs;     /* runs overwrite tensors that they read */
	double estimate_us;       /* time of one run; 0 if not prepared */
	unsigned runs_per_sample; /* 1 if runs are timed without a graph */
	CUgraphExec *graphs;      /* together they cover all sets; each is made on first use */
	size_t graph_count;
	size_t group_size_variants; /* number of variants of group sizes; each sample contains all
				       of them */
	size_t next_set, next_graph;
	unsigned batch_samples; /* number of queued samples */
};

/* Warms up the GPU, times the kernel for the first time, and chooses the method. estimates_us gets
 * the times of single runs. */
bool runner_prepare(
	struct gpu_session *gpu, struct runner *runner, double estimates_us[RUNNER_ESTIMATES]);
/* Queues up to `count` samples (1..RUNNER_VISIT_SAMPLES_MAX); fewer for in-place kernels, which use
 * each buffer set only once. Sets batch_samples to their number. runner_finish() must follow. */
bool runner_start(struct gpu_session *gpu, struct runner *runner, unsigned count);
/* Chooses a sample that includes a run on `set`, sets *first and *count to the range of all sets in
 * it, and queues an untimed run on a set outside of this range, if there is one. Then the caller
 * fills and poisons the sets, so that the untimed run cannot compute results of the timed ones. */
bool runner_warm_on(
	struct gpu_session *gpu, struct runner *runner, size_t set, size_t *first, size_t *count);
/* Queues the restoration of tensors that runs overwrite in place. Does nothing if there are none.
 */
bool runner_restore(struct gpu_session *gpu, const struct runner *runner);
/* Queues the chosen sample; runner_finish() must follow. */
bool runner_start_chosen(struct gpu_session *gpu, struct runner *runner);
/* Makes a second runner of a prepared kernel whose samples use no set twice. */
void runner_prepare_once(const struct runner *prepared, struct runner *once);
/* Waits for the queued samples and stores their times in microseconds per run. */
bool runner_finish(struct gpu_session *gpu, struct runner *runner, double *samples_us);
void runner_release(struct gpu_session *gpu, struct runner *runner);

/* Returns the number of runs per sample, a power of two, for a kernel of this duration and number
 * of stream operations per run. 1 means that there is no graph. Pure function. */
unsigned runner_runs_per_sample(double estimate_us, size_t operations);

/* Keeps the GPU busy until its clock is high, for at least least_s and at most most_s. */
bool runner_warm_up(struct gpu_session *gpu, double least_s, double most_s);

/* Keeps the GPU busy with a prepared runner for `seconds`. *time_us gets the mean time of a run in
 * the second half, when the clock has settled at what the power limit allows. It includes the gap
 * between queued runs, about 1 us. */
bool runner_sustain(
	struct gpu_session *gpu, struct runner *runner, double seconds, double *time_us);

/* Measures the energy of a run with a prepared runner, which runs for between one and three times
 * `seconds`, and the clock meanwhile. The result is NaN if the card does not report energy, and for
 * in-place kernels. */
bool energy_measure(
	struct gpu_session *gpu, struct runner *runner, double seconds, struct measured *measured);

#endif
