/* SPDX-License-Identifier: MIT
 *
 * A score as JSON: the longest launch's figures on top, all launches where there are several.
 * A time that is infinite (the launch cannot run) is null.
 */
#include "score/score.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static void put_launch(struct json *object, const struct launch_score *launch)
{
	json_put_double(object, "tiles", launch->tiles);
	json_put_double(object, "slots_per_wave", launch->slots_per_wave);
	json_put_double(object, "waves", launch->waves);
	json_put_double(object, "waves_exact", launch->waves_exact);
	json_put_double(object, "wave_efficiency_ratio", launch->wave_efficiency_ratio);
	json_put_double(object, "tile_efficiency_ratio", launch->tile_efficiency_ratio);
	json_put_int(object, "blocks_per_sm", launch->blocks_per_sm);
	json_put_double(object, "occupancy_ratio", launch->occupancy_ratio);
	json_put_string(
		object, "occupancy_limiter", occupancy_limiter_name(launch->occupancy_limiter));
	json_put_int(object, "regs_per_thread", launch->regs_per_thread);
	json_put_int(object, "smem_bytes", launch->smem_bytes);
	json_put_double(object, "bank_conflict_ratio", launch->bank_conflict_ratio);
	json_put_double(object, "lines_per_row_ratio", launch->lines_per_row_ratio);
	json_put_double(object, "sectors_per_row_ratio", launch->sectors_per_row_ratio);
	json_put_int(object, "dram_bytes", llround(launch->dram_bytes));
	json_put_int(object, "l2_bytes", llround(launch->l2_bytes));
	json_put_double(object, "arithmetic_intensity", launch->arithmetic_intensity);
	json_put_string(object, "bound", bound_kind_name(launch->bound));
	json_put_double(object, "predicted_time_us", launch->predicted_time_us);
}

struct json *score_to_json(const struct score *score)
{
	struct json *object = json_new_object();

	if (score->launch_count > 0)
		put_launch(object, &score->launches[score->longest]);
	json_put_double(object, "predicted_time_us", score->predicted_time_us);
	json_put_double(object, "predicted_tflops", score->predicted_tflops);
	json_put_bool(object, "regs_estimated", score->regs_estimated);
	if (score->launch_count > 1) {
		struct json *launches = json_new_array();

		for (size_t i = 0; i < score->launch_count; i++) {
			struct json *launch = json_new_object();

			put_launch(launch, &score->launches[i]);
			json_push(launches, launch);
		}
		json_put(object, "launches", launches);
	}
	return object;
}

static enum status get_name(const struct json_at *object, const char *key,
	const char *(*name_of)(int), int count, int *value, struct error *err)
{
	struct json_at member;
	const char *name;
	enum status status = json_member(object, key, &member, err);

	if (status == STATUS_OK)
		status = json_get_string(&member, &name, err);
	if (status != STATUS_OK)
		return status;
	for (*value = 0; *value < count; (*value)++)
		if (strcmp(name_of(*value), name) == 0)
			return STATUS_OK;
	return json_error(&member, err, "a name like \"%s\"", name_of(0));
}

static const char *limiter_name_of(int value)
{
	return occupancy_limiter_name((enum occupancy_limiter)value);
}

static const char *bound_name_of(int value)
{
	return bound_kind_name((enum bound_kind)value);
}

/* A finite number, or null for an infinite one. */
static enum status get_time(
	const struct json_at *object, const char *key, double *value, struct error *err)
{
	struct json_at member;
	const enum status status = json_member(object, key, &member, err);

	if (status != STATUS_OK)
		return status;
	if (json_type(&member) == JSON_NULL) {
		*value = INFINITY;
		return STATUS_OK;
	}
	return json_get_double(&member, value, err);
}

