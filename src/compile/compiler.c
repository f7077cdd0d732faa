/* SPDX-License-Identifier: MIT */
#include "compile/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "compile/probe.h"
#include "process/host_limits.h"

static const double timeout_default_s = 120;

struct compiler {
	char *worker_path;
	struct compile_loaded nvrtc;
	struct compile_workers workers;
	struct jobs jobs;
};

static enum status open_with(
	const struct compiler_options *options, struct compiler *compiler, struct error *err)
{
	struct host_limits limits = host_limits_read("");
	struct compile_workers *workers = &compiler->workers;
	struct nvrtc_search search;
	char *executable = path_executable();
	char *folder = path_parent(executable);
	enum status status;

	compiler->worker_path =
		string_copy(options->worker_path ? options->worker_path : executable);
	workers->path = compiler->worker_path;
	workers->timeout_s = options->timeout_s > 0 ? options->timeout_s : timeout_default_s;
	workers->slot_count = options->workers ? options->workers : host_limits_workers(&limits);
	workers->slots = memory_zeroed(workers->slot_count, sizeof(*workers->slots));
	nvrtc_search_init(&search, options->nvrtc_path, options->driver_cuda_version);
	search.executable_folder = folder;
	status = probe_run(&search, workers->path, &workers->slots[0], &compiler->nvrtc, err);
	workers->library_path = compiler->nvrtc.path;
	compiler->jobs.compiler = compiler->nvrtc.identity;
	if (status == STATUS_OK && options->cache_folder)
		status = cache_open(options->cache_folder, &compiler->jobs.cache, err);
	free(folder);
	free(executable);
	return status;
}

enum status compiler_open(
	const struct compiler_options *options, struct compiler **compiler, struct error *err)
{
	struct compiler *opened = memory_zeroed(1, sizeof(*opened));
	enum status status = open_with(options, opened, err);

	*compiler = NULL;
	if (status != STATUS_OK) {
		compiler_close(opened);
		return status;
	}
	*compiler = opened;
	return STATUS_OK;
}

void compiler_close(struct compiler *compiler)
{
	if (!compiler)
		return;
	compile_workers_end(&compiler->workers);
	jobs_release(&compiler->jobs);
	record_release(&compile_loaded_record, &compiler->nvrtc);
	free(compiler->worker_path);
	free(compiler);
}

const char *compiler_identity(const struct compiler *compiler)
{
	return compiler->nvrtc.identity;
}

const char *compiler_path(const struct compiler *compiler)
{
	return compiler->nvrtc.path;
}

unsigned compiler_worker_count(const struct compiler *compiler)
{
	return compiler->workers.slot_count;
}

size_t compiler_pending(const struct compiler *compiler)
{
	return compiler->jobs.pending;
}

const char *compiler_cache_problem(const struct compiler *compiler)
{
	const struct error *problem = &compiler->jobs.cache_problem;

	return problem->status == STATUS_OK ? NULL : problem->message;
}

enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, uint64_t ticket, struct error *err)
{
	if (!string_starts_with(arch, "sm_") && !string_starts_with(arch, "compute_"))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an architecture like sm_90a, found \"%s\"", unit->name, arch);
	jobs_submit(&compiler->jobs, unit, arch, ticket);
	compile_workers_advance(&compiler->workers, &compiler->jobs);
	return STATUS_OK;
}

bool compiler_poll(struct compiler *compiler, double timeout_s, struct compile_result *result)
{
	double deadline = clock_seconds() + timeout_s;

	for (;;) {
		double left;

		compile_workers_advance(&compiler->workers, &compiler->jobs);
		if (jobs_take(&compiler->jobs, result))
			return true;
		left = deadline - clock_seconds();
		if (!compiler->jobs.pending || (timeout_s >= 0 && left <= 0))
			return false;
		compile_workers_wait(&compiler->workers, timeout_s < 0 ? -1 : left);
	}
}

size_t compiler_poll_fds(const struct compiler *compiler, struct pollfd *fds, size_t max)
{
	return compile_workers_fds(&compiler->workers, fds, max);
}

void compile_result_release(struct compile_result *result)
{
	record_release(&compile_result_record, result);
}
