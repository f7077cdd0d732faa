/* SPDX-License-Identifier: MIT */
#include "cli/common.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"

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

char **roots_find(const struct string_list *paths)
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

void roots_free(char **roots)
{
	for (char **root = roots; root && *root; root++)
		free(*root);
	free(roots);
}

enum status common_bench(const struct common_options *common, const struct bench_options *bench,
	const char *operation, bool allow_model, bool need_compiler, char **roots,
	struct context *context, struct error *err)
{
	struct context_options options = {.roots = (const char *const *)roots,
		.operation = operation,
		.device = bench->device ? bench->device : "auto",
		.allow_model = allow_model,
		.need_compiler = need_compiler,
		.worker_path = bench->worker,
		.nvrtc_path = bench->nvrtc,
		.cache_folder = bench->cache,
		.no_cache = bench->no_cache,
		.workers = bench->workers,
		.wait_s = bench->wait_s,
		.seed = 1};

	(void)common;
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