static enum status get_launch(
	const struct json_at *at, struct launch_score *launch, struct error *err)
{
	const struct {
		const char *key;
		double *value;
	} reals[] = {
		{"tiles", &launch->tiles},
		{"slots_per_wave", &launch->slots_per_wave},
		{"waves", &launch->waves},
		{"waves_exact", &launch->waves_exact},
		{"wave_efficiency_ratio", &launch->wave_efficiency_ratio},
		{"tile_efficiency_ratio", &launch->tile_efficiency_ratio},
		{"occupancy_ratio", &launch->occupancy_ratio},
		{"bank_conflict_ratio", &launch->bank_conflict_ratio},
		{"lines_per_row_ratio", &launch->lines_per_row_ratio},
		{"sectors_per_row_ratio", &launch->sectors_per_row_ratio},
		{"dram_bytes", &launch->dram_bytes},
		{"l2_bytes", &launch->l2_bytes},
		{"arithmetic_intensity", &launch->arithmetic_intensity},
	};
	int64_t blocks_per_sm, regs_per_thread;
	int limiter, bound;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < ARRAY_COUNT(reals) && status == STATUS_OK; i++)
		status = json_member_double(at, reals[i].key, reals[i].value, err);
	if (status != STATUS_OK ||
		(status = json_member_int(at, "blocks_per_sm", &blocks_per_sm, err)) != STATUS_OK ||
		(status = json_member_int(at, "regs_per_thread", &regs_per_thread, err)) !=
			STATUS_OK ||
		(status = json_member_int(at, "smem_bytes", &launch->smem_bytes, err)) !=
			STATUS_OK ||
		(status = get_name(at, "occupancy_limiter", limiter_name_of, LIMITER_NONE_FITS + 1,
			 &limiter, err)) != STATUS_OK ||
		(status = get_name(at, "bound", bound_name_of, BOUND_LATENCY + 1, &bound, err)) !=
			STATUS_OK ||
		(status = get_time(at, "predicted_time_us", &launch->predicted_time_us, err)) !=
			STATUS_OK)
		return status;
	launch->blocks_per_sm = (int)blocks_per_sm;
	launch->regs_per_thread = (int)regs_per_thread;
	launch->occupancy_limiter = (enum occupancy_limiter)limiter;
	launch->bound = (enum bound_kind)bound;
	return STATUS_OK;
}

static enum status get_launches(const struct json_at *at, struct score *score, struct error *err)
{
	struct json_at launches;
	const bool several = json_find(at, "launches", &launches);
	enum status status = STATUS_OK;

	if (several && (status = json_expect(&launches, JSON_ARRAY, err)) != STATUS_OK)
		return status;
	if (!several && !json_find(at, "tiles", &launches))
		return STATUS_OK; /* nothing was launched */
	score->launch_count = several ? json_count(&launches) : 1;
	score->launches = memory_zeroed(score->launch_count, sizeof(*score->launches));
	for (size_t i = 0; i < score->launch_count && status == STATUS_OK; i++) {
		const struct json_at item = several ? json_item(&launches, i) : *at;

		status = get_launch(&item, &score->launches[i], err);
		if (score->launches[i].predicted_time_us >
			score->launches[score->longest].predicted_time_us)
			score->longest = i;
	}
	return status;
}

enum status score_from_json(const struct json_at *at, struct score *score, struct error *err)
{
	struct score result = {0};
	struct json_at member;
	enum status status = json_expect(at, JSON_OBJECT, err);

	if (status == STATUS_OK)
		status = get_time(at, "predicted_time_us", &result.predicted_time_us, err);
	if (status == STATUS_OK)
		status = json_member_double(at, "predicted_tflops", &result.predicted_tflops, err);
	if (status == STATUS_OK)
		status = json_member(at, "regs_estimated", &member, err);
	if (status == STATUS_OK)
		status = json_get_bool(&member, &result.regs_estimated, err);
	if (status == STATUS_OK)
		status = get_launches(at, &result, err);
	if (status != STATUS_OK) {
		score_release(&result);
		return status;
	}
	*score = result;
	return STATUS_OK;
}
