/* SPDX-License-Identifier: MIT */
#include "kernel/lane_addresses.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct lane_addresses {
	const struct expression *address;
	struct value *inputs; /* as of the last evaluation, in the order of the expression's slots */
	bool is_filled;
	uint32_t last[WORK_LANES];
};

struct lane_addresses *lane_addresses_new(const struct expression *address)
{
	struct lane_addresses *addresses = memory_zeroed(1, sizeof(*addresses));
	size_t count;

	addresses->address = address;
	expression_slots(address, &count);
	addresses->inputs = memory_zeroed(count, sizeof(*addresses->inputs));
	return addresses;
}

void lane_addresses_free(struct lane_addresses *addresses)
{
	if (!addresses)
		return;
	free(addresses->inputs);
	free(addresses);
}

/* Whether the inputs are those of the last time; remembers them. */
static bool same_inputs(
	struct lane_addresses *addresses, const struct value *values, size_t lane_slot)
{
	size_t count;
	const int *slots = expression_slots(addresses->address, &count);
	bool same = addresses->is_filled;

	for (size_t i = 0; i < count; i++) {
		const struct value *now = &values[slots[i]];

		if ((size_t)slots[i] == lane_slot)
			continue;
		if (same && (now->type != addresses->inputs[i].type ||
				    !value_equal(*now, addresses->inputs[i])))
			same = false;
		addresses->inputs[i] = *now;
	}
	return same;
}

enum status lane_addresses_evaluate(struct lane_addresses *addresses, struct value *values,
	size_t lane_slot, uint32_t result[WORK_LANES], struct error *err)
{
	if (same_inputs(addresses, values, lane_slot)) {
		memcpy(result, addresses->last, sizeof(addresses->last));
		return STATUS_OK;
	}
	addresses->is_filled = false;
	for (int lane = 0; lane < WORK_LANES; lane++) {
		int64_t number;
		enum status status;

		values[lane_slot] = value_int(lane);
		status = expression_int(addresses->address, values, &number, err);
		if (status != STATUS_OK)
			return status;
		if (number < 0 || number > UINT32_MAX)
			return error_set(err, STATUS_BAD_INPUT,
				"%s: expected an address of 0 to %" PRIu32 ", found %" PRId64,
				expression_where(addresses->address), UINT32_MAX, number);
		addresses->last[lane] = (uint32_t)number;
	}
	addresses->is_filled = true;
	memcpy(result, addresses->last, sizeof(addresses->last));
	return STATUS_OK;
}
