/* SPDX-License-Identifier: MIT
 *
 * Traffic: the bytes of a launch at each level of the memory, with what conflicts and
 * misalignment add, and its arithmetic intensity.
 *
 * Sources: the family's model (amounts per unit of work, DRAM bytes of the whole launch); factors
 * from bank_conflict.h and alignment.h; arithmetic intensity as in S. Williams et al., "Roofline",
 * CACM 52(4), 2009: operations / bytes moved.
 */
#ifndef SCORE_TRAFFIC_H
#define SCORE_TRAFFIC_H

#include "family/plan.h"

struct traffic {
	/* Shared memory per step, with bank conflicts: of the accesses that the model lists. */
	double smem_read_bytes, smem_write_bytes;
	double bank_conflict_ratio; /* wavefronts / least that could deliver the same words */
	/* Touched / least possible, mean over the rows of all tiles; 1 without tiles. */
	double lines_per_row_ratio, sectors_per_row_ratio;
	double lines_read_ratio,
		lines_written_ratio; /* lines_per_row_ratio of inputs, of outputs */
	double l2_bytes;             /* whole launch, in sectors */
	double dram_bytes;           /* whole launch */
	double flop;                 /* whole launch, padding included */
};

void traffic_compute(const struct launch_work *launch, struct traffic *traffic);

/* FLOP per byte; 0 without bytes. */
double traffic_intensity(double flop, double bytes);

#endif
