/* SPDX-License-Identifier: MIT
 *
 * tiletune export: writes files for other builds and tools.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/format_text.h"
#include "cli/common.h"
#include "export/export_kernel.h"

struct export_options {
	const char *format, *output, *device, *nvrtc, *cache, *objective;
	struct string_list problems, paths, arches;
	unsigned leaves;
	bool no_learned;
};

#define AT(member) offsetof(struct export_options, member)

static const char *format_choice(size_t index, const char **summary)
{
	const struct export_format *format = export_formats[index];

	if (!format)
		return NULL;
	*summary = format->summary;
	return format->name;
}

static const struct option export_option_table[] = {
	CHOICE("format", 'F', STRING, format, "FORMAT", format_choice),
	OPTION("output", 'o', STRING, output, "FILE"),
	OPTION("problem", 'p', STRINGS, problems, "PROBLEM"),
	OPTION("arch", 0, STRINGS, arches, "ARCH"),
	OPTION("leaves", 0, COUNT, leaves, "N"),
	CHOICE("objective", 0, STRING, objective, "WHAT", common_objective_choice),
	OPTION("device", 'd', STRING, device, "DEVICE"),
	OPTION("nvrtc", 0, STRING, nvrtc, "FILE"),
	OPTION("cache-dir", 0, STRING, cache, "DIR"),
	OPTION("no-learned", 0, FLAG, no_learned, NULL),
	OPTION("path", 0, PLACES, paths, "DIR"),
	{0},
};

struct exporting {
	const struct export_options *options;
	const char *file, *output;
	struct folders folders;
	struct catalogue catalogue;
	struct tuned tuned;
	struct journal_record journal;
	struct export_source source;
	/* only for formats that compile */
	struct problem_list problems;
	struct learned learned;
	struct text notice;
};

static enum status select_entries(
	struct exporting *exporting, const char *operation_text, bool predicts, struct error *err)
{
	const struct export_options *options = exporting->options;
	struct export_source *source = &exporting->source;
	const struct operation *operation = NULL;

	if (operation_text)
		TRY(catalogue_operation(&exporting->catalogue, operation_text, &operation, err));
	if (options->problems.count && !operation)
		return error_set(err, STATUS_BAD_INPUT, "export: -p needs an operation before it");
	source->objective = common_objective(options->objective);
	TRY(export_choose(operation, options->problems.items, options->problems.count,
		&exporting->problems, predicts, source, err));
	if (!operation || source->entry_count || source->untuned_count)
		return STATUS_OK;
	error_set(err, STATUS_BAD_INPUT, "%s: the file has no entry of this problem",
		exporting->file);
	return error_hint(err, "find the nearest entry with `tiletune lookup`");
}

static enum status write_bytes(const char *output, const struct text *bytes, struct error *err)
{
	if (strcmp(output, "-") == 0 && isatty(STDOUT_FILENO) &&
		memchr(text_string(bytes), 0, bytes->length)) {
		error_set(err, STATUS_BAD_INPUT,
			"export: binary output is not written to a terminal; name a file with -o, "
			"or use a pipe");
		return error_hint(err, "-o FILE");
	}
	TRY(common_write(output, bytes, err));
	common_say_wrote(output);
	return STATUS_OK;
}

static enum status open_compiler(struct exporting *exporting, unsigned workers, struct error *err)
{
	const struct export_options *options = exporting->options;
	CLEANUP(memory_free) char *cache = NULL;
	struct compiler_options compiler = {
		.workers = workers, .worker_path = common_worker(), .nvrtc_path = options->nvrtc};

	TRY(path_cache_folder(options->cache, &cache, err));
	compiler.cache_folder = cache;
	return compiler_open(&compiler, &exporting->source.compiler, err);
}

/* Lists the device's own architecture, followed by those of --arch. */
static enum status list_devices(struct exporting *exporting, struct error *err)
{
	const struct string_list *more = &exporting->options->arches;
	struct export_source *source = &exporting->source;
	size_t count = 0;

	source->devices = memory_zeroed(more->count + 2, sizeof(*source->devices));
	source->devices[count++] = source->device;
	for (size_t i = 0; i < more->count; i++)
		if (strcmp(more->items[i], source->device->arch) != 0)
			TRY(architecture_device(more->items[i], exporting->folders.configs,
				&source->devices[count++], err));
	return STATUS_OK;
}

