/* SPDX-License-Identifier: MIT */
#include "compile/nvrtc.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "compile/compiler.h"
#include "expr/expression.h"

static const struct library_entry calls[] = {
#define CALL(member, name) {#name, offsetof(struct nvrtc_functions, member), 1},
	NVRTC_CALLS(CALL)
#undef CALL
		{"nvrtcGetTileIRSize", offsetof(struct nvrtc_functions, tile_ir_size), 0},
	{"nvrtcGetTileIR", offsetof(struct nvrtc_functions, tile_ir), 0},
};

/* Options that older versions lack, with the word that identifies each in messages. */
static const struct extra {
	const char *name;
	const char *option;
} extras[] = {
	/* a cache would make compile times wrong */
	{"no-cache", "--no-cache"},
	/* setrlimit() affects the whole process */
	{"modify-stack-limit", "--modify-stack-limit=false"},
	{"device-int128", "--device-int128"},
	/* prevents a search of the working folder; not for sources with toolkit headers, which
	 * include their neighbours */
	{"no-source-include", "--no-source-include"},
};

enum {
	EXTRA_COUNT = ARRAY_COUNT(extras),
	EXTRA_SOURCE_INCLUDE = EXTRA_COUNT - 1
};
_Static_assert(sizeof(((struct nvrtc *)0)->refused_extras) >= EXTRA_COUNT * sizeof(bool),
	"one for each extra");

/* Finds "V13.0.88" in "Cuda compilation tools, release 13.0, V13.0.88". */
static bool build_in_bytes(const char *bytes, size_t size, char *build, size_t build_size)
{
	static const char mark[] = "Cuda compilation tools, release ";
	const char *found = memmem(bytes, size, mark, sizeof(mark) - 1);
	const char *end = bytes + size;
	size_t length = 0;

	if (!found)
		return false;
	found += sizeof(mark) - 1;
	found = memmem(found, end - found < 32 ? (size_t)(end - found) : 32, ", V", 3);
	if (!found)
		return false;
	for (found += 2; found < end && length + 1 < build_size; found++) {
		if (!isalnum((unsigned char)*found) && *found != '.')
			break;
		build[length++] = *found;
	}
	build[length] = '\0';
	return length > 1;
}

char *nvrtc_file_build(const char *path)
{
	char build[48];
	struct stat info;
	void *bytes = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return NULL;
	if (!build_in_bytes(bytes, (size_t)info.st_size, build, sizeof(build)))
		snprintf(build, sizeof(build), "file %016llx",
			(unsigned long long)hash_bytes(bytes, (size_t)info.st_size, 0));
	munmap(bytes, (size_t)info.st_size);
	return string_copy(build);
}

/* NVRTC opens its second library by its bare name. If the library is not on the loader's path (as
 * in wheels), opening its file first makes the name known. */
static void open_builtins(struct nvrtc *nvrtc)
{
	CLEANUP(memory_free) char *folder = path_parent(nvrtc->library.path);
	CLEANUP(memory_free)
	char *path =
		string_format("%s/libnvrtc-builtins.so.%d.%d", folder, nvrtc->major, nvrtc->minor);

	if (file_exists(path))
		library_open(&nvrtc->builtins, path, NULL);
}

enum status nvrtc_load(struct nvrtc *nvrtc, const char *path, struct error *err)
{
	*nvrtc = (struct nvrtc){0};
	TRY(library_open(&nvrtc->library, path, err));
	if (strstr(nvrtc->library.path, "/stubs/"))
		return error_set(err, STATUS_NO_DEVICE,
			"%s: this library is a stub for linking only", nvrtc->library.path);
	TRY(library_bind(&nvrtc->library, calls, ARRAY_COUNT(calls), &nvrtc->functions, err));
	if (nvrtc->functions.version(&nvrtc->major, &nvrtc->minor) != NVRTC_SUCCESS)
		return error_set(
			err, STATUS_NO_DEVICE, "%s: nvrtcVersion() failed", nvrtc->library.path);
	open_builtins(nvrtc);
	return STATUS_OK;
}

void nvrtc_release(struct nvrtc *nvrtc)
{
	name_set_release(&nvrtc->missing);
	library_close(&nvrtc->builtins);
	library_close(&nvrtc->library);
	*nvrtc = (struct nvrtc){0};
}

