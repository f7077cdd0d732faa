/* SPDX-License-Identifier: MIT
 *
 * A device on the stand-in driver, for tests of src/device. This program is its own worker.
 *
 * The toy problem is out[r][c] = 2 * in[r][c] in fp32. The stand-in really computes the kernel
 * standin_scale and its reference. Kernels with any other name write 0.75 to `out`.
 */
#ifndef UNIT_DEVICE_BENCH_H
#define UNIT_DEVICE_BENCH_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/leap.h"
#include "unit/unit.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "device/device.h"
#include "handles.h"
#include "measure/worker.h"

struct bench {
	char folder[512];
	struct device *device;
	char *helpers; /* ---- files ---- */
};

static const char bench_helpers[] = "standin cubin\n"
				    "kernel tt_fill params=8,4,8,8,8,4,8,8,8,4\n"
				    "kernel tt_offsets params=8,8,8,8,8,4\n"
				    "kernel tt_poison params=8,8,4,8,8\n"
				    "kernel tt_guard_check params=8,8,4,8,8,8\n"
				    "kernel tt_compare_begin params=8\n"
				    "kernel tt_compare params=8,4,8,8,8,4,4,8,8,8,8,4,8\n"
				    "kernel tt_magnitudes params=8,4,8,8,8,4,4,4,8\n"
				    "kernel tt_checksum params=8,8,8,8,8\n"
				    "kernel tt_cipher params=8,8,8\n"
				    "kernel tt_anchor_1 params=8,4 regs=20\n";
/* Writes code for the stand-in to a file that is named after its content, like files of the
 * cache. The caller frees the path. */
static inline char *bench_code(const char *string)
{
	char *path = string_format(TEST_SCRATCH "/standin-%016llx.cubin",
		(unsigned long long)hash_bytes(string, strlen(string), 0));
	struct error err;

	assert_ok(file_write(path, string, strlen(string), &err));
	return path;
}

static inline char *bench_path(const struct bench *bench, const char *name)
{
	return string_format("%s/%s", bench->folder, name);
}

/* Sets the script for workers that start from now on. */
static inline void bench_script(const struct bench *bench, const char *script)
{
	char *path = bench_path(bench, "script");
	struct error err;

	assert_ok(file_write(path, script, strlen(script), &err));
	setenv("TILETUNE_STANDIN", path, 1);
	free(path);
}

/* Prepares a folder with the stand-in driver under both library names, a script, and the test's
 * own lock files. All later workers use this folder. */
static inline void bench_setup(struct bench *bench, const char *script)
{
	char *library = realpath(TEST_BUILD "/faults/libcuda.so.1", NULL);
	char *path;

	*bench = (struct bench){.folder = TEST_SCRATCH "/tiletune-device-XXXXXX"};
	assert_non_null(library);
	assert_non_null(mkdtemp(bench->folder));
	path = bench_path(bench, "libcuda.so.1");
	assert_int_equal(symlink(library, path), 0);
	free(path);
	path = bench_path(bench, "libnvidia-ml.so.1");
	assert_int_equal(symlink(library, path), 0);
	free(path);
	bench_script(bench, script);
	path = bench_path(bench, "hangs");
	leap_begin(path);
	free(path);
	setenv("LD_LIBRARY_PATH", bench->folder, 1);
	setenv("TILETUNE_LOCK_FOLDER", bench->folder, 1);
	free(library);
	bench->helpers = bench_code(bench_helpers);
}

static inline struct device_options bench_options(const struct bench *bench)
{
	static const char *const configs[] = {"configs", NULL};

	return (struct device_options){
		.config_folders = configs,
		.helpers_cubin = bench->helpers,
		.seed = 7,
		.kernel_timeout_s = LEAP_LIMIT_S,
		.reference_timeout_s = LEAP_LIMIT_S,
	};
}

static inline void bench_open(struct bench *bench, const char *script)
{
	struct device_options options;
	struct error err;

	bench_setup(bench, script);
	options = bench_options(bench);
	assert_ok(device_open("cuda:0", &options, &bench->device, &err));
}

static inline void bench_close(struct bench *bench)
{
	CLEANUP(name_set_release) struct name_set names = {0};

	device_close(bench->device);
	leap_end();
	directory_list(bench->folder, &names, NULL);
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(memory_free) char *path = bench_path(bench, names.items[i]);

		unlink(path);
	}
	rmdir(bench->folder);
	free(bench->helpers);
}

/* ---- the toy problem ---- */
struct toy {
	uint64_t rows, columns, ld_in, ld_out;
	enum dtype dtype;
	bool unit_is_row;
	uint64_t workspace_bytes;
	enum buffer_init workspace_init;
	bool output_last;   /* whether `out` comes last in memory, as in every real operation;
			       otherwise `in` comes last */
	double abs, rel;    /* tolerances; both are 1e-6 if both members are 0 */
	const char *symbol; /* name of the device symbol that `in` fills; may be NULL */
};

