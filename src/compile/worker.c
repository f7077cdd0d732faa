/* SPDX-License-Identifier: MIT */
#include "compile/worker.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <math.h>

#include "base/clock.h"
#include "base/file.h"
#include "compile/cubin.h"
#include "compile/nvrtc.h"
#include "compile/ptxas_report.h"
#include "compile/tile.h"
#include "source/kernel_source.h"

/* A compilation takes 120 to 650 MB of memory. A compilation that exceeds this limit would not
 * end. */
static const rlim_t memory_limit_bytes = (rlim_t)6 << 30;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

static void limit_resources(void)
{
	struct rlimit limit = {0, 0};
	int fd;

	setrlimit(RLIMIT_CORE, &limit);
	if (!SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0 &&
		limit.rlim_cur > memory_limit_bytes) {
		limit.rlim_cur = memory_limit_bytes;
		setrlimit(RLIMIT_DATA, &limit);
	}
	/* if memory is short, this process should be killed, not the one with the journal */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		file_write_all(fd, "900", 3, NULL);
		close(fd);
	}
}

/* Returns false, with the reason in remarks, if an entry is missing. cubin is NULL if its layout is
 * not known; then the report of ptxas must name the entry. */
static bool has_entries(
	const struct cubin *cubin, const struct compile_result *result, struct text *remarks)
{
	for (size_t i = 0; i < result->entry_count; i++) {
		const struct compiler_entry *entry = &result->entries[i];
		const char *name;

		if (cubin ? cubin_has_kernel(cubin, entry->symbol)
			  : entry->resources.regs_per_thread >= 0)
			continue;
		text_appendf(remarks,
			"error: there is no kernel named \"%s\"; the source has:", entry->name);
		for (size_t j = 0; cubin && j < 8 && (name = cubin_kernel_name(cubin, j)); j++)
			text_appendf(remarks, " %s", name);
		text_append_char(remarks, '\n');
		return false;
	}
	return true;
}

/* Explains that an entry such as "sgemn<32>" does not exist. */
static void explain_entries(const struct build_unit *unit, struct text *log)
{
	CLEANUP(kernel_source_release) struct kernel_source source = {0};
	CLEANUP(memory_free) const char **names = NULL;
	struct text said = {0};

	kernel_source_read(unit->source, NULL, &source);
	names = memory_zeroed(source.kernel_count + 1, sizeof(*names));
	for (size_t i = 0; i < source.kernel_count; i++)
		names[i] = source.kernels[i].name;
	for (size_t i = 0; i < unit->entry_count; i++) {
		CLEANUP(memory_free)
		char *name = string_copy_bytes(unit->entries[i], strcspn(unit->entries[i], "<"));
		struct error hint = {0};

		if (strchr(name, ':') || name_find(name, names) >= 0)
			continue;
		name_hint_or_list(name, names, &hint);
		text_appendf(&said, "error: there is no kernel named \"%s\"%s%s\n",
			unit->entries[i], hint.hint[0] ? "; " : "", hint.hint);
	}
	text_append(&said, text_string(log));
	text_release(log);
	*log = said;
}

/* Finds the mangled name (_Z4gemmPf) of an entry (gemm) if only other kernels have C linkage. */
static void find_symbols(const struct cubin *cubin, struct compile_result *result)
{
	for (size_t i = 0; i < result->entry_count; i++) {
		struct compiler_entry *entry = &result->entries[i];
		CLEANUP(memory_free)
		char *mangled = string_format("_Z%zu%s", strlen(entry->name), entry->name);
		const char *name, *found = NULL;
		size_t count = 0;

		if (cubin_has_kernel(cubin, entry->symbol))
			continue;
		for (size_t k = 0; (name = cubin_kernel_name(cubin, k)) != NULL; k++)
			if (string_starts_with(name, mangled) && name[strlen(mangled)] != 'I') {
				found = name;
				count++;
			}
		if (count == 1) {
			free(entry->symbol);
			entry->symbol = string_copy(found);
		}
	}
}

