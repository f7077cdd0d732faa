/* SPDX-License-Identifier: MIT
 *
 * The addresses of a warp's 32 lanes from one expression over `lane`, remembered: neighbours in a
 * space mostly share everything that the addresses depend on, and 32 evaluations are the most
 * expensive part of a model. Private to src/kernel; not thread-safe, as expressions are not.
 */
#ifndef KERNEL_LANE_ADDRESSES_H
#define KERNEL_LANE_ADDRESSES_H

#include "base/error.h"
#include "kernel/work.h"
#include "space/expression.h"

struct lane_addresses; /* of one expression */

struct lane_addresses *lane_addresses_new(const struct expression *address); /* borrows it */
void lane_addresses_free(struct lane_addresses *addresses);
/* values: of all slots; that of lane_slot is changed. Errors: the expression's, or an address that
 * is negative or beyond 32 bits. */
enum status lane_addresses_evaluate(struct lane_addresses *addresses, struct value *values,
	size_t lane_slot, uint32_t result[WORK_LANES], struct error *err);

#endif
