/* SPDX-License-Identifier: MIT
 *
 * The lower bound of a problem's time: recorded kernels are above it, impossible times below.
 */
#include "unit/unit.h"

#include "base/memory.h"
#include "engine/floor.h"
#include "family/catalogue.h"
#include "format/tuned.h"

static const char *const templates[] = {"templates", NULL};
static const char *const configs[] = {"configs", NULL};

/* Checks that every winner of the file is at or above its lower bound; returns the number of
 * winners. */
static size_t check_file(
	const char *path, const struct catalogue *catalogue, const struct device_spec *device)
{
	struct tuned tuned;
	struct error err = {0};
	size_t checked = 0;

	assert_ok(tuned_load(path, &tuned, &err));
	for (size_t i = 0; i < tuned.entry_count; i++) {
		const struct tuned_entry *entry = &tuned.entries[i];
		const struct operation *operation;
		struct problem *problem = NULL;
		struct result result = {.flags = entry->winner.result.flags |
						 (entry->l2 == L2_WARM ? FLAG_MASK(WARM_L2) : 0)};
		double time_us = entry->winner.result.time.median;

		if (entry->predicted)
			continue;
		assert_ok(catalogue_operation(catalogue, entry->operation, &operation, &err));
		assert_ok(problem_from_named_values(operation, &entry->problem, &problem, &err));
		result_set_samples(&result, &time_us, 1);
		time_floor_apply(problem, device, &result);
		if (result.outcome != OUTCOME_OK)
			fail_msg("%s: %s: %s", path, problem->text, result.detail);
		result_release(&result);
		problem_free(problem);
		checked++;
	}
	tuned_release(&tuned);
	return checked;
}

TEST(no_recorded_winner_is_too_fast)
{
	static const struct {
		const char *sheet, *path;
	} files[] = {
		{"h200-sxm", "results/nvidia-h200/tuned.json"},
		{"h200-sxm", "results/nvidia-h200/decode.json"},
		{"h200-sxm", "results/nvidia-h200/decode_paged.json"},
		{"h200-sxm", "results/nvidia-h200/attention.json"},
		{"h200-sxm", "results/nvidia-h200/thousand.json.gz"},
		{"h200-sxm", "results/nvidia-h200/drawn.json.gz"},
		{"h100-sxm", "results/nvidia-h100/scoreboard.json.gz"},
	};
	struct catalogue catalogue;
	struct error err = {0};
	size_t checked = 0;

	assert_ok(catalogue_load(templates, NULL, &catalogue, &err));
	for (size_t i = 0; i < ARRAY_COUNT(files); i++) {
		struct device_spec *device;

		assert_ok(device_spec_load(files[i].sheet, configs, &device, &err));
		checked += check_file(files[i].path, &catalogue, device);
		device_spec_free(device);
	}
	assert_true(checked > 1000);
	catalogue_release(&catalogue);
}

TEST(times_below_the_floor_are_refused)
{
	static const struct {
		const char *problem;
		double time_us;
		uint32_t flags;
		enum outcome outcome;
		const char *detail;
	} cases[] = {
		/* 137 GFLOP at about 1120 TFLOP/s; moving 101 MB takes less time */
		{"M=N=K=4096,dtype=bf16", 100, 0, OUTCOME_TOO_FAST, "137.4 GFLOP at"},
		{"M=N=K=4096,dtype=bf16", 140, 0, OUTCOME_OK, NULL},
		/* a product of fp32 matrices takes 2 ms on CUDA cores, less if it is split into
		 * tf32 products */
		{"M=N=K=4096,dtype=fp32", 200, 0, OUTCOME_TOO_FAST, "GFLOP at"},
		{"M=N=K=4096,dtype=fp32", 420, 0, OUTCOME_OK, NULL},
		/* moving 2.1 GB at 4.9 TB/s */
		{"M=16,N=32768,K=32768,dtype=bf16", 400, 0, OUTCOME_TOO_FAST,
			"GB/s of memory take"},
		{"M=16,N=32768,K=32768,dtype=bf16", 460, 0, OUTCOME_OK, NULL},
		/* moving 33 MB from the L2 cache */
		{"M=16,N=4096,K=4096,dtype=bf16", 4, 0, OUTCOME_TOO_FAST, "of memory"},
		{"M=16,N=4096,K=4096,dtype=bf16", 4, FLAG_MASK(WARM_L2), OUTCOME_OK, NULL},
		{"M=16,N=4096,K=4096,dtype=bf16", 1, FLAG_MASK(WARM_L2), OUTCOME_TOO_FAST,
			"of the L2 cache"},
	};
	struct catalogue catalogue;
	const struct operation *gemm;
	struct device_spec *device;
	struct error err = {0};

	assert_ok(catalogue_load(templates, "gemm", &catalogue, &err));
	assert_ok(catalogue_operation(&catalogue, "gemm", &gemm, &err));
	assert_ok(device_spec_load("h200-sxm", configs, &device, &err));
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct problem_list problems = {0};
		struct result result = {.flags = cases[i].flags};

		assert_ok(problem_parse(gemm, cases[i].problem, &problems, &err));
		result_set_samples(&result, &cases[i].time_us, 1);
		time_floor_apply(problems.items[0], device, &result);
		if (result.outcome != cases[i].outcome)
			fail_msg("%s in %g us: expected %s, found %s: %s", cases[i].problem,
				cases[i].time_us, outcome_name(cases[i].outcome),
				outcome_name(result.outcome), result.detail ? result.detail : "");
		if (cases[i].detail && !strstr(result.detail, cases[i].detail))
			fail_msg("expected \"%s\" in \"%s\"", cases[i].detail, result.detail);
		result_release(&result);
		problem_list_release(&problems);
	}
	device_spec_free(device);
	catalogue_release(&catalogue);
}
