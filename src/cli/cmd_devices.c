/* SPDX-License-Identifier: MIT
 *
 * tiletune devices: lists the machine's GPUs, the device sheets and the compiler.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/file.h"
#include "base/format_text.h"
#include "base/memory.h"
#include "compile/tile.h"
#include "cli/common.h"
#include "compile/cache.h"

struct devices_options {
	struct common_options common;
	struct context_options device;
};

#define AT(member) offsetof(struct devices_options, member)

static const struct option devices_option_table[] = {
	TOOLCHAIN_OPTIONS,
	COMMON_OPTIONS,
	{0},
};

static struct json *gpu_json(
	size_t index, const struct device_listing *listing, const struct device_spec *spec)
{
	const struct device_facts *facts = &listing->facts;
	struct json *json = json_new_object();
	char name[32];

	snprintf(name, sizeof(name), "cuda:%zu", index);
	json_put_string(json, "device", name);
	json_put_string(json, "name", facts->name);
	json_put_string(json, "uuid", listing->identity.uuid);
	json_put_string(json, "driver", listing->identity.driver);
	json_put_string(json, "mig", listing->identity.mig);
	json_put_int(json, "compute_capability", facts->compute_capability);
	json_put_int(json, "sm_count", facts->sm_count);
	json_put_int(json, "smem_per_block_bytes", facts->smem_per_block_bytes);
	json_put_int(json, "l2_bytes", facts->l2_bytes);
	json_put_int(json, "dram_bytes", facts->dram_bytes);
	json_put_double(json, "clock_mhz", facts->clock_hz * 1e-6);
	json_put_string(json, "sheet", spec && spec->from_sheet ? spec->name : NULL);
	json_put_int(json, "process_count", listing->identity.process_count);
	json_put_string(json, "busy_by", listing->busy_by[0] ? listing->busy_by : NULL);
	return json;
}

static void print_gpu(
	size_t index, const struct device_listing *listing, const struct device_spec *spec)
{
	const struct device_facts *facts = &listing->facts;

	common_print(stdout,
		"  cuda:%-8zu %s, compute capability %d.%d, %lld SMs, %.0f GiB, L2 %.0f MiB, "
		"driver %s\n",
		index, facts->name, facts->compute_capability / 10, facts->compute_capability % 10,
		(long long)facts->sm_count, (double)facts->dram_bytes / 0x1p30,
		(double)facts->l2_bytes / 0x1p20, listing->identity.driver);
	common_print(stdout, "  %13s %s; %s%s\n", "", listing->identity.uuid,
		spec && spec->from_sheet ? "sheet " : "no sheet: default rates of its architecture",
		spec && spec->from_sheet ? spec->name : "");
	if (listing->busy_by[0])
		common_print(stdout, "  %13s in use by %s\n", "", listing->busy_by);
	else if (listing->identity.process_count)
		common_print(stdout, "  %13s %d other processes use it\n", "",
			listing->identity.process_count);
}

static enum status list_gpus(const struct devices_options *options, const struct folders *folders,
	struct json *json, int *driver_version, struct error *err)
{
	struct device_options device_options = {
		.config_folders = folders->configs, .worker_path = common_worker()};
	CLEANUP(memory_free) struct device_listing *list = NULL;
	CLEANUP(memory_free) char *why = NULL;
	size_t count = 0;

	TRY(device_list_cuda(&device_options, &list, &count, &why, err));
	if (!options->common.json)
		common_print(stdout, "GPUs%s%s\n", count ? "" : ": none: ", count ? "" : why);
	for (size_t i = 0; i < count; i++) {
		CLEANUP(device_spec_release) struct device_spec *spec = NULL;

		TRY(device_spec_match(&list[i].facts, folders->configs, &spec, err));
		if (options->common.json)
			json_push(json, gpu_json(i, &list[i], spec));
		else
			print_gpu(i, &list[i], spec);
		*driver_version = list[i].identity.driver_cuda_version;
	}
	return STATUS_OK;
}

static void list_sheet(const struct devices_options *options, const struct folders *folders,
	const char *name, struct json *list)
{
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	struct error reason;
	struct json *sheet;

	if (device_spec_load(name, folders->configs, &spec, &reason) != STATUS_OK) {
		common_notice("a device sheet is skipped: %s", reason.message);
		return;
	}
	if (!options->common.json) {
		common_print(stdout, "  model:%-16s %s, %s, %lld SMs\n", name, spec->title,
			spec->arch, (long long)spec->sm_count);
		return;
	}
	sheet = json_new_object();
	json_put_string(sheet, "device", name);
	json_put_string(sheet, "title", spec->title);
	json_put_int(sheet, "compute_capability", spec->compute_capability);
	json_put_int(sheet, "sm_count", spec->sm_count);
	json_push(list, sheet);
}

/* Prints where the compiler was searched for. The message for a missing compiler includes the
 * same list. */
