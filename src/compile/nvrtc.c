/* SPDX-License-Identifier: MIT */
#include "compile/nvrtc.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "expr/expression.h"

static const struct library_entry calls[] = {
#define CALL(member, name) {#name, offsetof(struct nvrtc_functions, member), 1},
	NVRTC_CALLS(CALL)
#undef CALL
};

/* Options of ours that older versions lack: what a complaint mentions, what to pass. */
static const struct extra {
	const char *name;
	const char *option;
} extras[] = {
	/* NVRTC's own cache would make compile times look better than they are */
	{"no-cache", "--no-cache"},
	/* setrlimit() is for the whole process, and the workers' stack is large enough */
	{"modify-stack-limit", "--modify-stack-limit=false"},
	/* a source is whole: nothing is looked for in the working folder */
	{"no-source-include", "--no-source-include"},
};

enum {
	EXTRA_COUNT = ARRAY_COUNT(extras)
};
_Static_assert(sizeof(((struct nvrtc *)0)->refused_extras) >= EXTRA_COUNT * sizeof(bool),
	"one for each extra");

/* Copies the word after the last comma of "Cuda compilation tools, release 13.0, V13.0.88". */
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

/* The build's version from the library's own text; else a hash of the whole file. */
static enum status identify(struct nvrtc *nvrtc, struct error *err)
{
	const char *path = nvrtc->library.path;
	char build[48];
	struct stat info;
	void *bytes = MAP_FAILED;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0)
		bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return error_set(err, STATUS_NO_DEVICE, "%s: cannot be read", path);
	if (!build_in_bytes(bytes, (size_t)info.st_size, build, sizeof(build)))
		snprintf(build, sizeof(build), "file %016llx",
			(unsigned long long)hash_bytes(bytes, (size_t)info.st_size, 0));
	munmap(bytes, (size_t)info.st_size);
	snprintf(nvrtc->identity, sizeof(nvrtc->identity), "NVRTC %d.%d (%s)", nvrtc->major,
		nvrtc->minor, build);
	return STATUS_OK;
}

/* NVRTC opens its second library by its bare name when it compiles. Where neither is on the
 * loader's path (wheels), the name is found because the file beside the first is open already.
 * Elsewhere there may be no such file, which is no error. */
static void open_builtins(struct nvrtc *nvrtc)
{
	CLEANUP(memory_free) char *folder = path_parent(nvrtc->library.path);
	CLEANUP(memory_free)
	char *path =
		string_format("%s/libnvrtc-builtins.so.%d.%d", folder, nvrtc->major, nvrtc->minor);

	if (file_exists(path))
		library_open(&nvrtc->builtins, path, NULL);
}

static enum status load(struct nvrtc *nvrtc, const char *path, struct error *err)
{
	TRY(library_open(&nvrtc->library, path, err));
	if (strstr(nvrtc->library.path, "/stubs/"))
		return error_set(err, STATUS_NO_DEVICE, "%s: is a stub", nvrtc->library.path);
	TRY(library_bind(&nvrtc->library, calls, ARRAY_COUNT(calls), &nvrtc->functions, err));
	if (nvrtc->functions.version(&nvrtc->major, &nvrtc->minor) != NVRTC_SUCCESS)
		return error_set(
			err, STATUS_NO_DEVICE, "%s: nvrtcVersion fails", nvrtc->library.path);
	return identify(nvrtc, err);
}

enum status nvrtc_load(struct nvrtc *nvrtc, const char *path, struct error *err)
{
	enum status status;

	*nvrtc = (struct nvrtc){0};
	status = load(nvrtc, path, err);
	if (status == STATUS_OK)
		open_builtins(nvrtc);
	else
		nvrtc_release(nvrtc);
	return status;
}

void nvrtc_release(struct nvrtc *nvrtc)
{
	library_close(&nvrtc->builtins);
	library_close(&nvrtc->library);
	*nvrtc = (struct nvrtc){0};
}

/* Refuses, from now on, the extra that the log complains about; false if it is none. */
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

/* A name with C linkage is what it is; the compiler is asked for any other, and makes the
 * instances of templates that are asked for. */