/* Returns a message if the source redefines one of our macros, else NULL. */
static char *find_redefined(const char *log, const struct build_unit *unit)
{
	static const char mark[] = "redefinition of macro \"";
	const char *at = log;

	while ((at = strstr(at, mark)) != NULL) {
		const char *name = at + strlen(mark), *line = at;
		const size_t length = strcspn(name, "\"");

		for (size_t i = 0; i < unit->option_count; i++) {
			const char *option = unit->options[i];

			if (strncmp(option, "-D", 2) != 0 || strcspn(option + 2, "=") != length ||
				strncmp(option + 2, name, length) != 0)
				continue;
			while (line > log && line[-1] != '\n')
				line--;
			return string_format(
				"%.*s: error: the source defines %.*s, which is also set with %s: "
				"write #ifndef %.*s before its #define and #endif after it\n",
				(int)strcspn(line, ":"), line, (int)length, name, option,
				(int)length, name);
		}
		at = name;
	}
	return NULL;
}

#define TOO_MUCH_SMEM "uses too much shared data"

/* Explains a failed assembly, because with -v NVRTC does not return the assembler's error. */
static void explain_silence(const char *report, struct text *log)
{
	static const char mark[] = " bytes smem";
	enum {
		SMEM_STATIC_BYTES = 48 << 10
	};

	for (const char *at = report; (at = strstr(at, mark)) != NULL; at += strlen(mark)) {
		const char *number = at;

		while (number > report && isdigit((unsigned char)number[-1]))
			number--;
		if (strtol(number, NULL, 10) > SMEM_STATIC_BYTES) {
			text_appendf(log, "error: the kernel " TOO_MUCH_SMEM " (%.*s bytes)\n",
				(int)(at - number), number);
			return;
		}
	}
	text_append(log, "the compiler gave no message\n");
}

static void judge(enum outcome answer, const struct build_unit *unit, const struct text *log,
	bool is_cubin, struct compile_result *result)
{
	CLEANUP(memory_free) char *redefined = NULL;
	struct text rest = {0};
	struct cubin cubin;
	struct error err;
	const bool has_code = answer == OUTCOME_OK && is_cubin,
		   readable = has_code && cubin_open(&cubin, result->cubin.data,
						  result->cubin.length, &err) == STATUS_OK;

	if (readable)
		find_symbols(&cubin, result);
	ptxas_report_read(text_string(log), result->entries, result->entry_count, &rest);
	if (unit->is_tile && readable)
		for (size_t i = 0; i < result->entry_count; i++)
			cubin_resources(
				&cubin, result->entries[i].symbol, &result->entries[i].resources);
	result->outcome = answer;
	if (has_code) {
		if (!has_entries(readable ? &cubin : NULL, result, &rest))
			result->outcome =
				readable ? OUTCOME_COMPILE_FAILED : OUTCOME_COMPILE_CRASHED;
		if (!readable)
			text_appendf(&rest, "%s\n", err.message);
	}
	redefined = find_redefined(text_string(&rest), unit);
	if (redefined && result->outcome == OUTCOME_OK) {
		result->outcome = OUTCOME_COMPILE_FAILED;
		text_clear(&rest);
		text_append(&rest, redefined);
	}
	if (result->outcome != OUTCOME_OK) {
		const enum outcome outcome = result->outcome;

		if (strstr(text_string(&rest), "__nv_name_map"))
			explain_entries(unit, &rest);
		if (!rest.length || !text_string(&rest)[strspn(text_string(&rest), " \t\r\n")])
			explain_silence(text_string(log), &rest);
		compile_result_release(result);
		result->outcome = outcome;
		result->exceeds_smem = outcome == OUTCOME_COMPILE_FAILED &&
				       strstr(text_string(&rest), TOO_MUCH_SMEM);
	}
	result->log = text_detach(&rest);
}

static enum status answer_load(struct nvrtc *nvrtc, struct toolkit *toolkit, const char *path,
	int reply_fd, struct error *err)
{
	struct compile_loaded loaded;
	struct compile_answer answer = {.loaded = &loaded};

	if (nvrtc_load(nvrtc, path, &answer.error) != STATUS_OK ||
		nvrtc_try(nvrtc, &answer.error) != STATUS_OK) {
		nvrtc_release(nvrtc);
		answer.failed = true;
		answer.loaded = NULL;
	} else {
		toolkit_find(nvrtc->library.path, toolkit);
		loaded =
			(struct compile_loaded){nvrtc->library.path, nvrtc->identity, nvrtc->major};
	}
	return line_send(reply_fd, &compile_answer_record, &answer, err);
}