static bool refuse_extra(struct nvrtc *nvrtc, const char *log)
{
	for (size_t i = 0; i < EXTRA_COUNT; i++) {
		if (!nvrtc->refused_extras[i] && strstr(log, extras[i].name)) {
			nvrtc->refused_extras[i] = true;
			return true;
		}
	}
	return false;
}

typedef nvrtcResult get_size(nvrtcProgram, size_t *);
typedef nvrtcResult get_bytes(nvrtcProgram, char *);

static nvrtcResult get_text(
	nvrtcProgram program, get_size *size_of, get_bytes *bytes_of, struct text *text)
{
	size_t size = 0;
	nvrtcResult result = size_of(program, &size);
	CLEANUP(memory_free) char *bytes = NULL;

	text_clear(text);
	if (result != NVRTC_SUCCESS || size == 0)
		return result;
	bytes = memory_zeroed(size + 1, 1);
	result = bytes_of(program, bytes);
	if (result == NVRTC_SUCCESS)
		text_append_bytes(text, bytes, size);
	return result;
}

/* Returns whether the name is mangled, so that NVRTC must be queried. */
static bool needs_lowering(const struct build_unit *unit, const char *entry)
{
	return !unit->is_tile && (!name_is_valid(entry) || !strstr(unit->source, "extern \"C\""));
}

static nvrtcResult add_expressions(
	const struct nvrtc *nvrtc, nvrtcProgram program, const struct build_unit *unit)
{
	nvrtcResult result = NVRTC_SUCCESS;

	for (size_t i = 0; i < unit->entry_count && result == NVRTC_SUCCESS; i++)
		if (needs_lowering(unit, unit->entries[i]))
			result = nvrtc->functions.add_expression(program, unit->entries[i]);
	return result;
}

static void take_symbols(const struct nvrtc *nvrtc, nvrtcProgram program,
	const struct build_unit *unit, char **symbols)
{
	for (size_t i = 0; i < unit->entry_count; i++) {
		const char *lowered = NULL;

		if (needs_lowering(unit, unit->entries[i]) &&
			nvrtc->functions.lowered_name(program, unit->entries[i], &lowered) !=
				NVRTC_SUCCESS)
			lowered = NULL;
		symbols[i] = string_copy(lowered ? lowered : unit->entries[i]);
	}
}

static nvrtcResult create(const struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, nvrtcProgram *program)
{
	/* tile kernels include the toolkit's real headers */
	CLEANUP(stand_ins_release)
	struct stand_ins all = unit->is_tile ? (struct stand_ins){0} : toolkit_stand_ins(toolkit);

	for (size_t i = 0; i < nvrtc->missing.count; i++)
		stand_ins_add(&all, nvrtc->missing.items[i], "");
	return nvrtc->functions.create(program, unit->source, unit->name, (int)all.count,
		(const char *const *)all.texts, (const char *const *)all.names);
}

static nvrtcResult compile_once(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *const *options, int option_count, bool to_ptx,
	char **symbols, struct text *image, struct text *log)
{
	const struct nvrtc_functions *functions = &nvrtc->functions;
	get_size *size = unit->is_tile ? functions->tile_ir_size
			 : to_ptx      ? functions->ptx_size
				       : functions->cubin_size;
	get_bytes *bytes = unit->is_tile ? functions->tile_ir
			   : to_ptx      ? functions->ptx
					 : functions->cubin;
	nvrtcProgram program = NULL;
	nvrtcResult result = create(nvrtc, unit, toolkit, &program);

	text_clear(log);
	if (result != NVRTC_SUCCESS)
		return result;
	result = add_expressions(nvrtc, program, unit);
	if (result == NVRTC_SUCCESS)
		result = functions->compile(program, option_count, options);
	get_text(program, functions->log_size, functions->log, log);
	if (result == NVRTC_SUCCESS) {
		take_symbols(nvrtc, program, unit, symbols);
		result = get_text(program, size, bytes, image);
	}
	functions->destroy(&program);
	return result;
}

static bool is_of_toolkit(const struct toolkit *toolkit, const char *file)
{
	for (size_t i = 0; toolkit && i < toolkit->folder_count; i++)
		if (string_starts_with(file, toolkit->folders[i]))
			return true;
	return string_starts_with(file, "__nv_");
}

