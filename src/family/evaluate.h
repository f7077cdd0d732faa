/* SPDX-License-Identifier: MIT
 *
 * What several evaluations of a candidate share; private to src/kernel.
 */
#ifndef FAMILY_EVALUATE_H
#define FAMILY_EVALUATE_H

#include "family/operation.h"

/* The operation's tensors as buffers, in its order; values: keys first. */
enum status operation_tensors_evaluate(const struct operation *operation,
	const struct value *values, struct plan_buffer *buffers, struct error *err);

#endif
