/* SPDX-License-Identifier: MIT
 *
 * Device sheets: the built-in one, files, matching of real GPUs, broken sheets.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "spec/sheet.h"
#include "unit/unit.h"

#define assert_near(a, b, within) assert_true(fabs((a) - (b)) <= (within))

static const char *const configs[] = {"configs", "tests/toy/configs", NULL};
static const char *const nowhere[] = {"/nonexistent", NULL};

TEST(the_embedded_sheet_equals_its_file)
{
	struct device_spec *embedded, *file;
	struct error err = {0};

	assert_ok(device_spec_load(NULL, NULL, &embedded, &err));
	assert_ok(device_spec_load("h200-sxm", configs, &file, &err));
	assert_string_equal(embedded->name, "h200-sxm");
	assert_string_equal(embedded->title, file->title);
	assert_memory_equal(embedded->rate, file->rate, sizeof(file->rate));
	assert_int_equal(embedded->sm_count, file->sm_count);
	assert_memory_equal(embedded->max_clusters, file->max_clusters, sizeof(file->max_clusters));
	device_spec_free(embedded);
	device_spec_free(file);
	assert_ok(device_spec_load("h200-sxm", nowhere, &embedded, &err));
	device_spec_free(embedded);
}

TEST(the_sheet_of_the_h200_is_read)
{
	struct device_spec *spec;
	struct error err = {0};

	assert_ok(device_spec_load("", NULL, &spec, &err));
	assert_true(spec->from_sheet);
	assert_string_equal(spec->arch, "sm_90a");
	assert_int_equal(spec->compute_capability, 90);
	assert_int_equal(spec->sm_count, 132);
	assert_int_equal(spec->smem_per_block_bytes, 232448);
	assert_int_equal(spec->smem_per_sm_bytes, 233472);
	assert_int_equal(spec->smem_static_max_bytes, 49152);
	assert_int_equal(spec->l2_bytes, 60 << 20);
	assert_near(spec->clock_hz, 1.98e9, 1);
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_BF16], 4096, 0);
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_FP8_E4M3], 8192, 0);
	/* derived, because the sheet does not list them */
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_FP8_E5M2], 8192, 0);
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_I8], 8192, 0);
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_FP32], 0, 0);
	assert_near(spec->rate[PIPE_FP32][DTYPE_FP32], 256, 0);
	assert_near(spec->rate[PIPE_MUFU][DTYPE_FP32], 16, 0);
	assert_near(spec->rate[PIPE_SMEM_READ][DTYPE_FP32], 128, 0);
	assert_near(spec->rate[PIPE_INSTRUCTIONS][DTYPE_FP32], 4, 0);
	assert_near(spec->rate[PIPE_L2_READ][DTYPE_FP32] * 132, spec->l2_bytes_per_clock, 1e-9);
	assert_int_equal(spec->max_clusters[0], 132);
	assert_int_equal(spec->max_clusters[1], 66);
	assert_false(spec->max_clusters_measured);
	device_spec_free(spec);
}

TEST(every_sheet_has_its_figures)
{
	static const struct {
		const char *name;
		int capability;
		int64_t sms, smem, gib;
		double bf16;
	} sheets[] = {
		{"a10", 86, 72, 101376, 22, 1024},
		{"a100-sxm4", 80, 108, 166912, 80, 2048},
		{"a100-sxm4-40gb", 80, 108, 166912, 40, 2048},
		{"b200", 100, 148, 232448, 179, 2048},
		{"h100-sxm", 90, 132, 232448, 79, 2560},
		{"l4", 89, 58, 101376, 22, 1024},
		{"l40s", 89, 142, 101376, 44, 1024},
		{"rtx-4090", 89, 128, 101376, 23,
			512}, /* GeForce runs fp32 accumulation at half rate */
		{"rtx-5090", 120, 170, 101376, 31, 512},
		{"toy", 86, 4, 101376, 4, 1024},
	};
	struct error err = {0};

	for (size_t i = 0; i < sizeof(sheets) / sizeof(sheets[0]); i++) {
		struct device_spec *spec;

		assert_ok(device_spec_load(sheets[i].name, configs, &spec, &err));
		assert_string_equal(spec->name, sheets[i].name);
		assert_int_equal(spec->compute_capability, sheets[i].capability);
		assert_int_equal(spec->sm_count, sheets[i].sms);
		assert_int_equal(spec->smem_per_block_bytes, sheets[i].smem);
		assert_int_equal(spec->dram_bytes >> 30, sheets[i].gib);
		assert_near(spec->rate[PIPE_TENSOR_MMA][DTYPE_BF16], sheets[i].bf16, 0);
		device_spec_free(spec);
	}
}

