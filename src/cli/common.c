/* SPDX-License-Identifier: MIT */
#include "cli/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/format_text.h"
#include "base/memory.h"
#include "record/record_write.h"
#include "device/device.h"
#include "family/own_kernel.h"

/* Global, because a signal handler cannot reach anything else. */
volatile sig_atomic_t common_interrupted, common_graceful;

void common_print_lines(FILE *out, const char *lines)
{
	CLEANUP(text_release) struct text shown = {0};

	text_append_shown(&shown, lines, "\n\t");
	fputs(text_string(&shown), out);
}

void common_print(FILE *out, const char *format, ...)
{
	CLEANUP(text_release) struct text text = {0};
	va_list args;

	va_start(args, format);
	format_put_args(&text, format_shown, format, args);
	va_end(args);
	common_print_lines(out, text_string(&text));
}

void common_notice(const char *format, ...)
{
	CLEANUP(text_release) struct text text = {0};
	va_list args;

	va_start(args, format);
	text_append_args(&text, format, args);
	va_end(args);
	common_print(stderr, "notice: %s\n", text_string(&text));
}

void common_notice_lines(const char *lines)
{
	for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
		length = strcspn(lines, "\n");
		common_notice("%.*s", (int)length, lines);
	}
}

static void add_root(struct string_list *list, char *root)
{
	CLEANUP(memory_free)
	char *templates = path_join(root, "templates"), *configs = path_join(root, "configs");

	if (directory_exists(templates) || directory_exists(configs))
		string_list_add(list, root);
	else
		free(root);
}

static void add_kernels(struct string_list *list, const char *tuned)
{
	const size_t ending = string_ends_with(tuned, ".json") ? strlen(".json") : 0;
	CLEANUP(memory_free)
	char *folder = string_format("%.*s.kernels", (int)(strlen(tuned) - ending), tuned);
	CLEANUP(name_set_release) struct name_set names = {0};

	if (directory_names(folder, ".json", &names, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < names.count; i++) {
		CLEANUP(memory_free) char *name = string_format("%s.json", names.items[i]);

		string_list_add(list, path_join(folder, name));
	}
}

/* `tuned` is a tuned file, or NULL. */
static const char *const *roots_find(const struct string_list *paths, const char *tuned)
{
	static const char *const nearby[] = {".", "..", "../..", "../share/tiletune"};
	CLEANUP(memory_free)
	char *executable = path_executable(), *folder = path_parent(executable);
	const char *variable = getenv("TILETUNE_PATH");
	struct string_list list = {.items = memory_zeroed(1, sizeof(*list.items))};

	/* folders that the user named are listed even if empty, so that errors mention them */
	for (size_t i = 0; i < paths->count; i++)
		string_list_add(&list, string_copy(paths->items[i]));
	while (variable && *variable) {
		size_t length = strcspn(variable, ":");

		if (length)
			string_list_add(&list, string_copy_bytes(variable, length));
		variable += length + (variable[length] == ':');
	}
	for (size_t i = 0; i < ARRAY_COUNT(nearby); i++)
		add_root(&list, path_join(folder, nearby[i]));
	if (tuned)
		add_kernels(&list, tuned);
	return list.items;
}

static void names_free(const char *const *names)
{
	for (const char *const *name = names; name && *name; name++)
		free((void *)*name);
	free((void *)names);
}

struct folders folders_find(const struct string_list *paths)
{
	return folders_of(paths, NULL);
}

struct folders folders_of(const struct string_list *paths, const char *tuned)
{
	const char *const *roots = roots_find(paths, tuned);

	return (struct folders){.roots = roots,
		.templates = (const char *const *)context_folders(roots, "templates"),
		.configs = (const char *const *)context_folders(roots, "configs")};
}

void folders_release(struct folders *folders)
{
	names_free(folders->roots);
	names_free(folders->templates);
	names_free(folders->configs);
	*folders = (struct folders){0};
}

const char *common_worker(void)
{
	return getenv("TILETUNE_WORKER");
}

enum status common_check_workers(unsigned workers, struct error *err)
{
	const unsigned workers_max = 1024;

	return workers <= workers_max
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT, "--workers: expected 1 to %u, found %u",
				 workers_max, workers);
}

void common_say_program(const char *command, const char *folder)
{
	common_print(stderr, "starts %s (in %s)\n", command, folder);
}

enum status common_open(const struct context_options *device, const char *operation,
	const struct folders *folders, struct context *context, struct error *err)
{
	struct context_options options = *device;

	options.roots = folders->roots;
	options.operation = operation;
	options.device = device->device ? device->device : "auto";
	options.compiler.worker_path = common_worker();
	options.machine.worker_path = common_worker();
	options.machine.seed = 1;
	if (options.learned.none && options.learned.file)
		return error_set(
			err, STATUS_BAD_INPUT, "--learned and --no-learned exclude each other");
	TRY(common_check_workers(options.compiler.workers, err));
	return context_open(&options, context, err);
}

