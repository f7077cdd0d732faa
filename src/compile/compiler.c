/* SPDX-License-Identifier: MIT */
#include "compile/compiler.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "compile/compiler_state.h"
#include "compile/host_limits.h"

static const double timeout_default_s = 120;

static enum status open_with(
	const struct compiler_options *options, struct compiler *compiler, struct error *err)
{
	struct host_limits limits = host_limits_read("");
	struct nvrtc_search search;
	char *executable = path_executable();
	char *folder = path_parent(executable);
	enum status status;

	compiler->worker_path =
		string_copy(options->worker_path ? options->worker_path : executable);
	compiler->timeout_s = options->timeout_s > 0 ? options->timeout_s : timeout_default_s;
	compiler->slot_count = options->workers ? options->workers : host_limits_workers(&limits);
	compiler->slots = memory_zeroed(compiler->slot_count, sizeof(*compiler->slots));
	nvrtc_search_init(&search, options->nvrtc_path, options->driver_cuda_version);
	search.executable_folder = folder;
	status = probe_run(
		&search, compiler->worker_path, &compiler->slots[0].worker, &compiler->nvrtc, err);
	if (status == STATUS_OK && options->cache_folder)
		status = cache_open(options->cache_folder, &compiler->cache, err);
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
	struct job *job;

	if (!compiler)
		return;
	workers_end(compiler);
	while ((job = job_queue_pop(&compiler->queue)))
		job_free(job);
	finished_release(compiler);
	cache_close(compiler->cache);
	probe_release(&compiler->nvrtc);
	free(compiler->slots);
	free(compiler->worker_path);
	free(compiler);
}

const char *compiler_identity(const struct compiler *compiler)
{
	return compiler->nvrtc.identity;
}

const char *compiler_path(const struct compiler *compiler)
{
	return compiler->nvrtc.library_path;
}

unsigned compiler_worker_count(const struct compiler *compiler)
{
	return compiler->slot_count;
}

size_t compiler_pending(const struct compiler *compiler)
{
	return compiler->pending;
}

const char *compiler_cache_problem(const struct compiler *compiler)
{
	return compiler->cache_problem.status == STATUS_OK ? NULL : compiler->cache_problem.message;
}

enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, uint64_t ticket, struct error *err)
{
	struct job *job, *same;
	struct compile_result result;

	if (!string_starts_with(arch, "sm_") && !string_starts_with(arch, "compute_"))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an architecture like sm_90a, found \"%s\"", unit->name, arch);
	job = job_new(unit, arch, compiler->nvrtc.identity, ticket);
	same = job_table_find(&compiler->table, job->key);
	compiler->pending++;
	if (same) {
		job->next = same->followers;
		same->followers = job;
		text_release(&job->unit);
	} else if (compiler->cache && cache_get(compiler->cache, job->key, &result)) {
		finish_ticket(compiler, result, ticket, true);
		job_free(job);
	} else {
		job_table_add(&compiler->table, job);
		job_queue_push(&compiler->queue, job);
		workers_advance(compiler);
	}
	return STATUS_OK;
}

bool compiler_poll(struct compiler *compiler, double timeout_s, struct compile_result *result)
{
	double deadline = clock_seconds() + timeout_s;

	for (;;) {
		double left;

		workers_advance(compiler);
		if (finished_take(compiler, result))
			return true;
		left = deadline - clock_seconds();
		if (!compiler->pending || (timeout_s >= 0 && left <= 0))
			return false;
		workers_wait(compiler, timeout_s < 0 ? -1 : left);
	}
}
