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
	const char *entry, *output;
};

#define AT(member) offsetof(struct new_options, member)

static const struct option new_option_table[] = {
	OPTION("entry", 'e', STRING, entry, "NAME",
		"kernel to describe (default the first in the file)"),
	OPTION("output", 'o', STRING, output, "FILE", "output file (default standard output)"),
	COMMON_OPTIONS,
	{0},
};

static enum status choose_kernel(const struct kernel_source *source, const char *file,
	const char *entry, const struct source_kernel **kernel, struct error *err)
{
	CLEANUP(name_set_release) struct name_set names = {0};

	if (!source->kernel_count)
		return error_set(
			err, STATUS_BAD_INPUT, "%s: the file has no __global__ function", file);
	for (size_t i = source->kernel_count; i-- > 0;) /* prefers the first of several heads */
		if (!entry || strcmp(entry, source->kernels[i].name) == 0)
			*kernel = &source->kernels[i];
	if (*kernel)
		return STATUS_OK;
	for (size_t i = 0; i < source->kernel_count; i++)
		name_set_add(&names, source->kernels[i].name, strlen(source->kernels[i].name));
	return name_unknown("kernel", entry, (const char *const *)names.items, err);
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

static enum status draft(const struct new_options *options, const char *file,
	const struct folders *folders, struct json **tree, struct error *err)
{
	CLEANUP(kernel_source_release) struct kernel_source source = {0};
	CLEANUP(memory_free) char *name = source_name(file, options->output);
	CLEANUP(memory_free) char *folder = path_parent(file), *expanded = NULL;
	CLEANUP(text_release) struct text text = {0}, remarks = {0};
	const struct source_kernel *kernel = NULL;
	struct error reason = {0};
	struct code code;

	TRY(file_read_regular(file, &text, err));
	if (source_expand(folder, path_name(file), folders->templates, NULL, &expanded, &reason) !=
		STATUS_OK)
		common_notice("macros of headers are not known: %s", reason.message);
	kernel_source_read(text_string(&text), expanded, &source);
	TRY(choose_kernel(&source, file, options->entry, &kernel, err));
	draft_remarks(&source, kernel, file, !options->entry, &remarks);
	common_notice_lines(text_string(&remarks));
	code_read(text_string(&text), text.length, &code);
	*tree = draft_new(&source, kernel, code.text, name);
	code_release(&code);
	return STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct new_options *options = options_;
	const char *file = positional->items[0];
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *tree = NULL;

	TRY(common_expect_output("output", options->output, positional, err));
	TRY(own_kernel_refuse(file, err));
	if (options->output && file_is_regular(options->output)) {
		error_set(err, STATUS_BAD_INPUT,
			"--output: %s already exists, and a draft would replace it",
			options->output);
		return error_hint(err, "name another file, or remove this one");
	}
	TRY(draft(options, file, &folders, &tree, err));
	TRY(common_write_json(options->output ? options->output : "-", tree, err));
	if (options->output && strcmp(options->output, "-") != 0)
		common_print(stdout,
			"wrote %s: fill in what says \"%s\", then `tiletune validate %s`\n",
			options->output, DRAFT_MARK, options->output);
	return STATUS_OK;
}

const struct command command_new = {
	.name = "new",
	.summary = "Begin the JSON of a kernel of your own, from its source",
	.arguments = "KERNEL.cu [-o FILE.json]",
	.description =
		"Names, types and arguments are read from the source, parameters from the macros "
		"that it\n"
		"expects, the integers that it defines and the kernel's template, and the grid, "
		"the "
		"block and\n"
		"shared memory from a launch in the file. What the source does not say is marked "
		"\"?\", to be\n"
		"filled in: `validate` and `tune` refuse the mark. templates/README.md has the "
		"members.",
	.examples = "  tiletune new vector_add.cu -o vector_add.json\n"
		    "  tiletune new kernels.cu --entry transpose -o transpose.json",
	.options = new_option_table,
	.options_size = sizeof(struct new_options),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
