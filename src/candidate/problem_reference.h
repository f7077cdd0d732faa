/* SPDX-License-Identifier: MIT
 *
 * Prepares what a problem's outputs are compared with, so that it can be compiled and run: the
 * operation's reference kernels, files, or a configuration of one of its families.
 */
#ifndef CANDIDATE_PROBLEM_REFERENCE_H
#define CANDIDATE_PROBLEM_REFERENCE_H

#include "candidate/candidate.h"
#include "family/catalogue.h"

/* Units of the build are numbered with the trusted configuration's first. catalogue is searched for
 * its family; NULL prepares kernels only, if nothing will be run. Errors: an expression fails, the
 * configuration is not legal here, no family can serve. */
enum status problem_reference(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err);
/* Works like problem_reference(). If the operation has no reference, the attempt-th configuration
 * serves: 0 is the default, later ones differ in one parameter. *chosen is its text, which the
 * caller frees, or NULL if another kind of reference serves. Fails if there is no such
 * configuration. */
enum status problem_reference_attempt(const struct problem *problem,
	const struct catalogue *catalogue, const struct device_spec *device, size_t attempt,
	struct build *build, struct reference_plan *reference, char **chosen, struct error *err);
/* Hashes everything that makes a verification of this problem valid: tolerances, the reference
 * (its source, configuration or file), and what the inputs hold. digits are "" if the reference
 * cannot be prepared. */
void problem_verification_hash(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, uint64_t seed, char digits[HASH_SIZE]);

#endif
