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
void expected_release(struct gpu_session *gpu, struct problem_data *problem);

#endif
