/* SPDX-License-Identifier: MIT
 *
 * Times runs in turn on one stream. In each round every run has one turn, in rotating order, so
 * that clock and temperature affect all alike. A turn is one sample: a single run of a long kernel,
 * or the replay of a CUDA graph with many runs of a short one. Runs use the problem's buffer sets
 * in turn, which together exceed twice the L2 cache. Before each sample the GPU executes other work
 * and one untimed run, so that the sample starts without a gap.
 */
#ifndef VERSUS_INTERLEAVED_H
#define VERSUS_INTERLEAVED_H

#include "measure/gpu_session.h"

enum {
	ROWS_AT_ONCE_MAX = 16,
};

/* Queues one run on the session's stream, which uses that buffer set. */
typedef bool interleaved_run(const void *context, struct gpu_session *gpu, size_t set);

struct timed_run {
	interleaved_run *run;
	const void *context;
	size_t set_count; /* number of buffer sets, a power of two */

	/* set by interleaved_prepare() */
	double estimate_us;
	unsigned runs;     /* number of runs per sample */
	CUgraphExec graph; /* NULL if runs are launched one by one */
	size_t next_set;
	CUevent begin, end;

	double *samples_us; /* time per run in us; one per round, so that sample i of all kernels
			       belongs to one round */
	size_t sample_count, sample_capacity;
};

/* Makes the first runs, estimates the time, and captures the graph. A timed_run that fails here is
 * not timed. */
bool interleaved_prepare(struct gpu_session *gpu, struct timed_run *timed_run);
/* Adds up to `rounds` samples to each, and ends early after `seconds` if at least `least` rounds
 * are done. */
bool interleaved_rounds(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds);
/* Adds one sample of a single run to each in every round, like a program that launches a kernel
 * occasionally. The GPU has been idle for a random time of 0.2 to 2 ms, and the least recently
 * used buffers are used. Host time of the launch counts if the GPU waits for it. The order in
 * each round is random. Ends like interleaved_rounds(). */
bool interleaved_gaps(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds);
/* Returns the median of the samples. */
double interleaved_median_us(const struct timed_run *timed_run);
/* Deletes all samples. */
void interleaved_restart(struct timed_run *timed_run);
void timed_run_release(struct gpu_session *gpu, struct timed_run *timed_run);

#endif
