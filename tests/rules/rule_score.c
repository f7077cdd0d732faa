/* SPDX-License-Identifier: MIT
 *
 * Occupancy, quantization into tiles and waves, cache lines and bank conflicts.
 */
#include "base/memory.h"
#include "rules/rules.h"
#include "score/time_model.h"
#include "score/traffic.h"

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

RULE(units_mean)
{
	return json_new_double(alignment_units_mean(rule_size(in, "pitch"), rule_size(in, "rows"),
		rule_size(in, "size"), rule_size(in, "unit")));
}

static void addresses_of(const struct json_at *in, uint32_t address[BANK_LANES])
{
	const struct rule_numbers numbers = rule_numbers(in, "address");

	for (size_t i = 0; i < BANK_LANES; i++)
		address[i] = (uint32_t)numbers.items[i];
}

RULE(wavefronts)
{
	const unsigned width = (unsigned)rule_size(in, "width");
	struct json *out = json_new_array();
	uint32_t address[BANK_LANES];

	addresses_of(in, address);
	json_push(out, json_new_int(bank_wavefronts(address, width)));
	json_push(out, json_new_int(bank_wavefronts_nominal(width)));
	json_push(out, json_new_int(bank_wavefronts_least(address, width)));
	return out;
}

/* Scores a launch with one tile that accesses shared memory once for each of "accesses". */
RULE(traffic)
{
	const struct json_at list = rule_member(in, "accesses");
	struct work_tile tile = {.when = true,
		.rows = (uint32_t)rule_size(in, "rows"),
		.row_bytes = (uint32_t)rule_size(in, "size"),
		.pitch_bytes = rule_size(in, "pitch")};
	struct launch_work launch = {.tiles = &tile,
		.tile_count = 1,
		.units = rule_number(in, "units"),
		.steps_mean = rule_number(in, "steps"),
		.smem_access_count = json_count(&list)};
	struct json *out = json_new_object();
	struct traffic traffic;

	launch.smem_accesses =
		memory_zeroed(launch.smem_access_count + 1, sizeof(struct work_smem_access));
	for (size_t i = 0; i < launch.smem_access_count; i++) {
		const struct json_at item = json_item(&list, i);
		struct work_smem_access *access = &launch.smem_accesses[i];

		access->when = true;
		access->is_write = rule_flag(&item, "is_write");
		access->width_bytes = (unsigned)rule_size(&item, "width");
		access->bytes_per_step = rule_number(&item, "bytes");
		addresses_of(&item, access->address);
	}
	launch.per_step[PIPE_L2_READ] = rule_number(in, "read");
	launch.epilogue[PIPE_L2_WRITE] = rule_number(in, "written");
	traffic_compute(&launch, &traffic);
	json_put_double(out, "lines", traffic.lines_per_row_ratio);
	json_put_double(out, "sectors", traffic.sectors_per_row_ratio);
	json_put_double(out, "l2", traffic.l2_bytes);
	json_put_double(out, "smem_read", traffic.smem_read_bytes);
	json_put_double(out, "smem_written", traffic.smem_write_bytes);
	json_put_double(out, "conflicts", traffic.bank_conflict_ratio);
	return out;
}
