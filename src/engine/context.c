/* SPDX-License-Identifier: MIT */
#include "engine/context.h"

#include "base/file.h"
#include "device/selection.h"

char **context_folders(const char *const *roots, const char *name)
{
	size_t count = 0;
	char **folders;

	while (roots[count])
		count++;
	folders = memory_zeroed(count + 1, sizeof(*folders));
	for (size_t i = 0; i < count; i++)
		folders[i] = own_kernel_is_file(roots[i]) ? string_copy(roots[i])
							  : path_join(roots[i], name);
	return folders;
}

static void context_folders_free(char **folders)
{
	for (char **folder = folders; folder && *folder; folder++)
		free(*folder);
	free(folders);
}

/* Returns false if a GPU exists, even if it is busy. */
static bool no_gpu(const struct device_options *options, char **why)
{
	struct device_listing *list = NULL;
	struct error reason = {0};
	size_t count = 0;
	bool none = device_list_cuda(options, &list, &count, why, &reason) != STATUS_OK || !count;

	if (none && !*why)
		*why = string_copy(reason.message[0] ? reason.message : "none found");
	free(list);
	return none;
}

static enum status open_compiler(const struct context_options *options, struct context *context,
	int driver_version, struct error *err)
{
	CLEANUP(memory_free) char *cache = NULL;
	struct compiler_options with = options->compiler;
	enum status status =
		options->no_cache ? STATUS_OK : path_cache_folder(with.cache_folder, &cache, err);

	with.cache_folder = cache;
	with.driver_cuda_version = driver_version;
	if (status == STATUS_OK)
		status = compiler_open(&with, &context->compiler, err);
	/* do without a cache unless the user named the folder */
	if (status == STATUS_BAD_INPUT && !options->compiler.cache_folder && !options->no_cache) {
		context->cache_notice = string_format("kernels are not cached: %s", err->message);
		with.cache_folder = NULL;
		status = compiler_open(&with, &context->compiler, err);
	}
	if (status == STATUS_OK)
		context->store = kernel_store_new(context->compiler, context->device->spec->arch);
	return status;
}

/* Explains the error if the compiler does not know the GPU. */
static enum status refuse_architecture(const struct context *context, struct error *err)
{
	const int compute_capability = context->device->spec->compute_capability;

	if (!strstr(err->message, "gpu-architecture"))
		return err->status;
	return error_set(err, STATUS_NO_DEVICE,
		"GPU %s: %s cannot compile for its compute capability %d.%d",
		context->device->identity.name, compiler_identity(context->compiler),
		compute_capability / 10, compute_capability % 10);
}

static enum status open_helpers(struct context *context, struct error *err)
{
	CLEANUP(build_release) struct build helpers = {0};
	const struct compile_result *kernel;

	TRY(plain_build((const char *const *)context->template_folders, "common/helpers.cu",
		&helpers, err));
	if (kernel_store_wait(context->store, &helpers.units[0], &kernel, err) != STATUS_OK)
		return refuse_architecture(context, err);
	return device_helpers(context->device, kernel->path, err);
}

static enum status open_cuda(const struct context_options *options, struct context *context,
	const char *name, const struct device_options *device_options, struct error *err)
{
	TRY(device_open(name, device_options, &context->device, err));
	TRY(open_compiler(options, context, context->device->identity.driver_cuda_version, err));
	TRY(open_helpers(context, err));
	if (context->device->identity.process_count)
		context->notice = string_format(
			"%d other processes use this GPU, so times may be longer and less certain",
			context->device->identity.process_count);
	return STATUS_OK;
}

static enum status open_modelled(const struct context_options *options, struct context *context,
	const char *name, const struct device_options *device_options, struct error *err)
{
	struct error reason = {0};
	enum status status;

	TRY(device_open(name, device_options, &context->device, err));
	if (!context->device->kind->compiles)
		return STATUS_OK;
	status = open_compiler(options, context, 0, &reason);
	/* a library that the user named must exist */
	if (status == STATUS_OK || (!options->need_compiler && !options->compiler.nvrtc_path))
		return STATUS_OK;
	*err = reason;
	return status;
}

/* Opens the first GPU that works, else the embedded sheet. */
static enum status open_auto(const struct context_options *options, struct context *context,
	const struct device_options *device_options, struct error *err)
{
	const enum status status = open_cuda(options, context, "cuda:0", device_options, err);
	CLEANUP(memory_free) char *why = NULL;

	if (status != STATUS_NO_DEVICE || context->device || !options->allow_model ||
		!no_gpu(device_options, &why))
		return status;
	*err = (struct error){0};
	TRY(open_modelled(options, context, "model:", device_options, err));
	context->notice =
		string_format("no GPU found (`tiletune devices` says why), so times are predicted "
			      "for %s; choose another model with --device model:NAME",
			context->device->spec->title);
	return STATUS_OK;
}

