/* SPDX-License-Identifier: MIT
 *
 * tiletune new: drafts the JSON of the user's own kernel.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "family/own_kernel.h"
#include "source/draft.h"
#include "source/scan.h"
#include "source/source.h"

struct new_options {
	struct common_options common;
	struct string_list includes;
	const char *entry, *output;
};

#define AT(member) offsetof(struct new_options, member)

static const struct option new_option_table[] = {
	OPTION("entry", 'e', STRING, entry, "NAME"),
	OPTION("include", 'I', PLACES, includes, "DIR"),
	OPTION("output", 'o', STRING, output, "FILE"),
	COMMON_OPTIONS,
	{0},
};

static enum status choose_kernel(const struct kernel_source *source, const char *file,
	const char *entry, struct source_kernel **kernel, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = {0};

	if (!source->kernel_count) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: neither the file nor the headers that it includes have a __global__ "
			"function",
			file);
		return error_hint(err, "name the folders of other headers with -I DIR");
	}
	for (size_t i = source->kernel_count; i-- > 0;) /* prefers the first of several heads */
		if (!entry || strcmp(entry, source->kernels[i].name) == 0)
			*kernel = &source->kernels[i];
	if (*kernel)
		return STATUS_OK;
	for (size_t i = 0; i < source->kernel_count; i++)
		name_set_add(&names, source->kernels[i].name, strlen(source->kernels[i].name));
	return name_unknown("kernel", entry, (const char *const *)names.items, err);
}

static enum status refuse_existing(const char *path, struct error *err)
{
	if (!file_is_regular(path))
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT,
		"--output: %s already exists, and a draft would replace it", path);
	return error_hint(err, "name another file, or remove this one");
}

/* The source's name in the JSON: without a folder if both are in the same folder. */
static char *source_name(const char *file, const char *output)
{
	CLEANUP(memory_free) char *folder = path_parent(output ? output : ".");
	CLEANUP(memory_free) char *place = path_parent(file);
	CLEANUP(memory_free) char *from = realpath(place, NULL), *to = realpath(folder, NULL);

	return !from || (to && strcmp(from, to) == 0) ? string_copy(path_name(file))
						      : path_join(from, path_name(file));
}

/* Include paths of a JSON are below its folder. */
static enum status add_include_paths(
	const struct new_options *options, struct json *tree, struct error *err)
{
	CLEANUP(memory_free) char *folder = path_parent(options->output ? options->output : "./x");
	CLEANUP(memory_free) char *top = realpath(folder, NULL);
	struct json *list = json_new_array();

	for (size_t i = 0; i < options->includes.count; i++) {
		CLEANUP(memory_free) char *path = realpath(options->includes.items[i], NULL);
		const char *below =
			path && top && string_starts_with(path, top) ? path + strlen(top) : "";

		if (*below != '/' && (*below || !path || !top || strcmp(path, top) != 0)) {
			json_free(list);
			error_set(err, STATUS_BAD_INPUT,
				"--include: %s is not below %s, the folder of the JSON",
				options->includes.items[i], folder);
			return error_hint(
				err, "write the JSON to a folder above both, with --output");
		}
		json_push(list, json_new_string(*below ? below + 1 : "."));
	}
	if (options->includes.count)
		json_put(tree, "include_paths", list);
	else
		json_free(list);
	return STATUS_OK;
}

/* Reads the kernels of the file, or of its headers if the file itself has no such kernel. */
static enum status read_kernels(const struct new_options *options, const char *file,
	const char *text, const char *expanded, struct kernel_source *source,
	struct source_kernel **kernel, struct error *err)
{
	kernel_source_read(text, expanded, source);
	if (choose_kernel(source, file, options->entry, kernel, NULL) == STATUS_OK)
		return STATUS_OK;
	kernel_source_release(source);
	kernel_source_read(expanded, expanded, source);
	return choose_kernel(source, file, options->entry, kernel, err);
}

/* Writes the source of a kernel with plain arguments next to the user's, or shows it if the JSON is
 * not written to a file either. */
static enum status write_wrapper(
	const struct new_options *options, const char *path, const char *wrapper, struct error *err)
{
	if (!options->output || strcmp(options->output, "-") == 0) {
		common_notice(
			"structures are passed by their members: save these lines as %s", path);
		fputs(wrapper, stderr);
		return STATUS_OK;
	}
	TRY(refuse_existing(path, err));
	TRY(file_write(path, wrapper, strlen(wrapper), err));
	common_print(stdout, "wrote %s, whose kernel gets structures by their members\n", path);
	return STATUS_OK;
}

static enum status draft(const struct new_options *options, const char *file,
	const struct folders *folders, struct json **tree, struct error *err)
{
	CLEANUP(kernel_source_release) struct kernel_source source = {0};
	CLEANUP(memory_free) char *folder = path_parent(file), *expanded = NULL;
	CLEANUP(memory_free) char *name = NULL, *wrapper = NULL, *path = NULL;
	CLEANUP(text_release) struct text text = {0}, remarks = {0};
	struct source_kernel *kernel = NULL;
	struct error reason = {0};
	struct code code;

	TRY(file_read_regular(file, &text, err));
	if (source_expand(folder, path_name(file), folders->templates, options->includes.items,
		    &expanded, &reason) != STATUS_OK) {
		common_notice("macros of headers are not known: %s", reason.message);
		expanded = string_copy(text_string(&text));
	}
	TRY(read_kernels(options, file, text_string(&text), expanded, &source, &kernel, err));
	code_read(expanded, strlen(expanded), &code);
	wrapper = source_kernel_flatten(code.text, path_name(file), kernel);
	path = wrapper ? string_format("%.*s%s" SOURCE_MEMBERS ".cu", (int)(path_name(file) - file),
				 file, kernel->name)
		       : string_copy(file);
	name = source_name(path, options->output);
	*tree = draft_new(&source, kernel, code.text,
		&(struct draft_names){name, file, !options->entry}, &remarks);
	common_notice_lines(text_string(&remarks));
	code_release(&code);
	if (wrapper)
		TRY(write_wrapper(options, path, wrapper, err));
	return add_include_paths(options, *tree, err);
}

static enum status new_run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct new_options *options = options_;
	const char *file = positional->items[0];
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *tree = NULL;

	TRY(common_expect_output("output", options->output, positional, err));
	TRY(own_kernel_refuse(file, err));
	if (options->output)
		TRY(refuse_existing(options->output, err));
	TRY(draft(options, file, &folders, &tree, err));
	TRY(common_write_json(options->output ? options->output : "-", tree, err));
	if (options->output && strcmp(options->output, "-") != 0)
		common_print(stdout,
			"wrote %s: check the shapes and roles, fill in what says \"%s\", then "
			"`tiletune validate %s`\n",
			options->output, DRAFT_MARK, options->output);
	return STATUS_OK;
}

const struct command command_new = {
	.name = "new",
	COMMAND_OPTIONS(struct new_options, new_option_table),
	.positional_min = 1,
	.positional_max = 1,
	.run = new_run,
};
