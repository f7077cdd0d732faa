/* SPDX-License-Identifier: MIT
 *
 * One entry of a tuned file against cuBLASLt: do they agree, and who is faster.
 */
#ifndef VERSUS_DUEL_H
#define VERSUS_DUEL_H

#include "base/json.h"
#include "bench/versus/lt.h"
#include "bench/versus/subject.h"
#include "measure/gpu_session.h"

struct duel_options {
	size_t rounds;  /* at most, of the final */
	double seconds; /* for the final; at least 7 rounds are done */
};

struct duel {
	char *problem, *family, *configuration; /* copies; the first may be NULL */
	struct lt_shape shape;
	double flop;
	bool kernel_changed;
	char *skipped; /* why there is no result */
	bool fatal;    /* the context is gone: nothing more can be measured */

	int pick_count, best_pick;
	size_t rounds;
	double ours_us, default_us, best_us;
	/* time of cuBLASLt's best pick over ours, of the rounds: above 1 we are faster */
	double ratio, ratio_q25, ratio_q75, ratio_low, ratio_high;
	double difference; /* relative norm of ours - theirs */
	bool agrees;
};

/* Never fails: what goes wrong stands in `skipped`. store: has the subject's kernels. */
void duel_fight(struct gpu_session *gpu, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct duel_options *options, struct duel *duel);
void duel_release(struct duel *duel);

/* Where the rows begin: what a kernel must cope with. */
enum alignment_class {
	ALIGNED,      /* every row at a multiple of 16 bytes */
	MISALIGNED_C, /* only those of C are not: N odd */
	MISALIGNED,   /* those of A or B are not: K odd */
};
enum alignment_class duel_alignment(const struct duel *duel);

#endif
