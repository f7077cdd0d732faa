/* SPDX-License-Identifier: MIT
 *
 * tiletune devices: GPUs of this machine, device sheets, the compiler.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "learn/learned.h"

struct devices_options {
	struct common_options common;
	struct device_choice device;
};

#define AT(member) offsetof(struct devices_options, member)

static const struct option devices_option_table[] = {
	DEVICE_OPTIONS,
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
	json_put_string(json, "busy_by", listing->busy_by[0] ? listing->busy_by : NULL);
	return json;
}

static void print_gpu(
	size_t index, const struct device_listing *listing, const struct device_spec *spec)
{
	const struct device_facts *facts = &listing->facts;

	printf("  cuda:%-8zu %s, compute capability %d.%d, %lld SMs, %.0f GiB, L2 %.0f MiB, "
	       "driver %s\n",
		index, facts->name, facts->compute_capability / 10, facts->compute_capability % 10,
		(long long)facts->sm_count, (double)facts->dram_bytes / 0x1p30,
		(double)facts->l2_bytes / 0x1p20, listing->identity.driver);
	printf("  %13s %s; %s%s\n", "", listing->identity.uuid,
		spec && spec->from_sheet ? "sheet " : "no sheet: default rates of its architecture",
		spec && spec->from_sheet ? spec->name : "");
	if (listing->busy_by[0])
		printf("  %13s in use by %s\n", "", listing->busy_by);
}

static enum status list_gpus(const struct devices_options *options, const struct folders *folders,
	struct json *json, int *driver_version, struct error *err)
{
	struct device_options device_options = {
		.config_folders = folders->configs, .worker_path = options->device.worker};
	CLEANUP(memory_free) struct device_listing *list = NULL;
	CLEANUP(memory_free) char *why = NULL;
	size_t count = 0;

	TRY(device_list_cuda(&device_options, &list, &count, &why, err));
	if (!options->common.json)
		printf("GPUs%s%s\n", count ? "" : ": none: ",
			count ? ""
			: why ? why
			      : "no reason given");
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

static enum status list_sheet(const struct devices_options *options, const struct folders *folders,
	const char *name, struct json *list, struct error *err)
{
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	struct json *sheet;

	TRY(device_spec_load(name, folders->configs, &spec, err));
	if (!options->common.json) {
		printf("  model:%-16s %s, %s, %lld SMs\n", name, spec->title, spec->arch,
			(long long)spec->sm_count);
		return STATUS_OK;
	}
	sheet = json_new_object();
	json_put_string(sheet, "device", name);
	json_put_string(sheet, "title", spec->title);
	json_put_int(sheet, "compute_capability", spec->compute_capability);
	json_put_int(sheet, "sm_count", spec->sm_count);
	json_push(list, sheet);
	return STATUS_OK;
}

static enum status list_sheets(const struct devices_options *options, const struct folders *folders,
	struct json *json, struct error *err)
{
	CLEANUP(memory_free) char **names = device_spec_names(folders->configs);
	enum status status = STATUS_OK;

	if (!options->common.json)
		printf("device sheets\n");
	for (char **name = names; *name; name++) {
		if (status == STATUS_OK)
			status = list_sheet(options, folders, *name, json, err);
		free(*name);
	}
	return status;
}

/* A missing compiler is reported, it is not a failure. */
static struct json *show_compiler(const struct devices_options *options, int driver_version)
{
	struct compiler_options compiler_options = {.worker_path = options->device.worker,
		.nvrtc_path = options->device.nvrtc,
		.driver_cuda_version = driver_version,
		.workers = options->device.workers};
	struct compiler *compiler = NULL;
	struct error reason = {0};
	struct json *json = json_new_object();

	if (compiler_open(&compiler_options, &compiler, &reason) == STATUS_OK) {
		json_put_string(json, "identity", compiler_identity(compiler));
		json_put_string(json, "path", compiler_path(compiler));
		json_put_int(json, "workers", compiler_worker_count(compiler));
		if (!options->common.json)
			printf("compiler\n  %s, %s, %u workers\n", compiler_identity(compiler),
				compiler_path(compiler), compiler_worker_count(compiler));
		compiler_close(compiler);
	} else {
		json_put_string(json, "missing", reason.message);
		if (!options->common.json)
			printf("compiler: none: %s\n", reason.message);
	}
	return json;
}

/* ---- what was learned on this machine ---- */
struct own_listing {
	const struct devices_options *options;
	const char *folder;
	struct json *json;
};

static enum status list_own(const char *name, void *context, struct error *err)
{
	const struct own_listing *listing = context;
	CLEANUP(memory_free) char *path = path_join(listing->folder, name);
	CLEANUP(learned_file_release) struct learned_file file = {0};
	struct json *json;
	uint64_t timings = 0;

	(void)err;
	if (!string_ends_with(name, ".json") || learned_file_load(path, &file, NULL) != STATUS_OK)
		return STATUS_OK;
	for (size_t i = 0; i < file.family_count; i++)
		timings += file.families[i].timings;
	json = json_new_object();
	json_put_string(json, "device", file.device);
	json_put_int(json, "timings", (int64_t)timings);
	json_put_int(json, "families", (int64_t)file.family_count);
	json_push(listing->json, json);
	if (!listing->options->common.json)
		printf("%s  %-13s %" PRIu64 " timings of %zu families\n",
			json_count(&(struct json_at){.node = listing->json}) > 1
				? ""
				: "learned here (`tiletune learn --drop DEVICE` forgets it)\n",
			file.device, timings, file.family_count);
	return STATUS_OK;
}

static enum status list_learned(
	const struct devices_options *options, struct json *json, struct error *err)
{
	CLEANUP(memory_free) char *cache = NULL;
	CLEANUP(memory_free) char *folder = NULL;

	if (path_cache_folder(options->device.cache, &cache, NULL) != STATUS_OK)
		return STATUS_OK;
	folder = path_join(cache, "learned");
	return directory_exists(folder) ? directory_list(folder, list_own,
						  &(struct own_listing){options, folder, json}, err)
					: STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct devices_options *options = options_;
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *json = json_new_object();
	struct json *gpus = json_new_array(), *sheets = json_new_array(),
		    *learned = json_new_array();
	int driver_version = 0;

	(void)positional;
	json_put(json, "gpus", gpus);
	json_put(json, "sheets", sheets);
	json_put(json, "learned", learned);
	TRY(common_check_workers(&options->device, err));
	TRY(list_gpus(options, &folders, gpus, &driver_version, err));
	TRY(list_sheets(options, &folders, sheets, err));
	TRY(list_learned(options, learned, err));
	json_put(json, "compiler", show_compiler(options, driver_version));
	return options->common.json ? common_write_json("-", json, err) : STATUS_OK;
}

const struct command command_devices = {
	.name = "devices",
	.summary = "List GPUs, device sheets and the compiler that is found",
	.arguments = "",
	.options = devices_option_table,
	.options_size = sizeof(struct devices_options),
	.run = run,
};