static inline void toy_buffers(const struct toy *toy, struct plan_buffer buffers[2])
{
	uint64_t size = dtype_size(toy->dtype);

	buffers[toy->output_last] = (struct plan_buffer){.name = "out",
		.role = BUFFER_OUTPUT,
		.dtype = toy->dtype,
		.rows = toy->rows,
		.columns = toy->columns,
		.ld = toy->ld_out,
		.bytes = ((toy->rows - 1) * toy->ld_out + toy->columns) * size};
	buffers[!toy->output_last] = (struct plan_buffer){.name = "in",
		.role = BUFFER_INPUT,
		.dtype = DTYPE_FP32,
		.rows = toy->rows,
		.columns = toy->columns,
		.ld = toy->ld_in,
		.bytes = ((toy->rows - 1) * toy->ld_in + toy->columns) * 4,
		.fill_low = -1,
		.fill_high = 1};
}

/* Builds the reference of a toy problem. The caller releases the cubin. */
struct toy_reference {
	struct plan_buffer buffers[2];
	struct plan_argument arguments[7];
	char entry[64];
	struct plan_launch launch;
	struct reference_output output;
	struct reference_plan plan;
	char *cubin;
};

static inline void toy_reference_make(
	const struct toy *toy, const char *entry, struct toy_reference *made)
{
	char *text = string_format("standin cubin\nkernel %s params=8,4,8,8,4,4,4\n", entry);

	*made = (struct toy_reference){
		.arguments = {{.kind = ARGUMENT_UNITS}, {.kind = ARGUMENT_UNIT_COUNT},
			{.kind = ARGUMENT_EXPECTED},
			{.kind = ARGUMENT_BUFFER, .index = !toy->output_last},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->columns},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->ld_in},
			{.kind = ARGUMENT_INT32,
				.integer = toy->unit_is_row ? (int64_t)toy->columns : 1}},
		.plan = {.tensor_count = 2, .output_count = 1},
		.output = {.tensor = toy->output_last,
			.units_per_block = 256,
			.unit_is_row = toy->unit_is_row,
			.tolerance_abs = toy->abs > 0 ? toy->abs : 1e-6,
			.tolerance_rel = toy->rel > 0 ? toy->rel : 1e-6},
		.launch = {.shape.grid = {1, 1, 1},
			.shape.block = {256, 1, 1},
			.shape.cluster = {1, 1, 1},
			.shape.repeat = 1,
			.argument_count = 7},
		.cubin = bench_code(text),
	};
	toy_buffers(toy, made->buffers);
	string_put(made->entry, sizeof(made->entry), entry);
	made->plan.tensors = made->buffers;
	made->plan.outputs = &made->output;
	made->output.launch = &made->launch;
	made->launch.entry = made->entry;
	made->launch.arguments = made->arguments;
	free(text);
}

static inline uint32_t toy_problem(
	struct device *device, const struct toy *toy, const char *reference_entry)
{
	struct toy_reference reference;
	uint32_t problem = 0;
	struct error err;

	toy_reference_make(toy, reference_entry, &reference);
	assert_ok(device_problem(
		device, "scale", "rows=..", &reference.plan, &reference.cubin, 1, &problem, &err));
	free(reference.cubin);
	return problem;
}

/* Builds a candidate of a toy problem. The caller releases the cubin. name is the entry point;
 * attributes may follow it. */
struct toy_candidate {
	struct plan_buffer buffers[3];
	struct plan_argument arguments[8];
	char entry[64];
	struct plan_launch launch;
	struct plan_symbol symbol;
	struct plan plan;
	char *cubin;
};