/* Sets *program to NULL if no program serves the operation. */
static enum status find_program(const struct context_options *options,
	const struct context *context, const struct family **program, struct error *err)
{
	const char *name = options->served ? options->served : options->operation;
	const struct operation *operation = NULL;

	*program = NULL;
	if (name)
		TRY(catalogue_operation(&context->catalogue, name, &operation, err));
	for (size_t i = 0; operation && i < context->catalogue.family_count; i++)
		if (context->catalogue.families[i]->operation == operation &&
			context->catalogue.families[i]->program)
			*program = context->catalogue.families[i];
	return STATUS_OK;
}

static enum status open_program(const struct context_options *options, struct context *context,
	const struct family *family, const struct device_options *device_options, struct error *err)
{
	struct device_options with = *device_options;
	CLEANUP(memory_free) char *folder = path_parent(family->file);
	CLEANUP(text_release) struct text command = {0};

	if (options->describes)
		return device_open("model:", device_options, &context->device, err);
	if (strcmp(options->device, "auto") != 0 || !options->program_starts) {
		error_set(err, STATUS_BAD_INPUT,
			"--device %s does not apply: %s runs a program, which selects its own "
			"device",
			options->device, family->file);
		return error_hint(err, "run `tune` or `check` without --device");
	}
	for (const char **word = family->program; *word; word++)
		text_appendf(&command, "%s%s", command.length ? " " : "", *word);
	options->program_starts(command.data, folder);
	with.program = context->program = family;
	return device_open("program", &with, &context->device, err);
}

/* Rejects incomplete names such as "cuda" and "model:". */
static enum status expect_whole_name(const char *device, struct error *err)
{
	static const char *const kinds[] = {"cuda", "model", "replay", NULL};
	const char *colon = strchr(device, ':');
	CLEANUP(memory_free) char *kind = string_copy_bytes(device, strcspn(device, ":"));

	return (colon && colon[1]) || name_find(kind, kinds) < 0
		       ? STATUS_OK
		       : error_set(err, STATUS_BAD_INPUT,
				 "--device: expected cuda:N, cuda:UUID, cuda:all, model:NAME or "
				 "replay:FILE, found %s",
				 device);
}

static enum status open_device(const struct context_options *options, struct context *context,
	const struct device_options *device_options, struct error *err)
{
	const struct family *program;
	const char *more;
	char *notice;

	TRY(expect_whole_name(options->device, err));
	if (device_is_several(options->device))
		return error_set(err, STATUS_BAD_INPUT,
			"device: this command works with one GPU, not with \"%s\"",
			options->device);
	TRY(find_program(options, context, &program, err));
	TRY(program && !string_starts_with(options->device, "replay:")
			? open_program(options, context, program, device_options, err)
		: strcmp(options->device, "auto") == 0
			? open_auto(options, context, device_options, err)
		: string_starts_with(options->device, "cuda:")
			? open_cuda(options, context, options->device, device_options, err)
			: open_modelled(options, context, options->device, device_options, err));
	more = context->device->spec->notice;
	if (more) {
		notice = string_format("%s%s%s", context->notice ? context->notice : "",
			context->notice ? "; " : "", more);
		free(context->notice);
		context->notice = notice;
	}
	return STATUS_OK;
}

static enum status open_all(
	const struct context_options *options, struct context *context, struct error *err)
{
	struct device_options device_options = options->machine;

	device_options.config_folders = (const char *const *)context->config_folders;
	device_options.catalogue = &context->catalogue;
	context->l2_warm = device_options.l2_warm;
	context->worker_path = device_options.worker_path;
	TRY(catalogue_load((const char *const *)context->template_folders, options->operation,
		&context->catalogue, err));
	TRY(open_device(options, context, &device_options, err));
	context->learned = memory_zeroed(1, sizeof(*context->learned));
	TRY(learned_open(&options->learned, (const char *const *)context->config_folders,
		context->device->spec->name, &context->catalogue, context->learned, err));
	context->device->spec->learned = context->learned;
	return STATUS_OK;
}

enum status context_open(
	const struct context_options *options, struct context *context, struct error *err)
{
	enum status status;

	*context =
		(struct context){.template_folders = context_folders(options->roots, "templates"),
			.config_folders = context_folders(options->roots, "configs")};
	status = open_all(options, context, err);
	if (status != STATUS_OK)
		context_release(context);
	return status;
}

void context_release(struct context *context)
{
	device_close(context->device);
	if (context->learned)
		learned_release(context->learned);
	free(context->learned);
	kernel_store_free(context->store);
	compiler_close(context->compiler);
	catalogue_release(&context->catalogue);
	context_folders_free(context->template_folders);
	context_folders_free(context->config_folders);
	free(context->notice);
	free(context->cache_notice);
	*context = (struct context){0};
}