static void say_once(char **notice)
{
	if (*notice)
		common_notice_lines(*notice);
	free(*notice);
	*notice = NULL;
}

void common_notices(struct context *context)
{
	say_once(&context->notice);
	say_once(&context->cache_notice);
}

void common_context_release(struct context *context)
{
	const char *problem = context->compiler ? compiler_cache_problem(context->compiler) : NULL;

	if (problem)
		common_notice("compiled kernels are not kept: %s", problem);
	context_release(context);
}

enum status common_problems(const struct operation *operation, const struct string_list *texts,
	const char *const *extra, struct problem_list *problems, struct error *err)
{
	CLEANUP(memory_free)
	struct value *values = memory_zeroed(operation->key_count, sizeof(*values));
	CLEANUP(memory_free) bool *given = memory_zeroed(operation->key_count, sizeof(*given));

	for (size_t i = 0; i < texts->count; i++)
		TRY(problem_parse(operation, texts->items[i], problems, err));
	for (; extra && *extra; extra++)
		TRY(problem_parse(operation, *extra, problems, err));
	if (problems->count)
		return STATUS_OK;
	ARRAY_GROW(problems->items, problems->count, problems->capacity);
	if (problem_complete(operation, values, given, &problems->items[0], err) != STATUS_OK)
		return error_context(err, "no problem was given with -p");
	problems->count++;
	return STATUS_OK;
}

/* Reads the specification of a GPU of this machine; selector is its number or UUID. */
static enum status spec_of_gpu(const char *selector, const char *const *configs,
	struct device_spec **spec, struct error *err)
{
	struct device_options options = {.config_folders = configs};
	CLEANUP(memory_free) struct device_listing *list = NULL;
	CLEANUP(memory_free) char *why = NULL;
	size_t count = 0, index;

	TRY(device_list_cuda(&options, &list, &count, &why, err));
	index = device_listing_find(list, count, selector);
	if (index == count)
		return error_set(err, STATUS_NO_DEVICE,
			"cuda:%s: there is no such GPU; this machine has %zu%s%s", selector, count,
			why ? ": " : "", why ? why : "");
	return device_spec_match(&list[index].facts, configs, spec, err);
}

enum status common_device_spec(const char *name, const struct gpu_model *model,
	const struct folders *folders, struct device_spec **spec, struct error *err)
{
	const char *const *configs = folders->configs;

	if (!name)
		return gpu_model_spec(model, configs, spec, err);
	if (string_starts_with(name, "cuda:") && name[strlen("cuda:")])
		return spec_of_gpu(name + strlen("cuda:"), configs, spec, err);
	if (string_starts_with(name, "model:") && name[strlen("model:")])
		return device_spec_load(name + strlen("model:"), configs, spec, err);
	return error_set(err, STATUS_BAD_INPUT,
		"--device: expected cuda:N, cuda:UUID or model:NAME, found %s", name);
}

enum status common_expect_output(
	const char *option, const char *path, const struct string_list *inputs, struct error *err)
{
	for (size_t i = 0; path && inputs && i < inputs->count; i++)
		if (file_is_same(path, inputs->items[i])) {
			error_set(err, STATUS_BAD_INPUT,
				"--%s: the input %s would be overwritten by %s", option,
				inputs->items[i], path);
			return error_hint(
				err, "name another file with --%s, or another input", option);
		}
	if (path && string_ends_with(path, ".gz"))
		return error_set(err, STATUS_BAD_INPUT,
			"--%s: output is never compressed, so its name must not end with .gz: %s",
			option, path);
	if (!path || strcmp(path, "-") == 0 || file_expect_writable(path, err) == STATUS_OK)
		return STATUS_OK;
	return *path ? STATUS_BAD_INPUT : error_context(err, "--%s", option);
}

enum status common_expect_tuned(const char *path, struct error *err)
{
	if (!directory_exists(path))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: this is a folder, not a tuned file", path);
	return error_hint(
		err, "merge its files into one: tiletune merge %s/*.json -o all.json", path);
}

const struct string_list *common_own_kernel(const struct string_list *positional)
{
	return positional->count && own_kernel_is_file(positional->items[0]) ? positional : NULL;
}

void common_journal_notice(const struct journal_record *record)
{
	CLEANUP(memory_free) char *notice = journal_notice(record);

	if (notice)
		common_notice("%s", notice);
}

void common_say_wrote(const char *path)
{
	if (strcmp(path, "-") != 0)
		common_print(stderr, "wrote %s\n", path);
}

enum status common_write(const char *path, const struct text *text, struct error *err)
{
	const char *data = text_string(text);

