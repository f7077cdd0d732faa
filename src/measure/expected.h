/* SPDX-License-Identifier: MIT
 *
 * What a problem's outputs should hold: of a reference kernel at a list of points, of a file, or of
 * the trusted configuration, run once. Computed when the first candidate is verified.
 */
#ifndef MEASURE_EXPECTED_H
#define MEASURE_EXPECTED_H

#include "measure/problem_data.h"

/* Computes the expected values, if that is not done yet. */
bool expected_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* To what an absolute tolerance is relative: the largest finite |value|, masks (such as -1e9 in
 * attention scores) left out, because no error of other elements is in proportion to them. 0: all
 * are zero. Groups as tt_magnitudes fills them. Pure function. */
double expected_scale(const struct helper_magnitude_group *groups);
void expected_release(struct gpu_session *gpu, struct problem_data *problem);

#endif
