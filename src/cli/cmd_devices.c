/* SPDX-License-Identifier: MIT
 *
 * tiletune devices: GPUs of this machine, device sheets, the compiler.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli/common.h"

struct devices_options {
	struct common_options common;
	struct device_choice device;
};

static const struct option devices_option_table[] = {
	DEVICE_OPTIONS(struct devices_options),
	COMMON_OPTIONS(struct devices_options),
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

static enum status list_gpus(const struct devices_options *options, char **config_folders,
	struct json *json, int *driver_version, struct error *err)
{
	struct device_options device_options = {
		.config_folders = (const char *const *)config_folders,
		.worker_path = options->device.worker};
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL;
	enum status status = device_list_cuda(&device_options, &list, &count, &why, err);

	if (status == STATUS_OK && !options->common.json)
		printf("GPUs%s%s\n", count ? "" : ": none: ",
			count ? ""
			: why ? why
			      : "no reason given");
	for (size_t i = 0; i < count && status == STATUS_OK; i++) {
		struct device_spec *spec = NULL;

		status = device_spec_match(
			&list[i].facts, device_options.config_folders, &spec, err);
		if (status == STATUS_OK && options->common.json)
			json_push(json, gpu_json(i, &list[i], spec));
		else if (status == STATUS_OK)
			print_gpu(i, &list[i], spec);
		*driver_version = list[i].identity.driver_cuda_version;
		device_spec_free(spec);
	}
	free(list);
	free(why);
	return status;
}

static enum status list_sheets(const struct devices_options *options, char **config_folders,
	struct json *json, struct error *err)
{
	char **names = device_spec_names((const char *const *)config_folders);
	enum status status = STATUS_OK;

	if (!options->common.json)
		printf("device sheets\n");
	for (char **name = names; *name; name++) {
		struct device_spec *spec = NULL;

		if (status == STATUS_OK)
			status = device_spec_load(
				*name, (const char *const *)config_folders, &spec, err);
		if (status == STATUS_OK && options->common.json) {
			struct json *sheet = json_new_object();

			json_put_string(sheet, "device", *name);
			json_put_string(sheet, "title", spec->title);
			json_put_int(sheet, "compute_capability", spec->compute_capability);
			json_put_int(sheet, "sm_count", spec->sm_count);
			json_push(json, sheet);
		} else if (status == STATUS_OK) {
			printf("  model:%-16s %s, %s, %lld SMs\n", *name, spec->title, spec->arch,
				(long long)spec->sm_count);
		}
		device_spec_free(spec);
		free(*name);
	}
	free(names);
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

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct devices_options *options = options_;
	struct folders folders = folders_find(&options->common.paths);
	struct json *json = json_new_object(), *gpus = json_new_array();
	struct json *sheets = json_new_array();
	int driver_version = 0;
	enum status status = list_gpus(options, folders.configs, gpus, &driver_version, err);

	(void)positional;
	if (status == STATUS_OK)
		status = list_sheets(options, folders.configs, sheets, err);
	json_put(json, "gpus", gpus);
	json_put(json, "sheets", sheets);
	if (status == STATUS_OK)
		json_put(json, "compiler", show_compiler(options, driver_version));
	if (status == STATUS_OK && options->common.json)
		status = common_write_json("-", json, err);
	json_free(json);
	folders_release(&folders);
	return status;
}

const struct command command_devices = {
	.name = "devices",
	.summary = "List GPUs, device sheets and the compiler that is found",
	.arguments = "",
	.options = devices_option_table,
	.options_size = sizeof(struct devices_options),
	.run = run,
};
