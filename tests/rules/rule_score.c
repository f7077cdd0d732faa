/* SPDX-License-Identifier: MIT
 *
 * Occupancy, and quantization into tiles and waves.
 */
#include "base/memory.h"
#include "rules/rules.h"
#include "score/time_model.h"

/* Loads each sheet once. */
static const struct device_spec *device_of(const struct json_at *in)
{
	static const char *const configs[] = {"configs", NULL};
	static struct device_spec *loaded[16];
	struct device_spec *device;
	struct error err = {0};
	size_t i;

	for (i = 0; i < ARRAY_COUNT(loaded) && loaded[i]; i++)
		if (strcmp(loaded[i]->name, rule_string(in, "device")) == 0)
			return loaded[i];
	rule_expect(device_spec_load(rule_string(in, "device"), configs, &device, &err), &err);
	return loaded[i] = device;
}

RULE(occupancy)
{
	struct device_spec device = *device_of(in);
	const struct occupancy_demand demand = {.threads = (int)rule_number(in, "threads"),
		.regs_per_thread = (int)rule_number(in, "regs"),
		.smem_static_bytes = (int64_t)rule_number(in, "smem_static"),
		.smem_dynamic_bytes = (int64_t)rule_number(in, "smem_dynamic"),
		.barriers = (int)rule_number(in, "barriers")};
	struct json *out = json_new_object();
	enum occupancy_limiter limiter;
	int blocks;

	if (!rule_flag(in, "is_known"))
		device.compute_capability = 990;
	blocks = occupancy_compute(&device, &demand, &limiter);
	json_put_int(out, "blocks", blocks);
	json_put_string(out, "limiter", occupancy_limiter_names[limiter]);
	json_put_double(out, "ratio", occupancy_ratio(&device, demand.threads, blocks));
	return out;
}

RULE(waves)
{
	struct launch_work launch = {.units = rule_number(in, "units"),
		.steps_mean = rule_number(in, "steps"),
		.schedule = (enum schedule)rule_size(in, "schedule")};
	const struct rule_numbers grid = rule_numbers(in, "grid"),
				  cluster = rule_numbers(in, "cluster");
	struct launch_score score = {0};
	struct quantization_slots slots;
	struct json *out = json_new_object();

	for (size_t i = 0; i < 3; i++) {
		launch.shape.grid[i] = (uint32_t)grid.items[i];
		launch.shape.cluster[i] = (uint32_t)cluster.items[i];
	}
	slots = quantization_slots(device_of(in), &launch, (int)rule_number(in, "blocks_per_sm"),
		(int)rule_number(in, "max_clusters"));
	quantization_waves(&launch, &slots, &score);
	json_put_double(out, "per_wave", slots.per_wave);
	json_put_double(out, "sm_count", slots.sm_count);
	json_put_double(out, "per_sm", slots.per_sm);
	json_put_double(out, "waves", score.waves);
	json_put_double(out, "waves_exact", score.waves_exact);
	json_put_double(out, "efficiency", score.wave_efficiency_ratio);
	return out;
}
