/* SPDX-License-Identifier: MIT
 *
 * The worker process: loads one NVRTC, compiles what it is sent, reads logs and cubins (so that
 * whatever is wrong with them stays here), until its input closes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "compile/compiler.h"
#include "compile/cubin.h"
#include "compile/nvrtc.h"
#include "compile/ptxas_report.h"
#include "compile/result.h"
#include "compile/wire.h"

/* A compilation takes 120 to 650 MB; one that takes this much has run away. */
static const rlim_t memory_limit_bytes = (rlim_t)6 << 30;

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Only frames may go to the parent's pipe, whatever libraries print. */
static int take_stdout(void)
{
	int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

	if (fd >= 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	return fd;
}

static void limit_resources(void)
{
	struct rlimit limit = {0, 0};
	int fd;

	setrlimit(RLIMIT_CORE, &limit); /* a dump of the compiler helps nobody and takes seconds */
	if (!SANITIZED && getrlimit(RLIMIT_DATA, &limit) == 0 &&
		limit.rlim_cur > memory_limit_bytes) {
		limit.rlim_cur = memory_limit_bytes;
		setrlimit(RLIMIT_DATA, &limit);
	}
	/* when memory is short, this process goes first and not the one with the journal */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		file_write_all(fd, "900", 3, NULL);
		close(fd);
	}
}

static enum status answer_load(
	struct nvrtc *nvrtc, const struct text *payload, int reply_fd, struct error *err)
{
	struct wire_reader reader = {.at = payload->data, .left = payload->length};
	struct text reply = {0};
	char *path = wire_get_string(&reader);
	bool try = wire_get_u64(&reader) != 0;
	struct error why = {0};
	enum status status;

	nvrtc_release(nvrtc);
	status = nvrtc_load(nvrtc, path, &why);
	if (status == STATUS_OK && try)
		status = nvrtc_try(nvrtc, &why);
	free(path);
	if (status != STATUS_OK) {
		wire_put_string(&reply, why.message);
		nvrtc_release(nvrtc);
	} else {
		wire_put_string(&reply, nvrtc->library.path);
		wire_put_string(&reply, nvrtc->identity);
		wire_put_u64(&reply, (uint64_t)nvrtc->major);
	}
	status = message_send(reply_fd, status == STATUS_OK ? WIRE_LOADED : WIRE_REFUSED,
		reply.data, reply.length, err);
	text_release(&reply);
	return status;
}

/* What the log does not say, the cubin does; where both speak and differ, the cubin is what will
 * run. */
static void merge_cubin(
	struct compiler_entry *entry, const struct cubin_kernel *kernel, struct text *remarks)
{
	struct kernel_resources *resources = &entry->resources;

	if (resources->regs_per_thread >= 0 && kernel->regs_per_thread >= 0 &&
		resources->regs_per_thread != kernel->regs_per_thread)
		text_appendf(remarks, "%s: %d registers in the report, %d in the cubin\n",
			entry->name, resources->regs_per_thread, kernel->regs_per_thread);
	if (kernel->regs_per_thread >= 0)
		resources->regs_per_thread = kernel->regs_per_thread;
	if (resources->smem_static_bytes < 0)
		resources->smem_static_bytes = kernel->smem_static_bytes;
	if (resources->stack_bytes < 0)
		resources->stack_bytes = kernel->stack_bytes;
	if (resources->barriers < 0)
		resources->barriers = kernel->barriers;
}

/* False, and the reason in remarks, where an entry is neither in the report nor in the cubin.
 * cubin: NULL if it cannot be read (a later layout than we know): then the report must do. */
static bool read_entries(
	const struct cubin *cubin, struct compile_result *result, struct text *remarks)
{
	for (size_t i = 0; i < result->entry_count; i++) {
		struct compiler_entry *entry = &result->entries[i];
		struct cubin_kernel kernel;
		const char *name;

		if (cubin && cubin_kernel_find(cubin, entry->name, &kernel)) {
			merge_cubin(entry, &kernel, remarks);
			continue;
		}
		if (entry->resources.regs_per_thread >= 0)
			continue;
		text_appendf(remarks,
			"error: no kernel named \"%s\" (extern \"C\"?); there are:", entry->name);
		for (size_t j = 0; cubin && j < 8 && (name = cubin_kernel_name(cubin, j)); j++)
			text_appendf(remarks, " %s", name);
		text_append_char(remarks, '\n');
		return false;
	}
	return true;
}

