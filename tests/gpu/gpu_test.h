/* SPDX-License-Identifier: MIT
 *
 * Shared by the tests of the device code on a real GPU: compiling bad_kernels.cu with NVRTC, the
 * problem out = 2 * in with any pitch, loading kernels, and counting checks. The program is its own
 * worker (gpu_test_worker()).
 */
#ifndef GPU_GPU_TEST_H
#define GPU_GPU_TEST_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/statistics.h"
#include "compile/compiler.h"
#include "compile/worker.h"
#include "device/device.h"
#include "handles.h"
#include "candidate/build.h"
#include "measure/worker.h"

struct gpu_test {
	char *folders[3]; /* folders of templates and of tests/gpu */
	struct device *device;
	struct compiler *compiler; /* its temporary cache holds the kernels */
	char *helpers, *cubin;     /* paths of cubins */
	unsigned passed, failed;
};

static inline void check(struct gpu_test *test, bool right, const char *format, ...)
	PRINTF_LIKE(3, 4);
static inline void check(struct gpu_test *test, bool right, const char *format, ...)
{
	struct text text = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&text, format, args);
	va_end(args);
	printf("%s  %s\n", right ? "ok  " : "FAIL", text.data);
	fflush(stdout);
	text_release(&text);
	test->passed += right;
	test->failed += !right;
}

static inline void die(const struct error *err)
{
	fprintf(stderr, "%s\n%s\n", err->message, err->hint);
	exit((int)err->status);
}

/* ---- compiling ---- */
static inline void compile(struct gpu_test *test, struct compiler *compiler, const char *arch,
	const char *name, struct compile_result *result)
{
	struct build build;
	struct error err;

	if (plain_build((const char *const *)test->folders, name, &build, &err) != STATUS_OK ||
		compiler_submit(compiler, &build.units[0], arch, result, &err) != STATUS_OK)
		die(&err);
	build_release(&build);
	if (!compiler_poll(compiler, 120) || result->outcome != OUTCOME_OK) {
		fprintf(stderr, "%s: %s\n", name, result->log ? result->log : "no answer");
		exit(STATUS_FAILED);
	}
}

static inline void open_device(struct gpu_test *test, const char *name)
{
	const char *configs[] = {NULL};
	struct device_options options = {
		.config_folders = configs, .seed = 1, .kernel_timeout_s = 3};
	struct compiler_options compiler_options = {.workers = 1};
	struct compile_result result = {0};
	struct compiler *compiler;
	struct error err;
	const char *arch;

	if (device_open(name, &options, &test->device, &err) != STATUS_OK)
		die(&err);
	arch = test->device->spec->arch;
	compiler_options.driver_cuda_version = test->device->identity.driver_cuda_version;
	if (compiler_open(&compiler_options, &compiler, &err) != STATUS_OK)
		die(&err);
	compile(test, compiler, arch, "common/helpers.cu", &result);
	test->helpers = result.path;
	result.path = NULL;
	compile_result_release(&result);
	compile(test, compiler, arch, "bad_kernels.cu", &result);
	test->cubin = result.path;
	result.path = NULL;
	compile_result_release(&result);
	test->compiler = compiler;
	if (device_helpers(test->device, test->helpers, &err) != STATUS_OK)
		die(&err);
}

/* ---- the problem ---- */
struct shape {
	int rows, columns, ld_out, ld_in;
};

/* The output comes last, as in every operation, so that the memory behind it is checked. */
static inline void tensors(const struct shape *shape, struct plan_buffer buffers[3])
{
	buffers[1] = (struct plan_buffer){.name = "out",
		.role = BUFFER_OUTPUT,
		.rows = (uint64_t)shape->rows,
		.columns = (uint64_t)shape->columns,
		.ld = (uint64_t)shape->ld_out};
	buffers[0] = (struct plan_buffer){.name = "in",
		.role = BUFFER_INPUT,
		.rows = (uint64_t)shape->rows,
		.columns = (uint64_t)shape->columns,
		.ld = (uint64_t)shape->ld_in,
		.fill_low = -1,
		.fill_high = 1};
	for (int i = 0; i < 2; i++)
		buffers[i].bytes = 4 * ((buffers[i].rows - 1) * buffers[i].ld + buffers[i].columns);
	buffers[2] = (struct plan_buffer){.name = "workspace",
		.role = BUFFER_WORKSPACE,
		.init = BUFFER_INIT_ONCE,
		.bytes = 256};
}