/* Returns the unit's -D macro that occurs in the line, or NULL. */
static const char *macro_in(const struct build_unit *unit, const char *line, size_t *length)
{
	for (size_t i = 0; i < unit->option_count; i++) {
		const char *name = unit->options[i] + 2;

		if (!string_starts_with(unit->options[i], "-D"))
			continue;
		*length = strcspn(name, "=");
		for (const char *c = line; *c && *c != '\n'; c++)
			if (strncmp(c, name, *length) == 0 &&
				(c == line || (!isalnum((unsigned char)c[-1]) && c[-1] != '_')) &&
				!isalnum((unsigned char)c[*length]) && c[*length] != '_')
				return name;
	}
	return NULL;
}

static const char *first_error(const char *log)
{
	const char *error = strstr(log, "error: ");

	while (error && error > log && error[-1] != '\n')
		error--;
	return error;
}

static void list_missing(
	const struct nvrtc *nvrtc, const struct build_unit *unit, struct text *names)
{
	for (size_t i = 0; i < nvrtc->missing.count; i++) {
		CLEANUP(memory_free)
		char *include = string_format("#include <%s>", nvrtc->missing.items[i]);

		if (strstr(unit->source, include))
			text_append_listed(names, nvrtc->missing.items[i]);
	}
}

static const char *package_of(const char *headers)
{
	static const struct {
		const char *begins, *how;
	} packages[] = {{"curand", "`pip install nvidia-curand`"},
		{"cub/", "`pip install nvidia-cuda-cccl`"},
		{"thrust/", "`pip install nvidia-cuda-cccl`"},
		{"cuda/", "`pip install nvidia-cuda-cccl`"},
		{"", "`pip install` the NVIDIA package that has them"}};
	size_t i = 0;

	while (!string_starts_with(headers, packages[i].begins))
		i++;
	return packages[i].how;
}

/* Adds a hint after the three lines of the first error: "FILE(LINE): error: ...", the source, and a
 * caret. */
static void put_hint(const struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, struct text *log)
{
	CLEANUP(text_release) struct text hinted = {0}, missing = {0};
	const char *text = first_error(text_string(log)), *line = text ? strchr(text, '\n') : NULL;
	const char *mark = line ? strchr(line + 1, '\n') : NULL;
	const char *rest = mark ? strchr(mark + 1, '\n') : NULL, *macro = NULL;
	size_t length = 0;

	if (!rest)
		return;
	if (is_of_toolkit(toolkit, text))
		macro = macro_in(unit, line + 1, &length);
	list_missing(nvrtc, unit, &missing);
	text_append_bytes(&hinted, text_string(log), (size_t)(rest + 1 - text_string(log)));
	if (!unit->is_tile && strstr(unit->source, "__tile_global__"))
		text_append(&hinted, "hint: write \"language\": \"tile\" in the JSON\n");
	else if (missing.length)
		text_appendf(&hinted,
			"hint: " COMPILER_MISSING
			"%s; add their folder to \"include_paths\" in the "
			"JSON, or %s\n",
			missing.data, package_of(missing.data));
	else if (unit->is_tile && strstr(text, "constraint"))
		text_append(&hinted, "hint: make every dimension of a tile a power of two\n");
	else if (unit->is_tile && strstr(text, "from a __global__ function"))
		text_append(&hinted, "hint: declare the kernel as __tile_global__\n");
	else if (macro)
		text_appendf(&hinted,
			"hint: the macro %.*s collides with a name in that header; rename it with "
			"\"as\": \"macro OTHER\"\n",
			(int)length, macro);
	else
		return;
	text_append(&hinted, rest + 1);
	text_clear(log);
	text_append(log, text_string(&hinted));
}

static bool add_missing(struct nvrtc *nvrtc, const char *log)
{
	static const char mark[] = "open source file \"";
	const char *name = strstr(log, mark);
	const size_t count = nvrtc->missing.count;

	if (!name)
		return false;
	name += strlen(mark);
	name_set_add(&nvrtc->missing, name, strcspn(name, "\""));
	return nvrtc->missing.count > count;
}

