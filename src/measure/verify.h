/* SPDX-License-Identifier: MIT */
#ifndef MEASURE_VERIFY_H
#define MEASURE_VERIFY_H

#include "measure/loaded.h"

/* Runs the candidate twice on set 0, and compares its outputs (README.md). Fills in outcome,
 * detail, verification, fatal and reference_failed. A correct and deterministic candidate then runs
 * on the probe inputs for the digest, if they fit into memory. */
void verify_run(struct gpu_session *gpu, struct loaded *loaded, struct device_reply *reply);

/* Computes missing expected values; may set reference_failed. */
bool verify_prepare(
	struct gpu_session *gpu, struct problem_data *problem, struct device_reply *reply);
/* A sample's sets are `count` from `first` on. Set `set` is compared; it holds the second inputs,
 * or the first if there are no second ones. */
struct verify_sample {
	size_t first, count, set;
};
/* Queues the comparison of verify_sample(). Other work may follow. */
bool verify_sample_queue(
	struct gpu_session *gpu, const struct loaded *loaded, const struct verify_sample *sample);
/* The outcome is wrong_result if results of `set` are wrong or another set is unwritten.
 * with_memory includes verify_memory(). Returns false only if the check failed. */
bool verify_sample(struct gpu_session *gpu, const struct loaded *loaded,
	const struct verify_sample *sample, bool with_memory, struct result *result);
/* The outcome is out_of_bounds if guard zones or inputs changed. All sets must hold the first
 * inputs. */
bool verify_memory(struct gpu_session *gpu, const struct loaded *loaded, struct result *result);

#endif
