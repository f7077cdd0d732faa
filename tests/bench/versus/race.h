/* SPDX-License-Identifier: MIT
 *
 * Contenders timed side by side on one stream: rounds in which each has its turn, first in another
 * place each time, so that clock and temperature hit all alike. A turn is one sample: a single run
 * of a long kernel, or the replay of a CUDA graph of many runs of a short one; runs take the
 * problem's buffer sets in turn, more than twice the L2 together. Before each sample the GPU is
 * busy with other work and one untimed run, so that the sample starts without a gap.
 */
#ifndef VERSUS_RACE_H
#define VERSUS_RACE_H

#include "measure/gpu_session.h"

enum {
	RACE_CONTENDERS_MAX = 16,
};

/* Queues one run on the session's stream, on that set of buffers. */
typedef bool race_run(
	const void *context, struct gpu_session *gpu, size_t set, struct failure *failure);

struct contender {
	race_run *run;
	const void *context;
	size_t set_count; /* a power of two */

	/* made by race_prepare() */
	double estimate_us;
	unsigned runs;     /* per sample */
	CUgraphExec graph; /* NULL: single runs */
	size_t next_set;
	CUevent begin, end;

	double *samples_us; /* per run; one per round, so that sample i of all belongs together */
	size_t sample_count, sample_capacity;
};

/* First runs, an estimate, the graph. A contender that fails here has no part in races. */
bool race_prepare(struct gpu_session *gpu, struct contender *contender, struct failure *failure);
/* Adds up to `rounds` samples to each; ends early once `seconds` are over and at least `least`
 * rounds are done. */
bool race_rounds(struct gpu_session *gpu, struct contender *const *contenders, size_t count,
	size_t least, size_t rounds, double seconds, struct failure *failure);
/* Median of the samples. */
double race_median_us(const struct contender *contender);
/* Forgets the samples. */
void race_restart(struct contender *contender);
void contender_release(struct gpu_session *gpu, struct contender *contender);

#endif
