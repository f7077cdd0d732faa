/* SPDX-License-Identifier: MIT
 *
 * The anchor: a fixed kernel of the helpers whose time depends on the clock alone. Every run stores
 * it, so that a slower clock is not taken for a slower kernel. It is loaded and sampled like any
 * candidate, by this plan, with the helpers' cubin and without a problem.
 */
#ifndef MEASURE_ANCHOR_H
#define MEASURE_ANCHOR_H

#include "family/plan.h"

/* Caller releases. */
void anchor_plan(int64_t sm_count, struct plan *plan);

#endif
