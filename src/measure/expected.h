/* SPDX-License-Identifier: MIT
 *
 * The expected values of a problem's outputs. A reference kernel computes them at a list of
 * points, a file contains them, or the trusted configuration produces them in one run. There are
 * values for two sets of inputs, because a kernel could be correct only on inputs that it has seen
 * before.
 *
 * Candidates can read neither the values nor the list of compared points. Both are encrypted,
 * except while they are compared, when no candidate runs.
 */
#ifndef MEASURE_EXPECTED_H
#define MEASURE_EXPECTED_H

#include "measure/problem_data.h"

/* Computes the expected values for the first inputs, unless they exist already. */
bool expected_prepare(struct gpu_session *gpu, struct problem_data *problem);
/* Does the same for the second inputs. Must follow expected_prepare(). Afterwards the tensors hold
 * the first inputs again. If the reference fails on the second inputs, the function sets the
 * problem's has_no_second and succeeds; it fails only if the context is lost. */
bool expected_prepare_second(struct gpu_session *gpu, struct problem_data *problem);
/* Queues the decryption of units and values before comparisons, or the encryption after them. */
bool expected_cipher(
	struct gpu_session *gpu, const struct problem_data *problem, enum inputs inputs);
/* Returns the scale of absolute tolerances: the largest finite |value|, or 0 if all values are
 * zero. Masks (such as -1e9 in attention scores) do not count, because the errors of other elements
 * are not proportional to them. tt_magnitudes fills the groups. Pure function. */
double expected_scale(const struct helper_magnitude_group *groups);
/* Tells the user how to change inputs for which the reference computes NaN or infinity. */
extern const char expected_finite_hint[];
void expected_release(struct gpu_session *gpu, struct problem_data *problem);

#endif
