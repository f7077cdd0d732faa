/* SPDX-License-Identifier: MIT
 *
 * JSON of a plan's parts; private to src/kernel.
 */
#ifndef FAMILY_PLAN_PART_H
#define FAMILY_PLAN_PART_H

#include "family/plan.h"

struct json *plan_buffer_to_json(const struct plan_buffer *buffer);
struct json *plan_tensor_map_to_json(const struct plan_tensor_map *map);
struct json *plan_launch_to_json(const struct plan_launch *launch);
enum status plan_buffer_from_json(
	const struct json_at *at, struct plan_buffer *buffer, struct error *err);
enum status plan_tensor_map_from_json(
	const struct json_at *at, struct plan_tensor_map *map, struct error *err);
enum status plan_launch_from_json(
	const struct json_at *at, struct plan_launch *launch, struct error *err);

#endif