static bool load_tile_nvrtc(struct nvrtc *nvrtc, const char *path, struct text *log)
{
	struct error err = {0};

	if (nvrtc->library.handle)
		return true;
	if (nvrtc_load(nvrtc, path, &err) == STATUS_OK && nvrtc->functions.tile_ir)
		return true;
	text_appendf(log, "error: %s\n",
		err.message[0] ? err.message : "tile kernels need NVRTC 13.3 or newer");
	return false;
}

static enum outcome compile_tile(struct nvrtc *nvrtc, const struct compile_unit *request,
	char **symbols, struct text *cubin, struct text *log)
{
	CLEANUP(text_release) struct text tile_ir = {0};
	CLEANUP(memory_free) char *include = path_join(request->tile_folder, "include");
	/* neither NVRTC nor the assembler accepts the suffix of an architecture such as sm_90a */
	const int compute_capability = (int)strtol(request->arch + strlen("sm_"), NULL, 10);
	CLEANUP(memory_free) char *arch = string_format("sm_%d", compute_capability);
	CLEANUP(memory_free) char *virtual_arch = string_format("compute_%d", compute_capability);
	const struct toolkit toolkit = {.folders = {include}, .folder_count = 1};
	enum outcome answer;

	if (string_starts_with(request->arch, "compute_")) {
		text_append(log, "error: tile kernels cannot be compiled to PTX\n");
		return OUTCOME_COMPILE_FAILED;
	}
	if (!load_tile_nvrtc(nvrtc, request->tile_nvrtc, log))
		return OUTCOME_COMPILE_CRASHED;
	answer = nvrtc_compile(
		nvrtc, &request->unit, &toolkit, virtual_arch, symbols, &tile_ir, log);
	if (answer != OUTCOME_OK)
		return answer;
	return tile_assemble(request->tile_folder, arch, &tile_ir, cubin, log);
}

static enum status answer_unit(struct nvrtc *nvrtc, struct nvrtc *tile_nvrtc,
	const struct toolkit *toolkit, struct compile_unit *request, int reply_fd,
	struct error *err)
{
	struct compile_result result = {0};
	struct text log = {0};
	enum outcome answer;
	enum status status;
	CLEANUP(memory_free) char **symbols = NULL;
	struct build_unit *unit = &request->unit;
	double start, seconds;

	unit->is_tile = request->tile_folder != NULL;
	start = clock_seconds();
	result.entry_count = unit->entry_count;
	result.entries = memory_zeroed(unit->entry_count + 1, sizeof(*result.entries));
	symbols = memory_zeroed(unit->entry_count + 1, sizeof(*symbols));
	answer = unit->is_tile ? compile_tile(tile_nvrtc, request, symbols, &result.cubin, &log)
			       : nvrtc_compile(nvrtc, unit, toolkit, request->arch, symbols,
					 &result.cubin, &log);
	for (size_t i = 0; i < unit->entry_count; i++)
		result.entries[i] = (struct compiler_entry){.name = string_copy(unit->entries[i]),
			.symbol = symbols[i] ? symbols[i] : string_copy(unit->entries[i])};
	seconds = clock_seconds() - start;
	judge(answer, unit, &log, !string_starts_with(request->arch, "compute_"), &result);
	result.seconds = seconds;
	status = line_send(
		reply_fd, &compile_answer_record, &(struct compile_answer){.result = &result}, err);
	compile_result_release(&result);
	text_release(&log);
	return status;
}

