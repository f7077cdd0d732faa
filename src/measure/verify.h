/* SPDX-License-Identifier: MIT
 *
 * Verifies the results of a loaded candidate.
 */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "measure/loaded.h"

/* Poisons the outputs (with NaN; integers with an unlikely value), restores tensors that are
 * overwritten in place, and runs the candidate on set 0. The outcome is
 * - out_of_bounds if guard zones, inputs or the bytes between output rows changed;
 * - wrong_result if elements differ from the expected values by more than the tolerance;
 * - nondeterministic if a second run gives other bits, unless the reference allows it.
 * Fills in outcome, detail, verification, fatal and reference_failed of the reply.
 *
 * A correct and deterministic candidate then runs once on each set of probe inputs
 * (problem_data.h), for the digest of the result. The digest stays NULL if these sets do not fit
 * into memory. */
void verify_run(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply);

/* ---- verification of timed runs ---- */
/* Computes the expected values, unless they exist. If the reference fails, sets the reply's
 * reference_failed and returns false. */
bool verify_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct device_reply *reply);
/* The sets on which a sample ran, with poisoned outputs. The results on `set` are compared. It held
 * the second inputs, or the first ones if the problem has no second inputs. */
struct verify_sample {
	size_t first, count, set;
};
/* Queues the comparison, for verify_sample(). Other work may be queued in between. */
bool verify_sample_queue(
	struct gpu_session *gpu, const struct loaded *loaded, const struct verify_sample *sample);
/* Waits for the comparison. Sets the outcome to wrong_result, with a detail, if the results on that
 * set are wrong or the kernel wrote nothing on another one. with_memory also does what
 * verify_memory() does. Returns false only if the check itself failed. */
bool verify_sample(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, bool with_memory, struct result *result);
/* Sets the outcome to out_of_bounds, with a detail, if guard zones or inputs of any set changed.
 * All sets must hold the first inputs. Returns false only if the check itself failed. */
bool verify_memory(struct gpu_session *gpu, const struct loaded *loaded, struct result *result);

#endif
