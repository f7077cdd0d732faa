/* SPDX-License-Identifier: MIT
 *
 * Runs timed side by side on one stream: rounds in which each has its turn, first in another
 * place each time, so that clock and temperature hit all alike. A turn is one sample: a single run
 * of a long kernel, or the replay of a CUDA graph of many runs of a short one; runs take the
 * problem's buffer sets in turn, more than twice the L2 together. Before each sample the GPU is
 * busy with other work and one untimed run, so that the sample starts without a gap.
 */
#ifndef VERSUS_INTERLEAVED_H
#define VERSUS_INTERLEAVED_H

#include "measure/gpu_session.h"

enum {
	ROWS_AT_ONCE_MAX = 16,
};

/* Queues one run on the session's stream, on that set of buffers. */
typedef bool interleaved_run(const void *context, struct gpu_session *gpu, size_t set);

struct timed_run {
	interleaved_run *run;
	const void *context;
	size_t set_count; /* a power of two */

	/* made by interleaved_prepare() */
	double estimate_us;
	unsigned runs;     /* per sample */
	CUgraphExec graph; /* NULL: single runs */
	size_t next_set;
	CUevent begin, end;

	double *samples_us; /* per run; one per round, so that sample i of all belongs together */
	size_t sample_count, sample_capacity;
};

/* First runs, an estimate, the graph. A timed_run that fails here has no part in the timing. */
bool interleaved_prepare(struct gpu_session *gpu, struct timed_run *timed_run);
/* Adds up to `rounds` samples to each; ends early once `seconds` are over and at least `least`
 * rounds are done. */
bool interleaved_rounds(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds);
/* Adds one sample of one single run to each in every round, as a program meets them that runs now
 * and then: the GPU has been idle for 0.2 to 2 ms, drawn at random, and the buffers are those that
 * were used longest ago; host time of the launch counts where the GPU waits for it. In each round
 * they come in an order drawn at random. Ends as interleaved_rounds() does. */
bool interleaved_gaps(struct gpu_session *gpu, struct timed_run *const *timed_runs, size_t count,
	size_t least, size_t rounds, double seconds);
/* Median of the samples. */
double interleaved_median_us(const struct timed_run *timed_run);
/* Forgets the samples. */
void interleaved_restart(struct timed_run *timed_run);
void timed_run_release(struct gpu_session *gpu, struct timed_run *timed_run);

#endif
