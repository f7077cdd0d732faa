/* SPDX-License-Identifier: MIT
 *
 * tiletune new: the JSON of a kernel of one's own, begun.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/common.h"
#include "compile/cubin.h"
#include "expr/dtype.h"
#include "family/own_kernel.h"
#include "import/draft.h"

struct new_options {
	struct common_options common;
	struct device_choice device;
	const char *entry, *output;
};

#define AT(member) offsetof(struct new_options, member)

static const struct option new_option_table[] = {
	OPTION("entry", 'e', STRING, entry, "NAME",
		"the kernel, where the file has several; default the first"),
	OPTION("output", 'o', STRING, output, "FILE", "where it is written to; default stdout"),
	OPTION("nvrtc", 0, STRING, device.nvrtc, "FILE", "the NVRTC library to use"),
	OPTION("worker", 0, STRING, device.worker, "FILE",
		"the program that workers are started from"),
	COMMON_OPTIONS,
	{0},
};

/* ---- what only a compiler knows ---- */
/* A number that a macro may have for a try. */
static const char *tried_value(const struct source_macro *macro)
{
	return macro->otherwise ? macro->otherwise : macro->compared_count ? "1" : "16";
}

static bool is_called(const char *text, const char *name, size_t length)
{
	for (const char *c = text; (c = memmem(c, strlen(c), name, length)) != NULL; c += length)
		if (c[length + strspn(c + length, " ")] == '(')
			return true;
	return false;
}

/* Adds the names, but those of functions, that the compiler did not know; how many there were. */
static size_t add_unknown(const char *log, const char *text, struct kernel_source *source)
{
	static const char before[] = "identifier \"";
	size_t added = 0;

	for (const char *c = log; (c = strstr(c, before)) != NULL;) {
		size_t length;

		c += strlen(before);
		length = strcspn(c, "\"");
		if (string_starts_with(c + length, "\" is undefined") &&
			!is_called(text, c, length))
			added += kernel_source_add_macro(source, c, length);
	}
	return added;
}

/* "fir<float, 4>": the compiler looks into a template that is used; NULL: there is none. */
static char *tried_entry(const struct kernel_source *source)
{
	const struct source_kernel *kernel = source->kernels;
	struct text entry = {0};

	while (kernel < source->kernels + source->kernel_count && !kernel->template_count)
		kernel++;
	if (kernel == source->kernels + source->kernel_count)
		return NULL;
	text_append(&entry, kernel->name);
	for (size_t i = 0; i < kernel->template_count; i++) {
		const char *type = kernel->templates[i].type;

		text_appendf(&entry, "%s%s", i ? ", " : "<",
			strstr(type, "typename") || strstr(type, "class") ? "float"
			: strstr(type, "bool")                            ? "true"
									  : "4");
	}
	text_append_char(&entry, '>');
	return text_detach(&entry);
}

static enum status try_compile(struct compiler *compiler, const char *arch, const char *name,
	const char *text, const char *entry, const struct kernel_source *source,
	struct compile_result *result, struct error *err)
{
	CLEANUP(define_list_release) struct define_list defines = {0};
	CLEANUP(build_release) struct build build = {0};

	for (size_t i = 0; i <= source->macro_count; i++) {
		const bool is_last = i == source->macro_count;

		if (is_last && !source->expects_kernel_tuner)
			break;
		ARRAY_GROW(defines.items, defines.count, defines.capacity);
		defines.items[defines.count++] = (struct define){
			string_copy(is_last ? "kernel_tuner" : source->macros[i].name),
			string_copy(is_last ? "1" : tried_value(&source->macros[i]))};
	}
	define_list_sort(&defines);
	build_of_source(&build, name, text, &defines, entry);
	build_finish(&build);
	TRY(compiler_submit(compiler, &build.units[0], arch, 1, err));
	return compiler_poll(compiler, -1, result)
		       ? STATUS_OK
		       : error_set(err, STATUS_FAILED, "%s: the compiler gave no answer", name);
}