static enum status prepare(struct exporting *exporting, struct error *err)
{
	struct export_source *source = &exporting->source;

	TRY(common_device_spec(exporting->options->device, &exporting->tuned.device,
		&exporting->folders, &source->device, err));
	TRY(learned_open(&(struct learned_choice){.none = exporting->options->no_learned},
		exporting->folders.configs, source->device->name, &exporting->catalogue,
		&exporting->learned, err));
	source->device->learned = &exporting->learned;
	TRY(list_devices(exporting, err));
	return open_compiler(exporting, 0, err);
}

/* Updates entries that were tuned with older sources, because builds compile today's. */
static enum status rebuild_entries(struct exporting *exporting, struct error *err)
{
	struct error reason;

	if (common_device_spec(exporting->options->device, &exporting->tuned.device,
		    &exporting->folders, &exporting->source.device, &reason) != STATUS_OK) {
		format_put(&exporting->notice, format_shown,
			"not compared with today's sources: %s\n", reason.message);
		return STATUS_OK;
	}
	return export_rebuild(&exporting->catalogue, exporting->source.device, &exporting->tuned,
		&exporting->source, err);
}

/* Opens what formats need that score the candidates of a journal. All runs must be of one GPU
 * model. */
static enum status prepare_scores(struct exporting *exporting, struct error *err)
{
	const struct journal_record *journal = &exporting->journal;

	for (size_t i = 1; i < journal->run_count; i++)
		if (!gpu_model_same(&journal->runs[i].device, &journal->runs[0].device))
			return error_set(err, STATUS_BAD_INPUT,
				"%s: the journal has runs on %s and on %s; only runs on one GPU "
				"model can be exported",
				exporting->file, journal->runs[0].device.name,
				journal->runs[i].device.name);
	if (!journal->run_count)
		return STATUS_OK;
	TRY(catalogue_load(exporting->folders.templates, NULL, &exporting->catalogue, err));
	return common_device_spec(NULL, &journal->runs[0].device, &exporting->folders,
		&exporting->source.device, err);
}

static enum status export_table(
	struct exporting *exporting, const struct export_format *format, struct error *err)
{
	CLEANUP(text_release) struct text text = {0};

	if (format->of_journals)
		TRY(prepare_scores(exporting, err));
	if (format->compiles)
		TRY(prepare(exporting, err));
	else if (format->builds)
		TRY(rebuild_entries(exporting, err));
	TRY(format->write(&exporting->source, &text, err));
	common_notice_lines(text_string(&exporting->notice));
	return write_bytes(exporting->output, &text, err);
}

/* Returns "x.cubin" for a single unit, and "x.0.cubin", "x.1.cubin" for several. */
static char *unit_path(
	const char *output, const struct export_format *format, size_t unit, size_t count)
{
	size_t length = strlen(output);

	if (string_ends_with(output, format->suffix))
		length -= strlen(format->suffix);
	if (count == 1)
		return string_format("%.*s%s", (int)length, output, format->suffix);
	return string_format("%.*s.%zu%s", (int)length, output, unit, format->suffix);
}

static enum status write_files(const struct export_kernel *kernel,
	const struct export_format *format, const struct compiler *compiler, const char *output,
	struct error *err)
{
	const size_t count = kernel->build.unit_count;
	CLEANUP(name_set_release) struct name_set paths = {0};
	CLEANUP(memory_free) char *whole = unit_path(output, format, 0, 1);
	CLEANUP(memory_free) char *metadata = string_format("%s.json", whole);
	CLEANUP(json_release) struct json *json = NULL;

	for (size_t i = 0; i < count; i++) {
		CLEANUP(memory_free) char *path = unit_path(output, format, i, count);

		name_set_add(&paths, path, strlen(path));
		if (strcmp(path, output) != 0)
			TRY(file_expect_no_link(path, err));
		TRY(file_write(path, kernel->images[i].data, kernel->images[i].length, err));
	}
	TRY(file_expect_no_link(metadata, err));
	json = kernel_json(format->name, &kernel->candidate, &kernel->build, &kernel->plan,
		kernel->units, paths.items, kernel->device->arch,
		compiler ? compiler_identity(compiler) : NULL);
	TRY(common_write_json(metadata, json, err));
	common_print(
		stderr, "wrote %s%s and %s\n", paths.items[0], count > 1 ? ", ..." : "", metadata);
	return STATUS_OK;
}

