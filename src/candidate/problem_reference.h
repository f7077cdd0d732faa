/* SPDX-License-Identifier: MIT
 *
 * What a problem's outputs are compared with, as something that can be compiled and run: the
 * operation's reference kernels, files, or a configuration of one of its families.
 */
#ifndef CANDIDATE_PROBLEM_REFERENCE_H
#define CANDIDATE_PROBLEM_REFERENCE_H

#include "candidate/candidate.h"
#include "family/catalogue.h"

/* Cubins are numbered as the units of the build: the trusted configuration's first.
 * catalogue: where its family is looked for; NULL: nothing will be run, kernels alone are wanted.
 * Errors: expressions that fail; a configuration that is not legal here; no family that could
 * serve.
 */
enum status problem_reference(const struct problem *problem, const struct catalogue *catalogue,
	const struct device_spec *device, struct build *build, struct reference_plan *reference,
	struct error *err);
/* As above. Where the operation names no reference, the attempt-th configuration serves: 0 is the
 * default one, others differ from it in one parameter. *chosen: its text, to be freed; NULL if
 * another kind of reference serves. Errors: also that there is no such configuration. */
enum status problem_reference_attempt(const struct problem *problem,
	const struct catalogue *catalogue, const struct device_spec *device, size_t attempt,
	struct build *build, struct reference_plan *reference, char **chosen, struct error *err);

#endif
