/* SPDX-License-Identifier: MIT
 *
 * Functions of the driver and of NVML, found at run time in the stand-in. Each case runs in its own
 * process, because a process loads a library and reads its script only once.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/unit.h"

#include "base/file.h"
#include "base/memory.h"
#include "spec/cuda_api.h"
#include "spec/nvml.h"

/* ---- cases: run in the child and print their results ---- */
static void case_open(void)
{
	struct cuda_api cuda;
	struct error err = {0};
	enum status status = cuda_api_open(&cuda, &err);

	printf("status %d: %s\n", status, err.message);
	if (status == STATUS_OK) {
		printf("version %d from %s%s\n", cuda.driver_version,
			cuda.library.path[0] == '/' ? "/.../" : "", path_name(cuda.library.path));
		cuda_api_close(&cuda);
	}
}

static void case_facts(void)
{
	struct cuda_api cuda;
	struct device_facts facts = {.compute_capability = 0};
	struct error err = {0};
	char uuid[GPU_UUID_SIZE] = "";
	CUdevice device = 0;

	if (cuda_api_open(&cuda, &err) == STATUS_OK &&
		gpu_find(&cuda, "1", &device, &err) == STATUS_OK &&
		gpu_facts(&cuda, device, &facts, &err) == STATUS_OK)
		gpu_uuid(&cuda, device, uuid, &err);
	printf("%s|%d|%lld|%lld|%lld|%.0f|%s|%s\n", facts.name, facts.compute_capability,
		(long long)facts.sm_count, (long long)facts.smem_per_block_bytes,
		(long long)facts.dram_bytes, facts.clock_hz, uuid, err.message);
	cuda_api_close(&cuda);
}

static void case_find(void)
{
	const char *const names[] = {"0", "1", "2", "GPU-105d", "GPU-1", "GPU-", "x", "", "00"};
	struct cuda_api cuda;
	struct error err = {0};

	if (cuda_api_open(&cuda, &err) != STATUS_OK)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		CUdevice device = -1;

		printf("%s:%d ", names[i],
			gpu_find(&cuda, names[i], &device, &err) == STATUS_OK ? device : -1);
	}
	printf("\n%s\n", err.message);
	cuda_api_close(&cuda);
}

static void case_nvml(void)
{
	struct nvml *nvml = nvml_open();
	struct nvml_reading reading;
	char version[32];

	nvml_driver_version(nvml, version, sizeof(version));
	nvml_select(nvml, "GPU-x"); /* must work without the library, too */
	reading = nvml_read(nvml);
	printf("%d|%s|%d|%.0f|%.0f|%.0f|%.0f|%.0f|%llx|%s|%.0f\n", nvml != NULL, version,
		reading.valid, reading.clock_sm_hz / 1e6, reading.clock_sm_max_hz / 1e6,
		reading.clock_memory_hz / 1e6, reading.power_w, reading.power_limit_w,
		reading.throttle_reasons, nvml_mig_mode(nvml), nvml_energy_j(nvml));
	nvml_close(nvml);
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"open", case_open}, {"facts", case_facts}, {"find", case_find}, {"nvml", case_nvml}};

/* ---- the parent's side ---- */
static char folder[512];

static void link_library(const char *name)
{
	char *library = realpath(TEST_BUILD "/faults/libcuda.so.1", NULL);
	char *path = string_format("%s/%s", folder, name);

	assert_non_null(library);
	unlink(path);
	assert_int_equal(symlink(library, path), 0);
	free(path);
	free(library);
}

static void unlink_library(const char *name)
{
	char *path = string_format("%s/%s", folder, name);

	unlink(path);
	free(path);
}

/* Returns the text that the case printed; the caller frees it. */
static char *run_case(const char *name, const char *script)
{
	char *script_path = string_format("%s/script", folder);
	char *program = path_executable();
	char *command = string_format("LD_LIBRARY_PATH=%s TILETUNE_STANDIN=%s %s case %s 2>&1",
		folder, script_path, program, name);
	struct text output = {0};
	struct error err;
	char line[1024];
	FILE *pipe;

	assert_ok(file_write(script_path, script, strlen(script), &err));
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe))
		text_append(&output, line);
	assert_int_equal(pclose(pipe), 0);
	free(command);
	free(program);
	free(script_path);
	return text_detach(&output);
}

static void expect(const char *name, const char *script, const char *expected)
{
	char *output = run_case(name, script);

	if (!strstr(output, expected))
		fail_msg("expected \"%s\" in \"%s\"", expected, output);
	free(output);
}