static enum status write_kernel(const struct export_kernel *kernel,
	const struct export_format *format, const struct compiler *compiler, const char *output,
	struct error *err)
{
	if (strcmp(output, "-") != 0)
		return write_files(kernel, format, compiler, output, err);
	if (kernel->build.unit_count != 1) {
		error_set(err, STATUS_BAD_INPUT,
			"export: the kernel has %zu sources, but standard output takes one",
			kernel->build.unit_count);
		return error_hint(err, "write one file for each source: -o NAME%s", format->suffix);
	}
	return write_bytes(output, &kernel->images[0], err);
}

static enum status export_kernel(
	struct exporting *exporting, const struct export_format *format, struct error *err)
{
	CLEANUP(export_kernel_release) struct export_kernel kernel = {0};
	const struct tuned_entry *entry;

	if (exporting->source.entry_count != 1) {
		error_set(err, STATUS_BAD_INPUT,
			"%s: --format %s exports one entry, but %zu are selected", exporting->file,
			format->name, exporting->source.entry_count);
		return error_hint(err, "select one entry: OPERATION -p PROBLEM");
	}
	entry = exporting->source.entries[0];
	TRY(common_device_spec(exporting->options->device, &exporting->tuned.device,
		&exporting->folders, &exporting->source.device, err));
	TRY(export_kernel_open(
		&exporting->catalogue, exporting->source.device, entry, &kernel, err));
	if (strcmp(entry->winner.result.kernel_hash, kernel.build.kernel_hash) != 0)
		common_notice("today's sources build a different kernel than the tuned one; run "
			      "`tiletune check`");
	if (format->arch_prefix)
		TRY(open_compiler(exporting, 1, err));
	TRY(export_kernel_make(&kernel, format, exporting->source.compiler, err));
	return write_kernel(&kernel, format, exporting->source.compiler, exporting->output, err);
}

static enum status load(struct exporting *exporting, const struct string_list *positional,
	const struct export_format *format, struct error *err)
{
	static const char *const kinds[] = {"tuned file", "journal"};
	const char *operation = positional->count > 1 ? positional->items[1] : NULL;
	const bool is_journal = journal_is_named(exporting->file);

	/* the name is printed in comments, which end with the line */
	exporting->source.name = string_copy(path_name(exporting->file));
	for (char *at = exporting->source.name; *at; at++)
		if ((unsigned char)*at < 0x20)
			*at = '?';
	exporting->source.catalogue = &exporting->catalogue;
	exporting->source.notice = &exporting->notice;
	if (is_journal && operation)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: entries can be selected from a tuned file, but this is a journal",
			exporting->file);
	if (is_journal != format->of_journals)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: --format %s needs a %s, but this is a %s", exporting->file,
			format->name, kinds[!is_journal], kinds[is_journal]);
	if (is_journal) {
		exporting->source.journal = &exporting->journal;
		TRY(journal_read(exporting->file, &exporting->journal, err));
		common_journal_notice(&exporting->journal);
		return STATUS_OK;
	}
	exporting->source.tuned = &exporting->tuned;
	TRY(tuned_load(exporting->file, &exporting->tuned, err));
	/* tables of a whole file work without templates */
	if (operation || format->compiles || format->suffix)
		TRY(catalogue_load(
			exporting->folders.templates, operation, &exporting->catalogue, err));
	else if (format->builds)
		(void)catalogue_load(
			exporting->folders.templates, NULL, &exporting->catalogue, NULL);
	tuned_complete(&exporting->tuned, &exporting->catalogue);
	return select_entries(exporting, operation, format->compiles, err);
}

static void exporting_release(struct exporting *exporting)
{
	struct export_source *source = &exporting->source;

	compiler_close(source->compiler);
	problem_list_release(&exporting->problems);
	learned_release(&exporting->learned);
	for (size_t i = 1; source->devices && source->devices[i]; i++)
		device_spec_free(source->devices[i]);
	free(source->devices);
	device_spec_free(source->device);
	catalogue_release(&exporting->catalogue);
	tuned_release(&exporting->tuned);
	journal_record_release(&exporting->journal);
	free(exporting->source.entries);
	free(exporting->source.untuned);
	text_release(&exporting->notice);
	free(exporting->source.name);
	folders_release(&exporting->folders);
}