static void show_places(const struct compiler_options *options, bool is_text, struct json *json)
{
	CLEANUP(memory_free) char *places = compiler_places(options);
	struct json *list = json_new_array();

	if (is_text)
		printf("  NVRTC is looked for in:\n");
	for (char *line = strtok(places, "\n"); line; line = strtok(NULL, "\n")) {
		json_push(list, json_new_string(line));
		if (is_text)
			printf("    %s\n", line);
	}
	json_put(json, "places", list);
}

/* Prints the toolkit that compiles CUDA Tile C++, or how to install it. */
static void show_tile_toolkit(struct compiler *compiler, bool is_text, struct json *json)
{
	const struct tile_toolkit *toolkit;
	struct error missing = {0};

	if (compiler_find_tile(compiler, &toolkit, &missing) == STATUS_OK) {
		json_put_string(json, "tile", toolkit->identity);
		json_put_string(json, "tile_path", toolkit->folder);
		if (is_text)
			common_print(stdout, "  tile kernels: %s, %s\n", toolkit->identity,
				toolkit->folder);
	} else if (is_text) {
		printf("  tile kernels: ");
		common_print_lines(stdout, missing.message);
		common_print(stdout, "\n  hint: %s\n", missing.hint);
	}
}

/* Describes the compiler. A missing compiler is no error here. */
static struct json *show_compiler(const struct devices_options *options, int driver_version)
{
	struct compiler_options compiler_options = {.worker_path = common_worker(),
		.nvrtc_path = options->device.compiler.nvrtc_path,
		.driver_cuda_version = driver_version,
		.workers = options->device.compiler.workers};
	struct compiler *compiler = NULL;
	struct error reason = {0};
	struct json *json = json_new_object();

	if (compiler_open(&compiler_options, &compiler, &reason) == STATUS_OK) {
		json_put_string(json, "identity", compiler_identity(compiler));
		json_put_string(json, "path", compiler_path(compiler));
		json_put_int(json, "workers", compiler_worker_count(compiler));
		if (!options->common.json)
			common_print(stdout, "compiler\n  %s, %s, %u workers\n",
				compiler_identity(compiler), compiler_path(compiler),
				compiler_worker_count(compiler));
		show_places(&compiler_options, !options->common.json, json);
		show_tile_toolkit(compiler, !options->common.json, json);
		compiler_close(compiler);
	} else {
		json_put_string(json, "missing", reason.message);
		show_places(&compiler_options, false, json);
		if (!options->common.json)
			common_print(stdout, "compiler: none: %s\n", reason.message);
	}
	return json;
}

static enum status devices_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct devices_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *json = json_new_object();
	CLEANUP(memory_free) char *folder = NULL;
	CLEANUP(name_set_release) struct name_set names = device_spec_names(folders.configs);
	struct json *gpus = json_new_array(), *sheets = json_new_array(), *cache;
	int driver_version = 0;

	(void)positional;
	json_put(json, "gpus", gpus);
	json_put(json, "sheets", sheets);
	TRY(common_check_workers(options->device.compiler.workers, err));
	/* an unusable default cache folder is not an error here; a folder that the user named is */
	if (path_cache_folder(options->device.compiler.cache_folder, &folder,
		    options->device.compiler.cache_folder ? err : NULL) != STATUS_OK &&
		options->device.compiler.cache_folder)
		return err->status;
	TRY(list_gpus(options, &folders, gpus, &driver_version, err));
	if (!options->common.json)
		common_print(stdout, "device sheets\n");
	for (size_t i = 0; i < names.count; i++)
		list_sheet(options, &folders, names.items[i], sheets);
	json_put(json, "compiler", show_compiler(options, driver_version));
	cache = json_new_object();
	json_put(json, "cache", cache);
	if (folder) {
		const struct cache_size size = cache_measure(folder);

		json_put_string(cache, "folder", folder);
		json_put_int(cache, "kernels", (int64_t)size.kernels);
		json_put_int(cache, "bytes", (int64_t)size.bytes);
		if (!options->common.json)
			common_print(stdout, "cache\n  %s, %" PRIu64 " kernels, %s\n", folder,
				size.kernels, format_bytes((double)size.bytes).text);
	}
	return options->common.json ? common_write_json("-", json, err) : STATUS_OK;
}

const struct command command_devices = {
	.name = "devices",
	COMMAND_OPTIONS(struct devices_options, devices_option_table),
	.run = devices_run,
};
