/* SPDX-License-Identifier: MIT
 *
 * Whether a loaded candidate's result is right.
 */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "measure/loaded.h"

/* Outputs are poisoned (NaN; integers with an unlikely value), tensors that are overwritten in
 * place are as they were, the candidate runs on set 0, and the GPU compares: guard zones, inputs
 * and the outputs' pitch untouched (else out_of_bounds); elements within the tolerance of what is
 * expected (else wrong_result); a second run gives the same bits (else nondeterministic). Asked
 * again after it was sampled, this tells whether it still does what it did at first. Fills in
 * outcome, detail, verification, fatal and reference_failed of the reply.
 *
 * What is right and does not vary then runs once on each set of made inputs (problem_data.h), for
 * the digests of the result: they stay NULL where those sets do not fit into memory. */
void verify_run(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply);
/* After timed runs: guard zones and inputs of all sets are untouched (else out_of_bounds). */
void verify_after(struct gpu_session *gpu, const struct loaded *loaded, struct device_reply *reply);

#endif
