/* SPDX-License-Identifier: MIT
 *
 * Tensor maps (TMA descriptors) of a family.
 */
#ifndef FAMILY_TENSOR_MAP_H
#define FAMILY_TENSOR_MAP_H

#include "family/tensor.h"

struct tensor_map {
	const char *name;
	uint32_t buffer;         /* of the plan */
	struct expression *when; /* NULL: always */
	struct expression_list dims, strides, box;
	struct expression *swizzle, *l2_promotion; /* NULL: 0 */
};

/* buffers: NULL-terminated names. */
enum status tensor_map_read(const struct json_at *at, const char *const *buffers,
	const struct name_table *names, struct tensor_map *map, struct error *err);
void tensor_map_release(struct tensor_map *map);
/* dtype: of the buffer. Checks the driver's rules. */
enum status tensor_map_evaluate(const struct tensor_map *map, enum dtype dtype,
	const struct value *values, struct plan_tensor_map *evaluated, struct error *err);

#endif