static inline struct plan_argument integer(int value)
{
	return (struct plan_argument){.kind = ARGUMENT_INT32, .integer = value};
}

static inline uint32_t announce(struct gpu_test *test, const struct shape *shape)
{
	struct plan_buffer buffers[3];
	char entry[] = "bad_reference";
	struct plan_argument arguments[] = {{.kind = ARGUMENT_UNITS}, {.kind = ARGUMENT_UNIT_COUNT},
		{.kind = ARGUMENT_EXPECTED}, {.kind = ARGUMENT_BUFFER, .index = 0},
		integer(shape->columns), integer(shape->ld_in)};
	struct plan_launch launch = {.entry = entry,
		.shape.grid = {1, 1, 1},
		.shape.block = {256, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.repeat = 1,
		.arguments = arguments,
		.argument_count = 6};
	struct reference_output output = {.tensor = 1,
		.launch = &launch,
		.units_per_block = 256,
		.tolerance_abs = 1e-6,
		.tolerance_rel = 1e-6};
	struct reference_plan reference = {
		.tensors = buffers, .tensor_count = 2, .outputs = &output, .output_count = 1};
	uint32_t problem;
	struct error err;

	tensors(shape, buffers);
	if (device_problem(test->device, "double", "", &reference, &test->cubin, 1, &problem,
		    &err) != STATUS_OK)
		die(&err);
	return problem;
}

static inline device_handle load(struct gpu_test *test, uint32_t problem, const struct plan *plan)
{
	struct kernel_resources resources = {.blocks_per_sm = -1};
	struct device_load_request request = {.problem = problem,
		.family = "bad",
		.configuration = plan->launches[0].entry,
		.cubins = &test->cubin,
		.cubin_count = 1,
		.plan = plan,
		.resources = &resources};
	device_handle handle;
	struct error err;

	if (device_load(test->device, &request, &handle, &err) != STATUS_OK)
		die(&err);
	return handle;
}

static inline device_handle load_entry(struct gpu_test *test, uint32_t problem,
	const struct shape *shape, const char *entry, uint32_t threads, uint32_t smem_bytes)
{
	struct plan_buffer buffers[3];
	struct plan_argument arguments[] = {{.kind = ARGUMENT_BUFFER, .index = 1},
		{.kind = ARGUMENT_BUFFER, .index = 0}, integer(shape->rows),
		integer(shape->columns), integer(shape->ld_out), integer(shape->ld_in),
		{.kind = ARGUMENT_BUFFER, .index = 2}};
	uint64_t elements = (uint64_t)shape->rows * (uint64_t)shape->columns;
	char *name = string_copy(entry);
	struct plan_launch launch = {.entry = name,
		.shape.grid = {(uint32_t)((elements + threads - 1) / threads), 1, 1},
		.shape.block = {threads, 1, 1},
		.shape.cluster = {1, 1, 1},
		.shape.smem_dynamic_bytes = smem_bytes,
		.shape.repeat = 1,
		.arguments = arguments,
		.argument_count = 7};
	struct plan plan = {.buffers = buffers,
		.buffer_count = 3,
		.tensor_count = 2,
		.launches = &launch,
		.launch_count = 1,
		.workspace_bytes = 256};
	device_handle handle;

	tensors(shape, buffers);
	handle = load(test, problem, &plan);
	free(name);
	return handle;
}

static inline struct device_reply next(struct gpu_test *test)
{
	struct device_reply reply = {0};

	if (!device_poll(test->device, 120, &reply)) {
		fprintf(stderr, "no reply came\n");
		exit(STATUS_FAILED);
	}
	if (reply_kind(&reply) == REPLY_OF_LOST) {
		fprintf(stderr, "the device was lost: %s\n", reply.result.detail);
		exit(STATUS_NO_DEVICE);
	}
	return reply;
}

/* For main(): returns true in a worker process, with its exit code in *code. */
static inline bool gpu_test_worker(int argc, char **argv, int *code)
{
	if (argc == 2 && strcmp(argv[1], "worker-measure") == 0)
		*code = measure_worker_main();
	else if (argc == 2 && strcmp(argv[1], "worker-compile") == 0)
		*code = compile_worker_main();
	else
		return false;
	return true;
}

#endif