int compile_worker_main(void)
{
	struct nvrtc nvrtc = {0}, tile_nvrtc = {0};
	struct toolkit toolkit = {0};
	struct text pending = {0}, line;
	struct error err = {0};
	enum status status = STATUS_OK;
	int reply_fd = worker_begin();

	if (reply_fd < 0)
		return STATUS_FAILED;
	limit_resources();
	while (status == STATUS_OK &&
		line_receive(STDIN_FILENO, &pending, -1, &line) == MESSAGE_READY) {
		struct compile_request request = {0};

		status =
			line_read(&compile_request_record, &line, "worker-compile", &request, &err);
		if (request.load && !nvrtc.library.handle)
			status = answer_load(&nvrtc, &toolkit, request.load, reply_fd, &err);
		else if (request.compile && nvrtc.library.handle)
			status = answer_unit(
				&nvrtc, &tile_nvrtc, &toolkit, request.compile, reply_fd, &err);
		else
			status = error_set(&err, STATUS_FAILED,
				"worker-compile: the input is not a request; only tiletune itself "
				"starts this command");
		record_release(&compile_request_record, &request);
		text_release(&line);
	}
	text_release(&pending);
	toolkit_release(&toolkit);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.message);
	return (int)status;
}

static const struct record_member unit_members[] = {
	RECORD_VALUE(struct compile_unit, unit.name, "name"),
	RECORD_VALUE(struct compile_unit, unit.source, "source"),
	RECORD_VALUE(struct compile_unit, arch, "arch"),
	RECORD_VALUES(struct compile_unit, unit.options, unit.option_count, "options"),
	RECORD_VALUES(struct compile_unit, unit.entries, unit.entry_count, "entries"),
	RECORD_VALUE(struct compile_unit, tile_folder, "tile_folder", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct compile_unit, tile_nvrtc, "tile_nvrtc", .flags = RECORD_OPTIONAL),
};
static RECORD_DEFINE(struct compile_unit, unit_record, unit_members, .name = "compile_unit");

static const struct record_member request_members[] = {
	RECORD_VALUE(struct compile_request, load, "load", .flags = RECORD_OPTIONAL),
	RECORD_POINTER(
		struct compile_request, compile, unit_record, "compile", .flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(
	struct compile_request, compile_request_record, request_members, .name = "compile_request");

static const struct record_member loaded_members[] = {
	RECORD_VALUE(struct compile_loaded, path, "path"),
	RECORD_VALUE(struct compile_loaded, identity, "identity"),
	RECORD_VALUE(struct compile_loaded, major, "major"),
};
RECORD_DEFINE(
	struct compile_loaded, compile_loaded_record, loaded_members, .name = "compile_loaded");

static const struct record_member entry_members[] = {
	RECORD_VALUE(struct compiler_entry, name, "name"),
	RECORD_VALUE(struct compiler_entry, symbol, "symbol"),
	RECORD_NESTED(struct compiler_entry, resources, kernel_resources_record, "resources"),
};
static RECORD_DEFINE(struct compiler_entry, entry_record, entry_members, .name = "compiler_entry");

static enum status result_check(
	void *value, const struct json_at *at, void *context, struct error *err)
{
	const struct compile_result *result = value;

	(void)context;
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED &&
		result->outcome != OUTCOME_COMPILE_CRASHED &&
		result->outcome != OUTCOME_COMPILE_TIMEOUT)
		return json_invalid(at, err, "the outcome is not one of a compilation");
	return STATUS_OK;
}

static const struct record_member result_members[] = {
	RECORD_ENUM(struct compile_result, outcome, outcome_names, "outcome"),
	RECORD_VALUE(struct compile_result, seconds, "seconds", .low = 0, .high = HUGE_VAL),
	RECORD_VALUE(struct compile_result, exceeds_smem, "exceeds_smem", .flags = RECORD_OPTIONAL),
	RECORD_VALUE(struct compile_result, log, "log"),
	RECORD_VALUE(struct compile_result, cubin, "cubin"),
	RECORD_RECORDS(struct compile_result, entries, entry_count, entry_record, "entries"),
};
RECORD_DEFINE(struct compile_result, compile_result_record, result_members,
	.name = "compile_result", .check = result_check);

static const struct record_member answer_members[] = {
	RECORD_POINTER(struct compile_answer, loaded, compile_loaded_record, "loaded",
		.flags = RECORD_OPTIONAL),
	RECORD_ERROR(struct compile_answer),
	RECORD_POINTER(struct compile_answer, result, compile_result_record, "result",
		.flags = RECORD_OPTIONAL),
};
RECORD_DEFINE(
	struct compile_answer, compile_answer_record, answer_members, .name = "compile_answer");