static inline void toy_candidate_make(
	const struct toy *toy, const char *name, struct toy_candidate *made)
{
	char *text = string_format("standin cubin\nkernel %s params=8,8,4,4,4,4,4%s\n", name,
		toy->workspace_bytes ? ",8" : "");

	*made = (struct toy_candidate){
		.arguments = {{.kind = ARGUMENT_BUFFER, .index = toy->output_last},
			{.kind = ARGUMENT_BUFFER, .index = !toy->output_last},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->rows},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->columns},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->ld_out},
			{.kind = ARGUMENT_INT32, .integer = (int64_t)toy->ld_in},
			{.kind = ARGUMENT_FLOAT32, .real = 2},
			{.kind = ARGUMENT_BUFFER, .index = 2}},
		.launch = {.shape.grid = {4, 1, 1},
			.shape.block = {128, 1, 1},
			.shape.cluster = {1, 1, 1},
			.shape.smem_dynamic_bytes = 1024,
			.shape.repeat = 1,
			.argument_count = toy->workspace_bytes ? 8 : 7},
		.plan = {.buffer_count = toy->workspace_bytes ? 3 : 2,
			.tensor_count = 2,
			.launch_count = 1,
			.workspace_bytes = toy->workspace_bytes},
		.cubin = bench_code(text),
	};
	toy_buffers(toy, made->buffers);
	made->buffers[2] = (struct plan_buffer){.name = "partial",
		.role = BUFFER_WORKSPACE,
		.init = toy->workspace_init,
		.bytes = toy->workspace_bytes};
	string_put(made->entry, sizeof(made->entry), name);
	made->entry[strcspn(made->entry, " ")] = '\0';
	made->launch.entry = made->entry;
	made->launch.arguments = made->arguments;
	made->plan.buffers = made->buffers;
	made->plan.launches = &made->launch;
	made->symbol = (struct plan_symbol){
		.name = (char *)(uintptr_t)toy->symbol, .buffer = !toy->output_last};
	made->plan.symbols = &made->symbol;
	made->plan.symbol_count = toy->symbol != NULL;
	free(text);
}

/* Loads a job with `count` equal cubins. With several cubins each path is about 4,000 bytes
 * long. */
static inline device_handle toy_load_units(struct device *device, uint32_t problem,
	const struct toy *toy, const char *name, size_t units)
{
	char path[4000], *cubins[32];
	struct toy_candidate candidate;
	struct kernel_resources resources = {
		.regs_per_thread = 99, .spill_store_bytes = 8, .blocks_per_sm = -1};
	struct device_load_request request = {
		.problem = problem,
		.family = "toy/scale",
		.configuration = name,
		.cubins = cubins,
		.cubin_count = units,
		.plan = &candidate.plan,
		.resources = &resources,
		.predicted_time_us = 10,
	};
	device_handle handle = 0;
	struct error err;

	toy_candidate_make(toy, name, &candidate);
	memset(path, '/', sizeof(path));
	for (size_t i = 1; i < sizeof(path); i += 2)
		path[i] = '.';
	strcpy(path + sizeof(path) - 200, candidate.cubin);
	for (size_t i = 0; i < units; i++)
		cubins[i] = units > 1 ? path : candidate.cubin;
	assert_ok(device_load(device, &request, &handle, &err));
	assert_int_not_equal(handle, 0);
	free(candidate.cubin);
	return handle;
}

static inline device_handle toy_load(
	struct device *device, uint32_t problem, const struct toy *toy, const char *name)
{
	return toy_load_units(device, problem, toy, name, 1);
}

/* ---- replies ---- */
static inline struct device_reply next_reply(struct device *device)
{
	struct device_reply reply = {0};

	while (!device_poll(device, 0.1, &reply))
		if (device_pending(device) == 0)
			fail_msg("no reply came");
	return reply;
}

/* Asserts the kind and outcome of the next reply, and that its detail contains the text. */
static inline struct device_reply expect_reply(struct device *device, enum reply_kind kind,
	device_handle handle, enum outcome outcome, const char *detail)
{
	struct device_reply reply = next_reply(device);

	if (reply_kind(&reply) != kind || (handle && reply_handle(&reply) != handle) ||
		reply.result.outcome != outcome)
		fail_msg("expected reply %d of handle %u with %s, found %d of %u with %s: %s", kind,
			handle, outcome_name(outcome), reply_kind(&reply), reply_handle(&reply),
			outcome_name(reply.result.outcome),
			reply.result.detail ? reply.result.detail : "");
	if (detail && !(reply.result.detail && strstr(reply.result.detail, detail)))
		fail_msg("expected \"%s\" in \"%s\"", detail,
			reply.result.detail ? reply.result.detail : "");
	return reply;
}

static inline void expect(struct device *device, enum reply_kind kind, device_handle handle,
	enum outcome outcome, const char *detail)
{
	struct device_reply reply = expect_reply(device, kind, handle, outcome, detail);

	device_reply_release(&reply);
}

static inline void request_samples(
	struct device *device, const device_handle *handles, size_t count, unsigned rounds)
{
	struct device_sample_request request = {
		.handles = handles,
		.handle_count = count,
		.sampling.rounds = rounds,
		.sampling.seconds_max = 30,
	};
	struct error err;

	assert_ok(device_sample(device, &request, &err));
}

/* For main(): returns whether this process must run as the worker. */
static inline bool bench_is_worker(int argc, char **argv)
{
	return argc == 2 && strcmp(argv[1], "worker-measure") == 0;
}

#endif
