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

/* ---- after timed runs. False: gpu->failure says why; else the outcome and detail of result,
 * unless all is well ---- */
/* Computes what is expected, if that is not done yet; reference_failed of the reply: that
 * cannot be done.
 */
bool verify_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct device_reply *reply);
/* The sets that one sample ran on, with poisoned outputs; one of them held the second inputs (the
 * first ones where the problem has no second), and is compared. */
struct verify_sample {
	size_t first, count, set;
};
/* Right on that set, and nothing left out on the others (else wrong_result). */
bool verify_sample(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, struct result *result);
/* Guard zones and inputs of all sets are untouched (else out_of_bounds). All sets hold the first
 * inputs. */
bool verify_memory(struct gpu_session *gpu, const struct loaded *loaded, struct result *result);

#endif