static void entries_free(struct compile_result *result)
{
	for (size_t i = 0; i < result->entry_count; i++)
		free(result->entries[i].name);
	free(result->entries);
	result->entries = NULL;
	result->entry_count = 0;
}

/* Fills outcome, entries and log from what the compiler gave. */
static void judge(enum nvrtc_answer answer, const struct text *log, bool is_cubin,
	struct compile_result *result)
{
	struct text rest = {0}, useful = {0};
	struct cubin cubin;
	struct error err;

	ptxas_report_read(text_string(log), result->entries, result->entry_count, &rest);
	result->outcome = answer == NVRTC_COMPILED  ? OUTCOME_OK
			  : answer == NVRTC_REFUSED ? OUTCOME_COMPILE_FAILED
						    : OUTCOME_COMPILE_CRASHED;
	if (answer == NVRTC_COMPILED && is_cubin) {
		bool readable = cubin_open(&cubin, result->cubin.data, result->cubin.length,
					&err) == STATUS_OK;

		if (!read_entries(readable ? &cubin : NULL, result, &rest))
			result->outcome =
				readable ? OUTCOME_COMPILE_FAILED : OUTCOME_COMPILE_CRASHED;
		if (!readable)
			text_appendf(&rest, "%s\n", err.message);
	}
	if (result->outcome != OUTCOME_OK) {
		ptxas_report_shorten(text_string(&rest), &useful);
		text_release(&rest);
		rest = useful;
		text_release(&result->cubin);
		entries_free(result);
	}
	result->log = text_detach(&rest);
}

static enum status answer_compile(
	struct nvrtc *nvrtc, const struct text *payload, int reply_fd, struct error *err)
{
	struct wire_reader reader = {.at = payload->data, .left = payload->length};
	char *name = wire_get_string(&reader), *source = wire_get_string(&reader);
	char *arch = wire_get_string(&reader);
	size_t option_count, entry_count;
	char **options = wire_get_strings(&reader, &option_count);
	char **entries = wire_get_strings(&reader, &entry_count);
	struct compile_result result = {.entry_count = entry_count};
	struct text log = {0}, reply = {0};
	enum nvrtc_answer answer;
	enum status status;
	double start = clock_seconds();

	if (reader.bad || !nvrtc->library.handle)
		BUG("a unit that cannot be read, or came before a library");
	result.entries = memory_zeroed(entry_count + 1, sizeof(*result.entries));
	for (size_t i = 0; i < entry_count; i++)
		result.entries[i].name = string_copy(entries[i]);
	answer = nvrtc_compile(
		nvrtc, name, source, arch, options, option_count, &result.cubin, &log);
	result.seconds = clock_seconds() - start;
	judge(answer, &log, !string_starts_with(arch, "compute_"), &result);
	compile_result_pack(&result, &reply);
	status = message_send(reply_fd, WIRE_COMPILED, reply.data, reply.length, err);
	compile_result_release(&result);
	text_release(&reply);
	text_release(&log);
	wire_strings_free(entries, entry_count);
	wire_strings_free(options, option_count);
	free(arch);
	free(source);
	free(name);
	return status;
}

int compile_worker_main(void)
{
	struct nvrtc nvrtc = {0};
	struct text pending = {0};
	struct message message;
	struct error err = {0};
	enum status status = STATUS_OK;
	int reply_fd;

	child_follow_parent();
	reply_fd = take_stdout();
	if (reply_fd < 0)
		return STATUS_FAILED;
	limit_resources();
	while (status == STATUS_OK &&
		message_receive(STDIN_FILENO, &pending, -1, &message) == MESSAGE_READY) {
		if (message.kind == WIRE_LOAD)
			status = answer_load(&nvrtc, &message.payload, reply_fd, &err);
		else if (message.kind == WIRE_COMPILE)
			status = answer_compile(&nvrtc, &message.payload, reply_fd, &err);
		else
			status = error_set(&err, STATUS_FAILED,
				"worker-compile: expected frames on its standard input");
		message_release(&message);
	}
	text_release(&pending);
	if (status != STATUS_OK)
		fprintf(stderr, "%s\n", err.message);
	return (int)status;
}
