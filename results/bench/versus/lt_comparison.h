/* SPDX-License-Identifier: MIT
 *
 * Compares one entry of a tuned file with cuBLASLt: equality of results, and speed.
 */
#ifndef VERSUS_LT_COMPARISON_H
#define VERSUS_LT_COMPARISON_H

#include "base/json.h"
#include "bench/versus/lt.h"
#include "bench/versus/subject.h"
#include "measure/gpu_session.h"

struct lt_comparison_options {
	size_t rounds;      /* maximum number of rounds of the interleaved timing */
	double seconds;     /* for the interleaved timing; at least 7 rounds are done */
	int picks;          /* number of cuBLASLt's picks to try, 1 to LT_PICKS_MAX */
	double gap_seconds; /* seconds of single runs with gaps; 0 omits these runs */
};

struct lt_comparison {
	char *problem, *family, *configuration; /* copies of strings; the first may be NULL */
	struct lt_shape shape;                  /* shape of the first product */
	bool is_chain;                          /* whether there is a second product */
	double flop;
	bool kernel_changed;
	char *skipped; /* reason for a missing result */
	bool fatal;    /* the context is lost, so nothing more can be measured */

	int pick_count, best_pick; /* rank of the best pick by time; for a chain both count the
				      picks of the first product */
	size_t rounds;
	double ours_us, default_us, best_us;
	double first_us; /* time of the best of the first LT_PICKS picks */
	/* time of cuBLASLt's best pick over ours, per round; above 1, our kernel is faster */
	double ratio, ratio_q25, ratio_q75, ratio_low, ratio_high;
	/* the same ratio and times for single runs with gaps; 0 if not measured */
	double gap_ratio, gap_ours_us, gap_best_us;
	double difference; /* relative norm of the difference between our output and cuBLASLt's */
	bool agrees;
};

/* Never fails: `skipped` holds the reason of a missing result. store contains the subject's
 * kernels. */
void lt_comparison_run(struct gpu_session *gpu, const struct lt *lt, struct kernel_store *store,
	const struct subject *subject, const struct lt_comparison_options *options,
	struct lt_comparison *lt_comparison);
void lt_comparison_release(struct lt_comparison *lt_comparison);

/* Alignment of a product's rows. */
enum alignment_class {
	ALIGNED,      /* every row at a multiple of 16 bytes */
	MISALIGNED_C, /* all rows are aligned but those of C (N is odd) */
	MISALIGNED,   /* all rows are aligned but those of A or B (K is odd) */
};
enum alignment_class lt_comparison_alignment(const struct lt_comparison *lt_comparison);

#endif
