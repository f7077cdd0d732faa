/* SPDX-License-Identifier: MIT */
#include "cli/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/record_write.h"
#include "device/device.h"

/* A signal handler has nowhere else to write to. */
volatile sig_atomic_t common_interrupted;

static void add_root(struct string_list *list, char *root)
{
	char *templates = path_join(root, "templates"), *configs = path_join(root, "configs");

	if (directory_exists(templates) || directory_exists(configs))
		string_list_add(list, root);
	else
		free(root);
	free(templates);
	free(configs);
}

static char **roots_find(const struct string_list *paths)
{
	static const char *const beside[] = {".", "..", "../..", "../share/tiletune"};
	struct string_list list = {0};
	char *executable = path_executable(), *folder = path_parent(executable);
	const char *variable = getenv("TILETUNE_PATH");
	char **roots;

	/* named folders count even if they are empty: the error then names them */
	for (size_t i = 0; i < paths->count; i++)
		string_list_add(&list, string_copy(paths->items[i]));
	while (variable && *variable) {
		size_t length = strcspn(variable, ":");

		if (length)
			string_list_add(&list, string_copy_bytes(variable, length));
		variable += length + (variable[length] == ':');
	}
	for (size_t i = 0; i < ARRAY_COUNT(beside); i++)
		add_root(&list, path_join(folder, beside[i]));
	free(executable);
	free(folder);
	roots = memory_zeroed(list.count + 1, sizeof(*roots));
	for (size_t i = 0; i < list.count; i++)
		roots[i] = (char *)(uintptr_t)list.items[i];
	string_list_release(&list);
	return roots;
}

static void names_free(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}

struct folders folders_find(const struct string_list *paths)
{
	struct folders folders = {.roots = roots_find(paths)};
	const char *const *roots = (const char *const *)folders.roots;

	folders.templates = context_folders(roots, "templates");
	folders.configs = context_folders(roots, "configs");
	return folders;
}

void folders_release(struct folders *folders)
{
	names_free(folders->roots);
	names_free(folders->templates);
	names_free(folders->configs);
	*folders = (struct folders){0};
}

enum status common_open(const struct device_choice *choice, const char *operation, bool allow_model,
	bool need_compiler, const struct folders *folders, struct context *context,
	struct error *err)
{
	struct context_options options = {.roots = (const char *const *)folders->roots,
		.operation = operation,
		.device = choice->name ? choice->name : "auto",
		.allow_model = allow_model,
		.need_compiler = need_compiler,
		.worker_path = choice->worker,
		.nvrtc_path = choice->nvrtc,
		.cache_folder = choice->cache,
		.no_cache = choice->no_cache,
		.workers = choice->workers,
		.wait_s = choice->wait_s,
		.seed = 1};

	return context_open(&options, context, err);
}

static void say_once(char **notice)
{
	if (*notice)
		fprintf(stderr, "notice: %s\n", *notice);
	free(*notice);
	*notice = NULL;
}

void common_notices(struct context *context)
{
	say_once(&context->notice);
	say_once(&context->cache_notice);
}

enum status common_problems(const struct operation *operation, const struct string_list *texts,
	const char *const *extra, const char *command, const char *hint,
	struct problem_list *problems, struct error *err)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < texts->count && status == STATUS_OK; i++)
		status = problem_parse(operation, texts->items[i], problems, err);
	for (; extra && *extra && status == STATUS_OK; extra++)
		status = problem_parse(operation, *extra, problems, err);
	if (status == STATUS_OK && !problems->count) {
		error_set(err, STATUS_BAD_INPUT, "%s: expected a problem, found none", command);
		status = error_hint(err, "%s", hint);
	}
	return status;
}

enum status common_check_families(const struct catalogue *catalogue,
	const struct operation *operation, const char *const *names, struct error *err)
{
	enum status status = STATUS_OK;

	for (; names && *names && status == STATUS_OK; names++) {
		const struct family *family;

		status = catalogue_family(catalogue, operation, *names, &family, err);
	}
	return status;
}

/* GPU number N of this machine. */
static enum status spec_of_gpu(const char *number, const char *const *configs,
	struct device_spec **spec, struct error *err)
{
	struct device_options options = {.config_folders = configs};
	struct device_listing *list = NULL;
	size_t count = 0;
	char *why = NULL, *end;
	unsigned long index = strtoul(number, &end, 10);
	enum status status = device_list_cuda(&options, &list, &count, &why, err);

	if (status == STATUS_OK && (*end || index >= count))
		status = error_set(err, STATUS_NO_DEVICE, "cuda:%s: expected one of %zu GPUs%s%s",
			number, count, why ? ": " : "", why ? why : "");
	if (status == STATUS_OK)
		status = device_spec_match(&list[index].facts, configs, spec, err);
	free(list);
	free(why);
	return status;
}

static enum status spec_of_file(const struct tuned *tuned, const char *const *configs,
	struct device_spec **spec, struct error *err)
{
	const struct gpu_model *device = &tuned->device;
	struct device_facts facts = {.warp_size = 32,
		.compute_capability = (int)device->compute_capability,
		.sm_count = device->sm_count,
		.l2_bytes = device->l2_bytes,
		.dram_bytes = device->dram_bytes,
		.smem_per_sm_bytes = device->smem_per_sm_bytes,
		.smem_per_block_bytes = device->smem_per_block_bytes,
		.regs_per_sm = device->regs_per_sm};

	if (device->sheet)
		return device_spec_load(device->sheet, configs, spec, err);
	string_put(facts.name, sizeof(facts.name), device->name);
	return device_spec_match(&facts, configs, spec, err);
}

enum status common_device_spec(const char *name, const struct tuned *tuned,
	const struct folders *folders, struct device_spec **spec, struct error *err)
{
	const char *const *configs = (const char *const *)folders->configs;

	if (!name)
		return spec_of_file(tuned, configs, spec, err);
	if (string_starts_with(name, "cuda:"))
		return spec_of_gpu(name + strlen("cuda:"), configs, spec, err);
	if (string_starts_with(name, "model:"))
		return device_spec_load(name + strlen("model:"), configs, spec, err);
	return error_set(
		err, STATUS_BAD_INPUT, "--device: expected cuda:N or model:NAME, found %s", name);
}

enum status common_write(const char *path, const char *text, struct error *err)
{
	if (strcmp(path, "-") != 0)
		return file_write(path, text, strlen(text), err);
	if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
		return error_set(
			err, STATUS_FAILED, "writing to standard output: %s", strerror(errno));
	return STATUS_OK;
}

enum status common_write_json(const char *path, const struct json *json, struct error *err)
{
	char *printed = json_print(json, true);
	char *line = string_format("%s\n", printed);
	enum status status = common_write(path, line, err);

	free(printed);
	free(line);
	return status;
}

enum status common_print_tuned(const struct tuned *tuned, struct error *err)
{
	struct json *json = record_to_json(&tuned_record, tuned);
	enum status status = common_write_json("-", json, err);

	json_free(json);
	return status;
}

const char *common_objective_choice(size_t index, const char **summary)
{
	*summary = index == OBJECTIVE_ENERGY ? "joules of one run" : NULL;
	return objective_names[index];
}

enum objective common_objective(const char *word)
{
	return word ? (enum objective)name_find(word, objective_names) : OBJECTIVE_TIME;
}
