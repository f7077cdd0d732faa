/* SPDX-License-Identifier: MIT */
#include "bench/versus/stand.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "device/gpu_lock.h"
#include "candidate/plain_build.h"
#include "format/tuned.h"

enum {
	LT_WORKSPACE_BYTES = 64 << 20,
};

static enum status open_helpers(struct stand *stand, struct error *err)
{
	struct build build = {0};
	const struct stored_kernel *kernel;
	enum status status = plain_build(stand->template_folders, "common/helpers.cu", &build, err);

	if (status == STATUS_OK)
		status = kernel_store_wait(stand->store, &build.units[0], &kernel, err);
	if (status == STATUS_OK)
		status = gpu_session_helpers(&stand->gpu, &kernel->cubin, err);
	build_release(&build);
	return status;
}

static enum status open_gpu(
	const struct stand_options *options, struct stand *stand, struct error *err)
{
	struct measure_open open = {.seed = 1, .kernel_timeout_s = 60};
	struct compiler_options compiler = {0};
	char *cache =
		options->cache_folder ? string_copy(options->cache_folder) : path_cache_folder();
	struct failure failure = {.outcome = OUTCOME_OK};
	enum status status = gpu_session_hello(&stand->gpu, options->device, err);

	if (status == STATUS_OK)
		status = gpu_lock_acquire(stand->gpu.gpu.uuid, 60, &stand->lock_fd, err);
	if (status == STATUS_OK)
		status = gpu_session_open(&stand->gpu, &open, err);
	if (status == STATUS_OK)
		status = device_spec_match(
			&stand->gpu.gpu.facts, stand->config_folders, &stand->spec, err);
	compiler.cache_folder = cache;
	compiler.driver_cuda_version = stand->gpu.gpu.driver_cuda_version;
	if (status == STATUS_OK)
		status = compiler_open(&compiler, &stand->compiler, err);
	free(cache);
	if (status != STATUS_OK)
		return status;
	stand->store = kernel_store_new(stand->compiler, stand->spec->arch);
	status = open_helpers(stand, err);
	if (status == STATUS_OK &&
		!gpu_allocate(&stand->gpu, LT_WORKSPACE_BYTES, &stand->workspace, &failure))
		status = error_set(err, STATUS_FAILED, "%s", failure.detail);
	return status == STATUS_OK ? lt_open(&stand->lt, stand->workspace, LT_WORKSPACE_BYTES, err)
				   : status;
}

enum status stand_open(const struct stand_options *options, struct stand *stand, struct error *err)
{
	enum status status;

	*stand = (struct stand){.lock_fd = -1,
		.templates = path_join(options->path, "templates"),
		.configs = path_join(options->path, "configs")};
	stand->template_folders[0] = stand->templates;
	stand->config_folders[0] = stand->configs;
	status =
		catalogue_load(stand->template_folders, options->operation, &stand->catalogue, err);
	return status == STATUS_OK ? open_gpu(options, stand, err) : status;
}

void stand_release(struct stand *stand, bool fatal)
{
	kernel_store_free(stand->store);
	compiler_close(stand->compiler);
	if (!fatal) {
		lt_close(&stand->lt);
		gpu_release(&stand->gpu, stand->workspace, LT_WORKSPACE_BYTES);
		gpu_session_close(&stand->gpu);
	}
	if (stand->lock_fd >= 0)
		close(stand->lock_fd);
	device_spec_free(stand->spec);
	catalogue_release(&stand->catalogue);
	free(stand->templates);
	free(stand->configs);
}

void stand_print(FILE *out, const struct stand *stand)
{
	struct text version = {0};

	lt_version(&stand->lt, &version);
	fprintf(out, "%s, driver %s, %s, cuBLASLt %s (%s)\n", stand->gpu.gpu.facts.name,
		stand->gpu.gpu.driver, compiler_identity(stand->compiler), version.data,
		stand->lt.library.path);
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

struct json *stand_json(const struct stand *stand, const char *format, double seconds)
{
	struct json *json = json_new_object(), *tool = json_new_object();
	char date[CLOCK_DATE_SIZE], *command = command_line();
	struct text version = {0};

	clock_date(date);
	lt_version(&stand->lt, &version);
	json_put_string(json, "format", format);
	json_put_string(json, "date", date);
	json_put_string(json, "command", command);
	json_put_string(tool, "version", tiletune_version);
	json_put_string(tool, "commit", tiletune_commit);
	json_put(json, "tiletune", tool);
	json_put(json, "device", tuned_device_json(stand->spec, stand->gpu.gpu.facts.name));
	json_put_string(json, "uuid", stand->gpu.gpu.uuid);
	json_put_string(json, "driver", stand->gpu.gpu.driver);
	json_put_string(json, "nvrtc", compiler_identity(stand->compiler));
	json_put_string(json, "cublaslt", version.data);
	json_put_double(json, "power_limit_w", stand->gpu.gpu.power_limit_w);
	json_put_double(json, "seconds", seconds);
	free(command);
	text_release(&version);
	return json;
}

enum status stand_write(const char *path, const struct json *json, struct error *err)
{
	char *printed = json_print(json, true);
	char *line = string_format("%s\n", printed);
	enum status status = file_write(path, line, strlen(line), err);

	free(printed);
	free(line);
	return status;
}
