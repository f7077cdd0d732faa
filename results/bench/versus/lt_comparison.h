/* SPDX-License-Identifier: MIT
 *
 * One entry of a tuned file against cuBLASLt: do they agree, and who is faster.
 */
#ifndef VERSUS_LT_COMPARISON_H
#define VERSUS_LT_COMPARISON_H

#include "base/json.h"
#include "bench/versus/lt.h"
#include "bench/versus/subject.h"
#include "measure/gpu_session.h"

struct lt_comparison_options {
	size_t rounds;      /* at most, of the interleaved timing */
	double seconds;     /* for the interleaved timing; at least 7 rounds are done */
	int picks;          /* of cuBLASLt that are tried, 1 to LT_PICKS_MAX */
	double gap_seconds; /* for the timing of single runs with gaps between them; 0: none */
};

struct lt_comparison {
	char *problem, *family, *configuration; /* copies; the first may be NULL */
	struct lt_shape shape;                  /* of the first product */
	bool is_chain;                          /* there is a second one */
	double flop;
	bool kernel_changed;
	char *skipped; /* why there is no result */
	bool fatal;    /* the context is gone: nothing more can be measured */

	int pick_count, best_pick; /* of a chain: of the first product; its place by time */
	size_t rounds;
	double ours_us, default_us, best_us;
	double first_us; /* the best of the first LT_PICKS */
	/* time of cuBLASLt's best pick over ours, of the rounds: above 1 we are faster */
	double ratio, ratio_q25, ratio_q75, ratio_low, ratio_high;
	/* the same of single runs with gaps, best pick and ours; 0: not measured */
	double gap_ratio, gap_ours_us, gap_best_us;
	double difference; /* relative norm of ours - theirs */
	bool agrees;
};

/* Never fails: what goes wrong stands in `skipped`. store: has the subject's kernels. */
void lt_comparison_run(struct gpu_session *gpu, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison);
void lt_comparison_release(struct lt_comparison *lt_comparison);

/* Where the rows begin: what a kernel must cope with. */
enum alignment_class {
	ALIGNED,      /* every row at a multiple of 16 bytes */
	MISALIGNED_C, /* only those of C are not: N odd */
	MISALIGNED,   /* those of A or B are not: K odd */
};
enum alignment_class lt_comparison_alignment(const struct lt_comparison *lt_comparison);

#endif
