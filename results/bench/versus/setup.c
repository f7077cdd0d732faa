/* SPDX-License-Identifier: MIT */
#include "bench/versus/setup.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "device/gpu_lock.h"
#include "candidate/build.h"
#include "format/tuned.h"

enum {
	LT_WORKSPACE_BYTES = 64 << 20,
};

static enum status open_helpers(struct setup *setup, struct error *err)
{
	struct build build = {0};
	const struct compile_result *kernel;
	enum status status = plain_build(setup->template_folders, "common/helpers.cu", &build, err);

	if (status == STATUS_OK)
		status = kernel_store_wait(setup->store, &build.units[0], &kernel, err);
	if (status == STATUS_OK)
		status = gpu_session_open(
			&setup->gpu, &(struct measure_setup){.helpers = kernel->path}, err);
	build_release(&build);
	return status;
}

static enum status open_gpu(
	const struct setup_options *options, struct setup *setup, struct error *err)
{
	struct measure_setup open = {
		.device = (char *)(uintptr_t)options->device, .seed = 1, .kernel_timeout_s = 60};
	struct gpu_session *gpu = &setup->gpu;
	struct compiler_options compiler = {0};
	char *cache = NULL;
	enum status status = path_cache_folder(options->cache_folder, &cache, err);

	if (status == STATUS_OK)
		status = gpu_session_driver(gpu, err);
	if (status == STATUS_OK)
		status = gpu_find(&gpu->cuda, options->device, &gpu->device, err);
	if (status == STATUS_OK)
		status = gpu_session_describe(&gpu->cuda, gpu->nvml, gpu->device, &gpu->gpu, err);
	if (status == STATUS_OK)
		status = gpu_lock_acquire(setup->gpu.gpu.identity.uuid, 60, &setup->lock_fd, err);
	if (status == STATUS_OK)
		status = gpu_session_open(&setup->gpu, &open, err);
	if (status == STATUS_OK)
		status = device_spec_match(
			&setup->gpu.gpu.facts, setup->config_folders, &setup->spec, err);
	compiler.cache_folder = cache;
	compiler.driver_cuda_version = setup->gpu.gpu.identity.driver_cuda_version;
	if (status == STATUS_OK)
		status = compiler_open(&compiler, &setup->compiler, err);
	free(cache);
	if (status != STATUS_OK)
		return status;
	setup->store = kernel_store_new(setup->compiler, setup->spec->arch);
	status = open_helpers(setup, err);
	if (status == STATUS_OK &&
		!gpu_allocate(&setup->gpu, LT_WORKSPACE_BYTES, &setup->workspace))
		status = error_set(err, STATUS_FAILED, "%s", setup->gpu.failure.detail);
	return status == STATUS_OK ? lt_open(&setup->lt, setup->workspace, LT_WORKSPACE_BYTES, err)
				   : status;
}

enum status setup_open(const struct setup_options *options, struct setup *setup, struct error *err)
{
	enum status status;

	*setup = (struct setup){.lock_fd = -1,
		.templates = path_join(options->path, "templates"),
		.configs = path_join(options->path, "configs")};
	setup->template_folders[0] = setup->templates;
	setup->config_folders[0] = setup->configs;
	status =
		catalogue_load(setup->template_folders, options->operation, &setup->catalogue, err);
	return status == STATUS_OK ? open_gpu(options, setup, err) : status;
}

void setup_release(struct setup *setup, bool fatal)
{
	kernel_store_free(setup->store);
	compiler_close(setup->compiler);
	if (!fatal) {
		lt_close(&setup->lt);
		gpu_release(&setup->gpu, setup->workspace, LT_WORKSPACE_BYTES);
		gpu_session_close(&setup->gpu);
	}
	if (setup->lock_fd >= 0)
		close(setup->lock_fd);
	device_spec_free(setup->spec);
	catalogue_release(&setup->catalogue);
	free(setup->templates);
	free(setup->configs);
}

void setup_print(FILE *out, const struct setup *setup)
{
	struct text version = {0};

	lt_version(&setup->lt, &version);
	fprintf(out, "%s, driver %s, %s, cuBLASLt %s (%s)\n", setup->gpu.gpu.facts.name,
		setup->gpu.gpu.identity.driver, compiler_identity(setup->compiler), version.data,
		setup->lt.library.path);
	text_release(&version);
}

static char *command_line(void)
{
	struct text raw = {0}, line = {0};

	if (file_read("/proc/self/cmdline", &raw, NULL) == STATUS_OK)
		for (size_t at = 0; at < raw.length; at += strlen(raw.data + at) + 1)
			text_appendf(&line, "%s%s", at ? " " : "",
				at ? raw.data + at : path_name(raw.data));
	text_release(&raw);
	return text_detach(&line);
}

struct json *setup_json(const struct setup *setup, const char *format, double seconds)
{
	struct json *json = json_new_object(), *tool = json_new_object();
	char date[CLOCK_DATE_SIZE], *command = command_line();
	struct text version = {0};

	clock_date(date);
	lt_version(&setup->lt, &version);
	json_put_string(json, "format", format);
	json_put_string(json, "date", date);
	json_put_string(json, "command", command);
	json_put_string(tool, "version", tiletune_version);
	json_put_string(tool, "commit", tiletune_commit);
	json_put(json, "tiletune", tool);
	json_put(json, "device", gpu_model_json(setup->spec, setup->gpu.gpu.facts.name));
	json_put_string(json, "uuid", setup->gpu.gpu.identity.uuid);
	json_put_string(json, "driver", setup->gpu.gpu.identity.driver);
	json_put_string(json, "nvrtc", compiler_identity(setup->compiler));
	json_put_string(json, "cublaslt", version.data);
	json_put_double(json, "power_limit_w", setup->gpu.gpu.identity.power_limit_w);
	json_put_double(json, "seconds", seconds);
	free(command);
	text_release(&version);
	return json;
}

enum status setup_write(const char *path, const struct json *json, struct error *err)
{
	char *printed = json_print(json, true);
	char *line = string_format("%s\n", printed);
	enum status status = file_write(path, line, strlen(line), err);

	free(printed);
	free(line);
	return status;
}