/* The folder of the Python module, in an installation or a checkout. Empty if Python finds the
 * module itself. */
static char *python_folder(const char *folder)
{
	static const char *const places[] = {
		"python", "../share/tiletune/python", "../src/python", "../../src/python"};

	for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
		CLEANUP(memory_free) char *path = path_join(folder, places[i]);
		CLEANUP(memory_free) char *module = path_join(path, "tiletune/rules.py");

		if (access(module, R_OK) == 0)
			return string_copy(path);
	}
	return string_copy("");
}

/* Replaces this process by `python3 -m tiletune.rules` with the same arguments, after the file
 * was validated. */
static enum status export_rule(const struct export_options *options,
	const struct string_list *positional, struct error *err)
{
	CLEANUP(memory_free) char *program = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(program);
	CLEANUP(memory_free) char *module = python_folder(folder);
	CLEANUP(memory_free)
	char *here = path_join(folder, "python3"); /* the interpreter of its environment */
	CLEANUP(memory_free) char *leaves = string_format("%u", options->leaves ?: 32);
	CLEANUP(tuned_release) struct tuned tuned = {0};
	const char *python = access(here, X_OK) == 0 ? here : "python3";
	/* prevents imports from the current folder */
	static const char start[] =
		"import sys; sys.path[:] = [path for path in sys.path if path]; "
		"import runpy; runpy.run_module('tiletune.rules', None, '__main__', True)";
	const char *words[] = {python, "-c", start, positional->items[0],
		positional->count > 1 ? positional->items[1] : "", "--format", options->format,
		"--leaves", leaves, "--output", options->output ? options->output : "-",
		options->problems.count ? "--problem" : NULL,
		options->problems.count ? options->problems.items[0] : NULL, NULL};

	if (positional->count < 2 || options->problems.count > 1)
		return error_set(err, STATUS_BAD_INPUT,
			"--format %s needs an operation and at most one -p with keys of its "
			"entries, but found %s",
			options->format, positional->count < 2 ? "no operation" : "several -p");
	TRY(tuned_load(positional->items[0], &tuned, err));
	if (*module) {
		const char *old = getenv("PYTHONPATH");
		CLEANUP(memory_free)
		char *path =
			old && *old ? string_format("%s:%s", module, old) : string_copy(module);

		setenv("PYTHONPATH", path, true);
	}
	setenv("PYTHONSAFEPATH", "1", true);
	execvp(python, (char *const *)words);
	error_set(err, STATUS_FAILED, "%s: %s", python, strerror(errno));
	return error_hint(err, "install python3 with the module tiletune, which fits the rules");
}

static enum status export_run(
	void *options_, const struct string_list *positional, struct error *err)
{
	const struct export_options *options = options_;
	CLEANUP(exporting_release)
	struct exporting exporting = {.options = options,
		.file = positional->items[0],
		.output = options->output ? options->output : "-",
		.folders = folders_of(&options->paths, positional->items[0])};
	const struct export_format *format;

	if (!options->format) {
		error_set(err, STATUS_BAD_INPUT, "export: --format is missing");
		return error_hint(err, "`tiletune help export` lists the formats");
	}
	TRY(common_expect_output("output", exporting.output,
		&(struct string_list){.items = positional->items, .count = 1}, err));
	format = export_format_find(options->format);
	if (!format->write && !format->suffix)
		return export_rule(options, positional, err);
	if (options->arches.count && !format->compiles)
		return error_set(err, STATUS_BAD_INPUT,
			"--arch applies to --format bundle only, not to --format %s",
			options->format);
	TRY(load(&exporting, positional, format, err));
	return format->write ? export_table(&exporting, format, err)
			     : export_kernel(&exporting, format, err);
}

const struct command command_export = {
	.name = "export",
	COMMAND_OPTIONS(struct export_options, export_option_table),
	.positional_min = 1,
	.positional_max = 2,
	.run = export_run,
};
