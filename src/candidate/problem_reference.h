/* SPDX-License-Identifier: MIT
 *
 * Prepares the source of expected outputs: reference kernels, files, or a trusted configuration.
 */
#ifndef CANDIDATE_PROBLEM_REFERENCE_H
#define CANDIDATE_PROBLEM_REFERENCE_H

#include "candidate/candidate.h"
#include "family/catalogue.h"

/* In the build, units of the trusted configuration come first. A NULL catalogue prepares only
 * kernels. Errors: an expression fails, or no configuration is usable as a reference. */
enum status problem_reference(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err);
/* If the operation has no reference, configuration number `attempt` replaces it; 0 is the default.
 * *chosen is its text, which the caller frees, or NULL. Fails if there is no such configuration. */
enum status problem_reference_attempt(const struct problem *problem,
	const struct catalogue *catalogue, const struct device_spec *device, size_t attempt,
	struct build *build, struct reference_plan *reference, char **chosen, struct error *err);
/* Hashes tolerances, reference and inputs. Sets digits to "" if the reference cannot be
 * prepared. */
void problem_verification_hash(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, uint64_t seed, char digits[HASH_SIZE]);

#endif
