/* SPDX-License-Identifier: MIT
 *
 * The expected values of a problem's outputs. Candidates can read neither them nor the list of
 * compared points: both are encrypted, except during comparisons.
 */
#ifndef MEASURE_EXPECTED_H
#define MEASURE_EXPECTED_H

#include "measure/problem_data.h"

bool expected_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* Computes the values for the second inputs, after expected_prepare(), and leaves the first inputs
 * in the tensors. If the reference fails, sets has_no_second and succeeds; fails only if the
 * context is lost. */
bool expected_prepare_second(struct gpu_session *gpu, struct problem_data *problem);
/* Decrypts the expected values before comparisons, and encrypts them afterwards. */
bool expected_cipher(
	struct gpu_session *gpu, const struct problem_data *problem, enum inputs inputs);
/* Returns the scale of absolute tolerances: the largest finite |value|, or 0. Masks (such as -1e9
 * in attention scores) do not count, because errors of other elements are not proportional to them.
 * tt_magnitudes fills the groups. */
double expected_scale(const struct helper_magnitude_group *groups);
extern const char expected_finite_hint[];
void expected_release(struct gpu_session *gpu, struct problem_data *problem);

#endif