TEST(sheets_are_listed_by_name)
{
	struct name_set names = device_spec_names(configs);
	struct name_set alone = device_spec_names(NULL);
	const char *expected[] = {"a10", "a100-sxm4", "a100-sxm4-40gb", "b200", "h100-sxm",
		"h200-sxm", "l4", "l40s", "rtx-4090", "rtx-5090", "toy"};

	assert_int_equal(names.count, ARRAY_COUNT(expected));
	for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
		assert_string_equal(names.items[i], expected[i]);
	name_set_release(&names);
	assert_int_equal(alone.count, 1);
	assert_string_equal(alone.items[0], "h200-sxm");
	name_set_release(&alone);
}

TEST(an_unknown_device_is_refused_with_a_suggestion)
{
	struct device_spec *spec;
	struct error err = {0};

	assert_fails(device_spec_load("a100-smx4", configs, &spec, &err), STATUS_BAD_INPUT,
		"unknown device sheet \"a100-smx4\"; known names: a10, ");
	assert_string_equal(err.hint, "did you mean \"a100-sxm4\"?");
	assert_null(spec);
	assert_fails(device_spec_load("../schemas/device.schema", configs, &spec, &err),
		STATUS_BAD_INPUT, "unknown device sheet \"../schemas/device.schema\"");
}

static struct device_facts h200_facts(void)
{
	return (struct device_facts){.name = "NVIDIA H200",
		.compute_capability = 90,
		.sm_count = 132,
		.l2_bytes = 61 << 20,
		.clock_hz = 1.98e9};
}

TEST(a_gpu_gets_its_sheet)
{
	struct device_facts facts = h200_facts();
	struct device_spec *spec;
	struct error err = {0};

	assert_ok(device_spec_match(&facts, nowhere, &spec, &err));
	assert_string_equal(spec->name, "h200-sxm");
	assert_true(spec->from_sheet);
	assert_int_equal(spec->l2_bytes, 61 << 20); /* the driver's value takes precedence */
	assert_int_equal(
		spec->regs_per_sm, 65536); /* the sheet's value, because the driver gives none */
	device_spec_free(spec);
	strcpy(facts.name, "Toy GPU 2");
	facts.compute_capability = 86;
	facts.sm_count = 4;
	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_string_equal(spec->name, "toy");
	device_spec_free(spec);
}

/* An unreadable sheet of another card stops no tuning; its message is stored. */
TEST(a_broken_sheet_of_another_card_stops_nothing)
{
	static const char sheet[] = "{\"format\": \"tiletune.device/1\", oops";
	char folder[] = TEST_SCRATCH "/tiletune-sheets-XXXXXX", *devices, *path;
	const char *const folders[] = {folder, NULL};
	struct device_facts facts = h200_facts();
	struct device_spec *spec;
	struct error err = {0};

	assert_non_null(mkdtemp(folder));
	devices = path_join(folder, "devices");
	path = path_join(devices, "aaa.json");
	assert_ok(directory_make(devices, &err));
	assert_ok(file_write(path, sheet, strlen(sheet), &err));
	assert_ok(device_spec_match(&facts, folders, &spec, &err));
	assert_string_equal(spec->name, "h200-sxm");
	assert_non_null(strstr(spec->notice, "aaa.json: line 1, column 34: invalid JSON"));
	device_spec_free(spec);
	assert_fails(device_spec_load("aaa", folders, &spec, &err), STATUS_BAD_INPUT, "aaa.json");
	unlink(path);
	rmdir(devices);
	rmdir(folder);
	free(devices);
	free(path);
}

/* Tests names that drivers report, and products whose names begin alike. */
TEST(names_of_drivers_match_their_sheets)
{
	static const struct {
		const char *name;
		int capability;
		int64_t sms;
		const char *sheet; /* NULL if no sheet matches */
	} cards[] = {
		{"NVIDIA A10", 86, 72, "a10"},
		{"NVIDIA A10G", 86, 80, NULL},
		{"NVIDIA L4", 89, 58, "l4"},
		{"NVIDIA L40S", 89, 142, "l40s"},
		{"NVIDIA L40", 89, 142, NULL}, /* half of an L40S's tensor rate */
		{"NVIDIA GeForce RTX 4090", 89, 128, "rtx-4090"},
		{"NVIDIA GeForce RTX 4090 D", 89, 114, NULL},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", 89, 76, NULL},
		{"NVIDIA B200", 100, 148, "b200"},
		{"NVIDIA GB200", 100, 152, NULL},
		{"NVIDIA GeForce RTX 5090", 120, 170, "rtx-5090"},
		{"NVIDIA GeForce RTX 5090 D", 120, 170, NULL},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cards); i++) {
		struct device_facts facts = {.compute_capability = cards[i].capability,
			.sm_count = cards[i].sms,
			.l2_bytes = 1 << 20,
			.clock_hz = 1e9};
		struct device_spec *spec;
		struct error err = {0};

		snprintf(facts.name, sizeof(facts.name), "%s", cards[i].name);
		assert_ok(device_spec_match(&facts, configs, &spec, &err));
		assert_int_equal(spec->from_sheet, cards[i].sheet != NULL);
		if (cards[i].sheet)
			assert_string_equal(spec->name, cards[i].sheet);
		device_spec_free(spec);
	}
}

