/* SPDX-License-Identifier: MIT
 *
 * What a problem's outputs should hold: computed by a reference kernel at a list of points, read
 * from a file, or left by the trusted configuration, which is run once. There are values for two
 * kinds of inputs, so that no kernel is right only on inputs that it has met before.
 *
 * Candidates cannot read the values, nor which points are compared: both are enciphered but between
 * expected_begin() and expected_end(), while nothing of a candidate runs.
 */
#ifndef MEASURE_EXPECTED_H
#define MEASURE_EXPECTED_H

#include "measure/problem_data.h"

/* Computes the values on the first inputs, if that is not done yet. */
bool expected_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* The same on the second inputs, after expected_prepare(). The first ones are in place afterwards.
 * If the reference fails on them, has_no_second of the problem is set, and only the loss of the
 * context is a failure. */
bool expected_prepare_second(struct gpu_session *gpu, struct problem_data *problem);
/* Around comparisons; queued. */
bool expected_begin(
	struct gpu_session *gpu, const struct problem_data *problem, enum inputs inputs);
bool expected_end(struct gpu_session *gpu, const struct problem_data *problem, enum inputs inputs);
/* To what an absolute tolerance is relative: the largest finite |value|, masks (such as -1e9 in
 * attention scores) left out, because no error of other elements is in proportion to them. 0: all
 * are zero. Groups as tt_magnitudes fills them. Pure function. */
double expected_scale(const struct helper_magnitude_group *groups);
void expected_release(struct gpu_session *gpu, struct problem_data *problem);

#endif