static int setup(void **state)
{
	(void)state;
	string_put(folder, sizeof(folder), TEST_SCRATCH "/tiletune-driver-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	link_library("libcuda.so.1");
	link_library("libnvidia-ml.so.1");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink_library("libcuda.so.1");
	unlink_library("libnvidia-ml.so.1");
	unlink_library("script");
	return rmdir(folder);
}

TEST(the_driver_is_opened_in_the_version_of_the_build)
{
	expect("open", "", "status 0: \nversion 13000 from /.../libcuda.so.1\n");
	/* from a newer driver the build's versions are requested, from an older one the versions
	 * it has */
	expect("open", "driver_version 14010", "status 0: \nversion 14010");
	expect("open", "driver_version 12040", "status 0: \nversion 12040");
}

TEST(a_driver_without_a_gpu_says_why)
{
	expect("open", "init 34", "status 5: no NVIDIA driver:");
	expect("open", "init 100", "there is no GPU (cuInit: 100)");
	expect("open", "init 999", "cuInit: CUDA_ERROR_OF_THE_STANDIN (999)");
	expect("open", "driver_version 11080",
		"CUDA 12.0 or newer is needed, but the driver has 11.8");
	expect("open", "missing cuMemAlloc\nmissing cuGraphLaunch",
		"the library lacks these functions: cuMemAlloc, cuGraphLaunch\n");
}

TEST(a_missing_driver_is_reported)
{
	void *real;

	/* Skip the case if this machine has a driver, which would be found in place of the
	 * hidden stand-in. */
	real = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (real) {
		dlclose(real);
		skip();
	}
	unlink_library("libcuda.so.1");
	expect("open", "", "status 5: no NVIDIA driver: libcuda.so.1 is not on the loader's path");
	link_library("libcuda.so.1");
}

TEST(facts_of_a_gpu_are_read)
{
	expect("facts", "name NVIDIA Toy\ndevices 2\nsm_count 7\ncompute_capability 80\n",
		"NVIDIA Toy|80|7|166912|1073741824|1980000000|"
		"GPU-115d5d5d-5d5d-5d5d-5d5d-5d5d5d5d5d5d|\n");
	expect("facts", "devices 1", "no GPU has the number or UUID 1; the GPUs are: 0");
}

TEST(gpus_are_found_by_number_and_uuid)
{
	expect("find", "devices 2", "0:0 1:1 2:-1 GPU-105d:0 GPU-1:-1 GPU-:-1 x:-1 :-1 00:0 \n");
}

TEST(readings_of_nvml_are_read)
{
	expect("nvml", "", "1|999.42.01|1|1980|1980|3201|312|700|4|disabled|1000\n");
	expect("nvml", "energy_step_mj 0",
		"|4|disabled|0\n"); /* these cards do not report energy */
	expect("nvml", "throttle 1\nslow_clock 1", "|345|1980|3201|312|700|44|");
	unlink_library("libnvidia-ml.so.1");
	if (!dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL))
		expect("nvml", "", "0||0|0|0|0|0|0|0||0\n");
	link_library("libnvidia-ml.so.1");
}

TEST(driver_errors_are_classified)
{
	static const int lost[] = {226, 721, 810, 911, 9999};
	struct cuda_api none = {0};
	struct error err;

	assert_int_equal(cuda_fault_of(CUDA_SUCCESS), CUDA_FAULT_NONE);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_OUT_OF_MEMORY), CUDA_FAULT_MEMORY);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES), CUDA_FAULT_REFUSED);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_INVALID_VALUE), CUDA_FAULT_REFUSED);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_MISALIGNED_ADDRESS), CUDA_FAULT_KERNEL);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_LAUNCH_TIMEOUT), CUDA_FAULT_TIMEOUT);
	assert_int_equal(cuda_fault_of(CUDA_ERROR_ECC_UNCORRECTABLE), CUDA_FAULT_DEVICE);
	/* contained error, tensor memory leak, MPS client ended, external device: the context is
	 * lost */
	for (size_t i = 0; i < ARRAY_COUNT(lost); i++)
		assert_int_equal(cuda_fault_of((CUresult)lost[i]), CUDA_FAULT_KERNEL);
	/* works without a driver that could describe the error */
	assert_fails(cuda_check(&none, CUDA_ERROR_ILLEGAL_ADDRESS, "launching k", &err),
		STATUS_FAILED, "launching k: CUDA error (700)");
	assert_ok(cuda_check(&none, CUDA_SUCCESS, "launching k", &err));
}

TEST_GROUP(setup, teardown)
static int before(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < ARRAY_COUNT(cases); i++)
		if (strcmp(argv[2], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	return RUN_TESTS;
}
BEFORE_TESTS(before)