/* A part of a GPU (MIG) has the sheet's architecture, but not its figures. */
TEST(a_part_of_a_gpu_does_not_get_its_figures)
{
	struct device_facts facts = h200_facts();
	struct device_spec *spec;
	struct error err = {0};

	facts.sm_count = 16;
	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_false(spec->from_sheet);
	assert_string_equal(spec->name, "nvidia-h200");
	assert_string_equal(spec->arch, "sm_90a");
	assert_int_equal(spec->sm_count, 16);
	assert_int_equal(spec->max_clusters[3], 2);
	device_spec_free(spec);
	facts = h200_facts();
	strcpy(facts.name, "NVIDIA H200 NVL");
	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_false(spec->from_sheet);
	device_spec_free(spec);
}

TEST(a_gpu_without_a_sheet_gets_estimates)
{
	struct device_facts facts = {.name = "NVIDIA GeForce RTX 3090",
		.compute_capability = 86,
		.sm_count = 82,
		.warp_size = 32,
		.max_threads_per_block = 1024,
		.max_threads_per_sm = 1536,
		.max_blocks_per_sm = 16,
		.regs_per_block = 65536,
		.regs_per_sm = 65536,
		.smem_per_block_bytes = 101376,
		.smem_per_sm_bytes = 102400,
		.smem_reserved_bytes = 1024,
		.l2_bytes = 6291456,
		.dram_bytes = 25438126080,
		.clock_hz = 1.695e9,
		.memory_clock_hz = 9.751e9,
		.memory_bus_bits = 384};
	struct sheet_defaults defaults;
	struct device_spec *spec;
	struct error err = {0};

	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_string_equal(spec->name, "nvidia-geforce-rtx-3090");
	assert_string_equal(spec->title, "NVIDIA GeForce RTX 3090");
	assert_string_equal(spec->arch, "sm_86");
	assert_int_equal(spec->max_threads_per_sm, 1536);
	assert_int_equal(spec->max_clusters[0], 82);
	assert_int_equal(spec->max_clusters[1], 0);
	assert_near(spec->rate[PIPE_TENSOR_MMA][DTYPE_BF16], 1024, 0);
	assert_near(spec->rate[PIPE_TENSOR_WGMMA][DTYPE_BF16], 0, 0);
	assert_ok(sheet_defaults_find(86, &defaults, &err));
	assert_true(
		defaults.typical.launch_us > 0 && spec->launch_us == defaults.typical.launch_us);
	assert_true(spec->dram_latency_us == defaults.typical.dram_latency_us);
	assert_true(spec->l2_latency_us == defaults.typical.l2_latency_us);
	assert_true(spec->sync_us == defaults.typical.sync_us);
	/* 936 GB/s nominal */
	assert_near(spec->dram_bytes_per_s, 936e9 * 0.88, 1e9);
	device_spec_free(spec);
	facts.compute_capability =
		110; /* newer than every known architecture: the newest known rates apply */
	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_string_equal(spec->arch, "sm_110");
	assert_true(spec->rate[PIPE_TENSOR_MMA][DTYPE_BF16] > 1024);
	device_spec_free(spec);
	facts = (struct device_facts){.name = "?", .compute_capability = 75};
	assert_ok(device_spec_match(&facts, configs, &spec, &err));
	assert_string_equal(spec->arch, "sm_75");
	assert_true(spec->sm_count > 0 && spec->clock_hz > 0 && spec->dram_bytes_per_s > 0);
	device_spec_free(spec);
}

TEST(device_names_are_known_to_expressions)
{
	struct device_spec *spec;
	struct error err = {0};
	int found = 0;

	assert_ok(device_spec_load("", NULL, &spec, &err));
	for (size_t i = 0; i < DEVICE_VALUE_COUNT; i++) {
		struct value value = device_spec_value(spec, i);

		assert_int_equal(value.type, VALUE_INT);
		if (strcmp(device_value_names[i], "max_warps_per_sm") == 0)
			found += value.integer == 64;
		if (strcmp(device_value_names[i], "compute_capability") == 0)
			found += value.integer == 90;
		if (strcmp(device_value_names[i], "dram_bytes") == 0)
			found += value.integer == 150754820096;
	}
	assert_int_equal(found, 3);
	device_spec_free(spec);
}

TEST(dtypes_and_pipes_are_found_by_name)
{
	for (int i = 0; i < DTYPE_COUNT; i++)
		assert_int_equal(dtype_find(dtype_names[i]), i);
	assert_int_equal(dtype_find("fp80"), -1);
	assert_int_equal(dtype_size(DTYPE_FP8_E4M3), 1);
	assert_int_equal(dtype_size(DTYPE_BF16), 2);
	assert_int_equal(dtype_size(DTYPE_TF32), 4);
	for (int i = 0; i < PIPE_COUNT; i++)
		assert_int_equal(name_find(pipe_names[i], pipe_names), i);
	assert_int_equal(name_find("tensor_mma", pipe_names), -1);
	assert_null(pipe_names[PIPE_COUNT]);
}
