/* SPDX-License-Identifier: MIT
 *
 * Is a candidate's result right? Outputs are poisoned with NaN, the candidate runs on set 0, and
 * the GPU compares: guard zones, inputs and the output's pitch untouched (else out_of_bounds);
 * elements within the tolerance of the reference (else wrong_result); a second run on a poisoned
 * output gives the same bits (else nondeterministic).
 */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "measure/loaded.h"

/* Fills outcome, detail, fatal and verification of result. */
void loaded_verify(struct gpu_session *gpu, struct loaded *loaded, struct measure_result *result);

#endif