/* A kernel of the cubin by the name of the source: as it is, or with its length before it within a
 * C++ name. NULL: there is none, as of a template. */
static const char *find_compiled(const struct cubin *cubin, const char *name)
{
	CLEANUP(memory_free) char *mangled = string_format("%zu%s", strlen(name), name);
	const char *found;

	for (size_t i = 0; (found = cubin_kernel_name(cubin, i)) != NULL; i++)
		if (strcmp(found, name) == 0 ||
			(string_starts_with(found, "_Z") && strstr(found, mangled)))
			return found;
	return NULL;
}

/* What a declaration says that an argument takes; 0: it does not say. */
static uint32_t declared_bytes(const struct source_variable *argument)
{
	const int dtype = argument->dtype ? dtype_find(argument->dtype) : -1;

	return argument->is_pointer ? 8
	       : dtype < 0          ? 0
				    : (uint32_t)dtype_size((enum dtype)dtype) * argument->lanes;
}

/* Declarations that the compiler read otherwise (by an #if, say) lose their type, and so are
 * marked. */
static void check_sizes(const struct text *code, struct kernel_source *source)
{
	struct cubin cubin;

	if (cubin_open(&cubin, code->data, code->length, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < source->kernel_count; i++) {
		struct source_kernel *kernel = &source->kernels[i];
		const char *name = find_compiled(&cubin, kernel->name);
		struct cubin_kernel found;

		if (!name || !cubin_kernel_find(&cubin, name, &found) || found.param_count < 0)
			continue;
		if ((size_t)found.param_count != kernel->argument_count)
			fprintf(stderr,
				"notice: %s takes %d arguments as it is compiled, %zu were read\n",
				kernel->name, found.param_count, kernel->argument_count);
		for (size_t k = 0; k < kernel->argument_count; k++) {
			struct source_variable *argument = &kernel->arguments[k];
			const bool is_there = k < (size_t)found.param_count;
			const uint32_t bytes = declared_bytes(argument);

			if (is_there && (!bytes || bytes == found.param_bytes[k]))
				continue;
			argument->dtype = argument->scalar = NULL;
			argument->is_integer = false;
			if (is_there)
				fprintf(stderr,
					"notice: %s: %s has %u bytes as it is compiled, %u were "
					"read\n",
					kernel->name, argument->name, found.param_bytes[k], bytes);
		}
	}
}

/* Macros that are read in code. Where there is no compiler, or the source needs more than macros,
 * that is said, and what was read stays. */
static enum status ask_compiler(const struct new_options *options, const char *file,
	const struct folders *folders, struct kernel_source *source, struct error *err)
{
	const struct compiler_options compiler_options = {.workers = 1,
		.worker_path = options->device.worker,
		.nvrtc_path = options->device.nvrtc};
	CLEANUP(device_spec_release) struct device_spec *spec = NULL;
	CLEANUP(memory_free) char *folder = path_parent(file), *text = NULL;
	CLEANUP(memory_free) char *entry = tried_entry(source);
	struct compile_result result = {0};
	struct compiler *compiler;
	enum status status;
	bool more = true;

	TRY(source_expand(folder, path_name(file), folders->templates, NULL, &text, err));
	TRY(device_spec_load(NULL, NULL, &spec, err));
	TRY(compiler_open(&compiler_options, &compiler, err));
	for (size_t round = 0; more && round < 8; round++) {
		compile_result_release(&result);
		status = try_compile(
			compiler, spec->arch, path_name(file), text, entry, source, &result, err);
		more = status == STATUS_OK && result.outcome != OUTCOME_OK &&
		       add_unknown(result.log, text, source);
		/* it may be no template of these */
		if (status == STATUS_OK && result.outcome != OUTCOME_OK && !more && entry) {
			more = true;
			free(entry);
			entry = NULL;
		}
	}
	if (status == STATUS_OK && result.outcome != OUTCOME_OK)
		status = error_set(
			err, STATUS_FAILED, "%.*s", (int)strcspn(result.log, "\n"), result.log);
	if (status == STATUS_OK)
		check_sizes(&result.cubin, source);
	compile_result_release(&result);
	compiler_close(compiler);
	return status;
}

/* ---- the command ---- */
static enum status choose_kernel(const struct kernel_source *source, const char *file,
	const char *entry, const struct source_kernel **kernel, struct error *err)
{
	CLEANUP(memory_free)
	const char **names = memory_zeroed(source->kernel_count + 1, sizeof(*names));

	if (!source->kernel_count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a __global__ function, found none", file);
	*kernel = &source->kernels[0];
	for (size_t i = 0; i < source->kernel_count; i++) {
		names[i] = source->kernels[i].name;
		if (entry && strcmp(entry, names[i]) == 0) {
			*kernel = &source->kernels[i];
			return STATUS_OK;
		}
		if (!entry && i > 0)
			fprintf(stderr, "notice: %s also has %s (--entry)\n", file, names[i]);
	}
	return entry ? name_unknown("--entry", entry, names, err) : STATUS_OK;
}

static enum status draft(const struct new_options *options, const char *file,
	const struct folders *folders, struct json **tree, struct error *err)
{
	CLEANUP(kernel_source_release) struct kernel_source source = {0};
	CLEANUP(memory_free) char *folder = path_parent(options->output ? options->output : ".");
	CLEANUP(memory_free) char *place = path_parent(file);
	CLEANUP(memory_free) char *from = realpath(place, NULL), *to = realpath(folder, NULL);
	CLEANUP(text_release) struct text text = {0};
	const struct source_kernel *kernel = NULL;
	const bool is_beside = from && to && strcmp(from, to) == 0;
	struct error reason = {0};
	CLEANUP(memory_free) char *absolute = NULL;

	TRY(file_read(file, &text, err));
	kernel_source_read(text_string(&text), &source);
	TRY(choose_kernel(&source, file, options->entry, &kernel, err));
	if (ask_compiler(options, file, folders, &source, &reason) != STATUS_OK)
		fprintf(stderr, "notice: macros and sizes were not checked by a compiler: %s\n",
			reason.message);
	if (!is_beside && from)
		absolute = path_join(from, path_name(file));
	*tree = draft_new(&source, kernel, absolute ? absolute : path_name(file));
	return STATUS_OK;
}

static enum status run(void *options_, const struct string_list *positional, struct error *err)
{
	const struct new_options *options = options_;
	const char *file = positional->items[0];
	CLEANUP(folders_release) struct folders folders = folders_find(&options->common.paths);
	CLEANUP(json_release) struct json *tree = NULL;
	CLEANUP(text_release) struct text text = {0};
	bool is_t1;

	TRY(common_expect_output("output", options->output, positional, err));
	if (own_kernel_is_file(file))
		TRY(own_kernel_read(file, &tree, &is_t1, err));
	else
		TRY(draft(options, file, &folders, &tree, err));
	draft_print(tree, &text);
	TRY(common_write(options->output ? options->output : "-", text_string(&text), err));
	if (options->output && strcmp(options->output, "-") != 0)
		printf("wrote %s: fill in what says \"%s\", then `tiletune validate %s`\n",
			options->output, DRAFT_MARK, options->output);
	return STATUS_OK;
}

const struct command command_new = {
	.name = "new",
	.summary = "Begin the JSON of a kernel of your own, from its source or a T1 file",
	.arguments = "KERNEL.cu|T1.json [-o FILE.json]",
	.description = "Names, types and arguments are read from the source, parameters from the "
		       "macros that\n"
		       "it expects. What no declaration says (sizes, the grid, values) is marked "
		       "\"?\", to be\n"
		       "filled in: `validate` and `tune` refuse the mark. templates/README.md has "
		       "the members.",
	.examples = "  tiletune new vector_add.cu -o vector_add.json\n"
		    "  tiletune new kernels.cu --entry transpose -o transpose.json",
	.options = new_option_table,
	.options_size = sizeof(struct new_options),
	.positional_min = 1,
	.positional_max = 1,
	.run = run,
};