	if (strcmp(path, "-") != 0)
		return file_write(path, data, text->length, err);
	if (fwrite(data, 1, text->length, stdout) != text->length || fflush(stdout) != 0)
		return error_set(
			err, STATUS_FAILED, "cannot write to standard output: %s", strerror(errno));
	return STATUS_OK;
}

enum status common_write_json(const char *path, const struct json *json, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	json_append(json, true, &text);
	return common_write(path, &text, err);
}

const char *common_objective_choice(size_t index, const char **summary)
{
	static const char *const summaries[] = {[OBJECTIVE_ENERGY] = "joules of one run",
		[OBJECTIVE_WARM_TIME] = "time in a warm L2: what --l2 warm measures",
		[OBJECTIVE_SUSTAINED_TIME] = "time on a busy GPU: what --load sustained measures",
		NULL};

	*summary = summaries[index];
	return objective_names[index];
}

const char *common_l2_choice(size_t index, const char **summary)
{
	static const char *const choices[][2] = {{"cold", "the L2 holds no data of the run"},
		{"warm", "every run uses the same data, as after the kernel that produced them"},
		{NULL}};

	*summary = choices[index][1];
	return choices[index][0];
}

const char *common_load_choice(size_t index, const char **summary)
{
	static const char *const choices[][2] = {
		{"burst", "the GPU rests between samples and keeps its highest clock"},
		{"sustained", "the GPU stays busy until its clock has settled at the power limit"},
		{NULL}};

	*summary = choices[index][1];
	return choices[index][0];
}

bool common_l2_warm(const char *word)
{
	return word && strcmp(word, "warm") == 0;
}

enum objective common_objective(const char *word)
{
	return word ? (enum objective)name_find(word, objective_names) : OBJECTIVE_TIME;
}

enum status common_threshold(const char *text, double *ratio, struct error *err)
{
	if (text_parse_ratio(text, ratio, err) != STATUS_OK)
		return error_context(err, "--threshold");
	if (*ratio < 0.001 || *ratio > 10)
		return error_set(err, STATUS_BAD_INPUT,
			"--threshold: expected 0.1%% to 1000%%, found %s", text);
	return STATUS_OK;
}

/* ---- metadata of a run ---- */
void run_new_id(char id[RUN_ID_SIZE])
{
	time_t now = time(NULL);
	struct tm utc;
	char date[24];
	unsigned random = (unsigned)getpid();

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	gmtime_r(&now, &utc);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &utc);
	snprintf(id, RUN_ID_SIZE, "%s-%06x", date, random & 0xffffff);
}

enum status common_write_tuned(const struct tuned *tuned, struct error *err)
{
	CLEANUP(json_release) struct json *json = record_to_json(&tuned_record, tuned);

	return common_write_json("-", json, err);
}

/* The command line, without folders of this machine. */
static char *command_line(void)
{
	CLEANUP(text_release) struct text raw = {0};
	struct text line = {0};

	if (file_read("/proc/self/cmdline", &raw, NULL) == STATUS_OK) {
		for (size_t at = 0; at < raw.length; at += strlen(raw.data + at) + 1)
			text_appendf(&line, "%s%s", at ? " " : "",
				at ? raw.data + at : path_name(raw.data));
	}
	return text_detach(&line);
}

struct run run_of(const struct context *context, const char *id)
{
	const struct device_identity *device = &context->device->identity;
	struct run run = {.id = string_copy(id),
		.command = command_line(),
		.program = {string_copy(tiletune_version), string_copy(tiletune_commit)},
		.driver = string_copy(device->driver),
		.nvrtc = string_copy(
			context->compiler ? compiler_identity(context->compiler) : NULL),
		.uuid = string_copy(device->uuid),
		.mig = string_copy(device->mig),
		.clocks = memory_zeroed(1, sizeof(*run.clocks)),
		.power_limit_w = device->power_limit_w,
		.anchor_us = device->anchor_us,
		.device_kind = string_copy(device->kind)};
	char date[CLOCK_DATE_SIZE];

	clock_date(date);
	run.date = string_copy(date);
	*run.clocks = (struct run_clocks){.sm_mhz = device->clock_sm_hz * 1e-6,
		.sm_max_mhz = device->clock_sm_max_hz * 1e-6,
		.memory_mhz = device->clock_memory_hz * 1e-6};
	return run;
}

struct run run_now(const struct context *context)
{
	char id[RUN_ID_SIZE];

	run_new_id(id);
	return run_of(context, id);
}

char *common_answer(const struct context *context, struct tuned *answer)
{
	struct run run = run_now(context);
	char *id = string_copy(run.id);

	tuned_init(answer, "", gpu_model_of(context->device->spec, context->device->identity.name));
	tuned_put_run(answer, &run);
	return id;
}