static bool needs_lowering(const struct build_unit *unit, const char *entry)
{
	return !name_is_valid(entry) || !strstr(unit->source, "extern \"C\"");
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

/* Where the compiler knows none, the entry's own name: what the code has in its place is found out
 * from the code. */
static void take_symbols(const struct nvrtc *nvrtc, nvrtcProgram program,
	const struct build_unit *unit, char **symbols)
{
	for (size_t i = 0; i < unit->entry_count; i++) {
		const char *lowered = NULL;

		if (needs_lowering(unit, unit->entries[i]) &&
			nvrtc->functions.lowered_name(program, unit->entries[i], &lowered) !=
				NVRTC_SUCCESS)
			lowered = NULL;
		free(symbols[i]);
		symbols[i] = string_copy(lowered ? lowered : unit->entries[i]);
	}
}

static nvrtcResult compile_once(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct header_set *headers, const char *const *options, int option_count, bool to_ptx,
	char **symbols, struct text *image, struct text *log)
{
	const struct nvrtc_functions *functions = &nvrtc->functions;
	nvrtcProgram program = NULL;
	const bool has_headers = headers && headers->source;
	nvrtcResult result =
		functions->create(&program, has_headers ? headers->source : unit->source,
			unit->name, has_headers ? (int)headers->count : 0,
			has_headers ? headers->texts : NULL, has_headers ? headers->names : NULL);

	text_clear(log);
	if (result != NVRTC_SUCCESS)
		return result;
	result = add_expressions(nvrtc, program, unit);
	if (result == NVRTC_SUCCESS)
		result = functions->compile(program, option_count, options);
	get_text(program, functions->log_size, functions->log, log);
	if (result == NVRTC_SUCCESS) {
		take_symbols(nvrtc, program, unit, symbols);
		result = to_ptx ? get_text(program, functions->ptx_size, functions->ptx, image)
				: get_text(program, functions->cubin_size, functions->cubin, image);
	}
	functions->destroy(&program);
	return result;
}

/* ---- what a refusal may mean ---- */
static bool is_of_toolkit(const struct header_set *headers, const char *file, size_t length)
{
	if (string_starts_with(file, "__nv_"))
		return true;
	for (size_t i = 0; headers && i < headers->count; i++)
		if (strlen(headers->names[i]) == length &&
			strncmp(headers->names[i], file, length) == 0)
			return true;
	return false;
}

/* The -D whose name stands in the line; NULL: none. */
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

/* Behind the first error, which is "FILE(LINE): error: ...", the line itself, and a mark. */
static void put_hint(
	const struct build_unit *unit, const struct header_set *headers, struct text *log)
{
	CLEANUP(text_release) struct text hinted = {0};
	const char *text = text_string(log), *line = strchr(text, '\n'), *mark = NULL, *rest = NULL;
	const char *macro = NULL;
	size_t length = 0;

	if (line && is_of_toolkit(headers, text, strcspn(text, "(\n")))
		macro = macro_in(unit, line + 1, &length);
	if (line)
		mark = strchr(line + 1, '\n');
	if (mark)
		rest = strchr(mark + 1, '\n');
	if (!rest)
		return;
	text_appendf(&hinted, "%.*s", (int)(rest + 1 - text), text);
	if (strstr(text, "__host__ function") && strstr(text, "cub/device/"))
		text_append(&hinted,
			"hint: <cub/cub.cuh> has the host's part, too; include what kernels "
			"use of it, as <cub/block/block_reduce.cuh>\n");
	else if (macro)
		text_appendf(&hinted,
			"hint: the macro %.*s has a name of that header's; \"as\": \"macro OTHER\" "
			"gives it another\n",
			(int)length, macro);
	else
		return;
	text_append(&hinted, rest + 1);
	text_clear(log);
	text_append(log, text_string(&hinted));
}

enum nvrtc_answer nvrtc_compile(struct nvrtc *nvrtc, const struct build_unit *unit,
	const struct header_set *headers, const char *arch, char **symbols, struct text *image,
	struct text *log)
{
	CLEANUP(memory_free)
	const char **all = memory_zeroed(unit->option_count + EXTRA_COUNT + 2, sizeof(*all));
	CLEANUP(memory_free) char *arch_option = string_format("-arch=%s", arch);
	bool to_ptx = string_starts_with(arch, "compute_");
	nvrtcResult result;

	do {
		size_t count = 0;

		for (size_t i = 0; i < unit->option_count; i++)
			all[count++] = unit->options[i];
		all[count++] = arch_option;
		all[count++] = "--ptxas-options=-v"; /* the report */
		for (size_t i = 0; i < EXTRA_COUNT; i++)
			if (!nvrtc->refused_extras[i])
				all[count++] = extras[i].option;
		result = compile_once(
			nvrtc, unit, headers, all, (int)count, to_ptx, symbols, image, log);
	} while (result == NVRTC_ERROR_INVALID_OPTION && refuse_extra(nvrtc, text_string(log)));
	/* both count their strings' end */
	while (log->length && log->data[log->length - 1] == '\0')
		log->length--;
	while (to_ptx && image->length && image->data[image->length - 1] == '\0')
		image->length--;
	if (result == NVRTC_SUCCESS && image->length)
		return NVRTC_COMPILED;
	if (result == NVRTC_ERROR_COMPILATION || result == NVRTC_ERROR_INVALID_OPTION) {
		put_hint(unit, headers, log);
		return NVRTC_REFUSED;
	}
	text_appendf(log, "%s\n",
		result == NVRTC_SUCCESS ? "the compiler succeeded and gave no code"
					: nvrtc->functions.error_string(result));
	return NVRTC_BROKEN;
}

enum status nvrtc_try(struct nvrtc *nvrtc, struct error *err)
{
	CLEANUP(text_release) struct text image = {0};
	CLEANUP(text_release) struct text log = {0};
	static char name[] = "trial.cu", source[] = "extern \"C\" __global__ void trial() {}\n";
	const struct build_unit unit = {.name = name, .source = source};

	/* PTX for an old architecture: every version knows it */
	if (nvrtc_compile(nvrtc, &unit, NULL, "compute_80", NULL, &image, &log) == NVRTC_COMPILED)
		return STATUS_OK;
	return error_set(err, STATUS_NO_DEVICE, "%s: cannot compile an empty kernel: %s",
		nvrtc->library.path, text_string(&log));
}
