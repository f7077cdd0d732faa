/* SPDX-License-Identifier: MIT
 *
 * Reading and evaluating tensor maps.
 */
#include "family/tensor_map.h"

#include <inttypes.h>
#include <string.h>

static const char *const keys[] = {"name", "buffer", "when", "dims", "strides", "box", "swizzle",
	"l2_promotion", "help", NULL};

static enum status read_buffer(const struct json_at *at, const char *const *buffers,
	struct tensor_map *map, struct error *err)
{
	struct json_at member;
	const char *name, *nearest;

	if (json_member(at, "buffer", &member, err) != STATUS_OK ||
		json_get_string(&member, &name, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	for (uint32_t i = 0; buffers[i]; i++) {
		if (strcmp(buffers[i], name) == 0) {
			map->buffer = i;
			return STATUS_OK;
		}
	}
	json_error(&member, err, "a tensor or workspace");
	nearest = name_nearest(name, buffers);
	if (nearest)
		error_hint(err, "did you mean \"%s\"?", nearest);
	return STATUS_BAD_INPUT;
}

enum status tensor_map_read(const struct json_at *at, const char *const *buffers,
	const struct name_table *names, struct tensor_map *map, struct error *err)
{
	struct json_at name;
	size_t rank;

	if (json_expect_keys(at, keys, err) != STATUS_OK ||
		json_member(at, "name", &name, err) != STATUS_OK ||
		json_get_string(&name, &map->name, err) != STATUS_OK ||
		name_json_check(&name, map->name, err) != STATUS_OK ||
		read_buffer(at, buffers, map, err) != STATUS_OK ||
		expression_json_member_if(at, "when", names, &map->when, err) != STATUS_OK ||
		expression_json_list(at, "dims", 1, TENSOR_MAP_RANK_MAX, names, &map->dims, err) !=
			STATUS_OK)
		return STATUS_BAD_INPUT;
	rank = map->dims.count;
	if (expression_json_list(at, "strides", rank - 1, rank - 1, names, &map->strides, err) !=
			STATUS_OK ||
		expression_json_list(at, "box", rank, rank, names, &map->box, err) != STATUS_OK ||
		expression_json_member_if(at, "swizzle", names, &map->swizzle, err) != STATUS_OK)
		return STATUS_BAD_INPUT;
	return expression_json_member_if(at, "l2_promotion", names, &map->l2_promotion, err);
}

void tensor_map_release(struct tensor_map *map)
{
	expression_free(map->when);
	expression_list_release(&map->dims);
	expression_list_release(&map->strides);
	expression_list_release(&map->box);
	expression_free(map->swizzle);
	expression_free(map->l2_promotion);
	*map = (struct tensor_map){0};
}

/* A number from 0 to limit; NULL is 0. */
static enum status evaluate_bounded(const struct expression *expression, const struct value *values,
	uint64_t limit, uint64_t *result, struct error *err)
{
	int64_t number = 0;
	enum status status =
		expression ? expression_int(expression, values, &number, err) : STATUS_OK;

	if (status != STATUS_OK)
		return status;
	if (number < 0 || (uint64_t)number > limit)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a number from 0 to %" PRIu64 ", found %" PRId64,
			expression_where(expression), limit, number);
	*result = (uint64_t)number;
	return STATUS_OK;
}

enum status tensor_map_evaluate(const struct tensor_map *map, enum dtype dtype,
	const struct value *values, struct plan_tensor_map *evaluated, struct error *err)
{
	uint64_t number;
	enum status status = STATUS_OK;

	*evaluated = (struct plan_tensor_map){
		.buffer = map->buffer, .dtype = dtype, .rank = (uint32_t)map->dims.count};
	string_put(evaluated->name, sizeof(evaluated->name), map->name);
	for (size_t i = 0; i < map->dims.count && status == STATUS_OK; i++) {
		status = evaluate_bounded(
			map->dims.items[i], values, INT64_MAX, &evaluated->dims[i], err);
		if (status == STATUS_OK && i > 0)
			status = evaluate_bounded(map->strides.items[i - 1], values, INT64_MAX,
				&evaluated->strides[i - 1], err);
		if (status == STATUS_OK)
			status = evaluate_bounded(
				map->box.items[i], values, UINT32_MAX, &number, err);
		if (status == STATUS_OK)
			evaluated->box[i] = (uint32_t)number;
	}
	if (status == STATUS_OK)
		status = evaluate_bounded(map->swizzle, values, UINT32_MAX, &number, err);
	if (status != STATUS_OK)
		return status;
	evaluated->swizzle_bytes = (uint32_t)number;
	status = evaluate_bounded(map->l2_promotion, values, UINT32_MAX, &number, err);
	if (status != STATUS_OK)
		return status;
	evaluated->l2_promotion_bytes = (uint32_t)number;
	return plan_tensor_map_check(evaluated, err);
}
