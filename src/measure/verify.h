/* SPDX-License-Identifier: MIT
 *
 * Verifies the results of a loaded candidate.
 */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "measure/loaded.h"

/* Poisons the outputs, restores tensors that are overwritten in place, and runs the candidate twice
 * on set 0. The outcome is
 * - out_of_bounds if guard zones, inputs or bytes between output rows changed;
 * - wrong_result if elements differ from the expected values by more than the tolerance;
 * - nondeterministic if the second run gives other bits, unless the reference allows it.
 * Fills in outcome, detail, verification, fatal and reference_failed. A correct and deterministic
 * candidate then runs on the probe inputs (problem_data.h) for the digest, if they fit into memory.
 */
void verify_run(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply);

/* ---- verification of timed runs ---- */
/* Computes the expected values, unless they exist. Sets reference_failed if the reference fails. */
bool verify_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct device_reply *reply);
/* The sets of a sample, with poisoned outputs. `set`, whose results are compared, held the second
 * inputs, or the first ones if there are no others. */
struct verify_sample {
	size_t first, count, set;
};
/* Queues the comparison for verify_sample(), which other work may precede. */
bool verify_sample_queue(
	struct gpu_session *gpu, const struct loaded *loaded, const struct verify_sample *sample);
/* Sets outcome and detail to wrong_result if results of `set` are wrong or another set is
 * unwritten. with_memory includes verify_memory(). Returns false only if the check failed. */
bool verify_sample(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, bool with_memory, struct result *result);
/* Sets outcome and detail to out_of_bounds if guard zones or inputs changed. All sets must hold the
 * first inputs. Returns false only if the check failed. */
bool verify_memory(struct gpu_session *gpu, const struct loaded *loaded, struct result *result);

#endif