static void add_option(struct name_set *made, const char *name, const char *value)
{
	CLEANUP(memory_free) char *option = string_format("%s%s", name, value);

	name_set_add(made, option, strlen(option));
}

static const char **options_of(const struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *arch, struct name_set *made, size_t *count)
{
	const bool has_headers = toolkit && toolkit_is_included(unit->source);
	const char **all, *header;

	add_option(made, "-arch=", arch);
	if (toolkit && !unit->is_tile)
		add_option(made, "--pre-include=", TOOLKIT_PRELUDE);
	for (size_t i = 0;
		toolkit && !unit->is_tile && (header = toolkit_implied(unit->source, i)) != NULL;
		i++)
		add_option(made, "--pre-include=", header);
	for (size_t i = 0; has_headers && i < toolkit->folder_count; i++)
		add_option(made, "-I", toolkit->folders[i]);
	*count = 0;
	all = memory_zeroed(unit->option_count + made->count + EXTRA_COUNT, sizeof(*all));
	for (size_t i = 0; i < unit->option_count; i++)
		all[(*count)++] = unit->options[i];
	for (size_t i = 0; i < made->count; i++)
		all[(*count)++] = made->items[i];
	for (size_t i = 0; i < EXTRA_COUNT; i++)
		if (!nvrtc->refused_extras[i] && (i != EXTRA_SOURCE_INCLUDE || !has_headers))
			all[(*count)++] = extras[i].option;
	return all;
}

enum outcome nvrtc_compile(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct toolkit *toolkit, const char *arch, char **symbols, struct text *image,
	struct text *log)
{
	const bool to_ptx = !unit->is_tile && string_starts_with(arch, "compute_");
	nvrtcResult result;

	do {
		CLEANUP(name_set_release) struct name_set made = {0};
		size_t count;
		CLEANUP(memory_free)
		const char **all = options_of(nvrtc, unit, toolkit, arch, &made, &count);

		result = compile_once(
			nvrtc, unit, toolkit, all, (int)count, to_ptx, symbols, image, log);
	} while ((result == NVRTC_ERROR_INVALID_OPTION && refuse_extra(nvrtc, text_string(log))) ||
		 (result == NVRTC_ERROR_COMPILATION && add_missing(nvrtc, text_string(log))));
	/* sizes include the terminating NUL */
	while (log->length && log->data[log->length - 1] == '\0')
		log->length--;
	while (to_ptx && image->length && image->data[image->length - 1] == '\0')
		image->length--;
	if (result == NVRTC_SUCCESS && image->length) {
		CLEANUP(text_release) struct text missing = {0};

		list_missing(nvrtc, unit, &missing);
		if (missing.length)
			text_appendf(log, "\n%s%s\n", COMPILER_MISSING, missing.data);
		return OUTCOME_OK;
	}
	if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION) {
		put_hint(nvrtc, unit, toolkit, log);
		return OUTCOME_COMPILE_FAILED;
	}
	text_appendf(log, "%s\n",
		result == NVRTC_SUCCESS ? "the compiler succeeded but returned no code"
					: nvrtc->functions.error_string(result));
	return OUTCOME_COMPILE_CRASHED;
}

enum status nvrtc_try(struct nvrtc *nvrtc, struct error *err)
{
	CLEANUP(text_release) struct text image = {0};
	CLEANUP(text_release) struct text log = {0};
	CLEANUP(memory_free) char *of_file = NULL;
	static char name[] = "trial.cu", source[] = "extern \"C\" __global__ void trial() {}\n";
	const struct build_unit unit = {.name = name, .source = source};
	char build[48] = "";

	/* Every version compiles PTX for an old architecture, and PTX states the build. */
	if (nvrtc_compile(nvrtc, &unit, NULL, "compute_80", NULL, &image, &log) != OUTCOME_OK)
		return error_set(err, STATUS_NO_DEVICE, "%s: cannot compile an empty kernel: %s",
			nvrtc->library.path, text_string(&log));
	if (!build_in_bytes(image.data, image.length, build, sizeof(build)))
		of_file = nvrtc_file_build(nvrtc->library.path);
	snprintf(nvrtc->identity, sizeof(nvrtc->identity), "NVRTC %d.%d (%s)", nvrtc->major,
		nvrtc->minor, of_file ? of_file : build);
	return STATUS_OK;
}
