/* SPDX-License-Identifier: MIT
 *
 * What several evaluations of a candidate share; private to src/kernel.
 */
#ifndef KERNEL_EVALUATE_H
#define KERNEL_EVALUATE_H

#include "kernel/operation.h"

/* The operation's tensors as buffers, in its order; values: keys first. */
enum status operation_tensors_evaluate(const struct operation *operation,
	const struct value *values, struct plan_buffer *buffers, struct error *err);

#endif
