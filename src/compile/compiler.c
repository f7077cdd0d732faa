/* SPDX-License-Identifier: MIT */
#include "compile/compiler.h"

#include "base/clock.h"
#include "base/file.h"
#include "compile/jobs.h"
#include "compile/nvrtc_find.h"
#include "compile/worker.h"
#include "process/host_limits.h"

static const double timeout_default_s = 120; /* per unit */

struct compiler {
	char *worker_path;
	struct compile_loaded nvrtc;
	struct jobs jobs;
};

/* ---- finding the NVRTC to work with ---- */
/* Enough for 110 MB from a slow disk and a trial compilation. */
static const double load_timeout_s = 60;

static enum status take_answer(
	const struct message *message, struct compile_loaded *loaded, struct error *err)
{
	struct compile_refusal refusal;

	if (message->kind == COMPILE_LOADED && message_unpack(message, &compile_loaded_record,
						       "worker-compile", loaded, err) == STATUS_OK)
		return STATUS_OK;
	if (message->kind == COMPILE_REFUSED &&
		message_unpack(message, &compile_refusal_record, "worker-compile", &refusal, err) ==
			STATUS_OK) {
		error_set(err, STATUS_NO_DEVICE, "%s", "");
		error_lines(err, refusal.reason);
		record_release(&compile_refusal_record, &refusal);
		return STATUS_NO_DEVICE;
	}
	return error_set(err, STATUS_NO_DEVICE, "the worker did not understand");
}

/* Tries one candidate; starts a worker if there is none. */
static enum status try_candidate(const char *path, const char *worker_path, struct worker *worker,
	struct compile_loaded *loaded, struct error *err)
{
	const struct compile_load load = {(char *)(uintptr_t)path};
	CLEANUP(message_release) struct message message = {0};
	CLEANUP(text_release) struct text frame = {0};
	CLEANUP(text_release) struct text how = {0};
	enum message_result result;

	if (!worker->pid)
		TRY(worker_start(worker, worker_path, "worker-compile", true, err));
	message_pack(COMPILE_LOAD, &compile_load_record, &load, &frame);
	worker_post(worker, &frame);
	result = message_receive(worker->from_fd, &worker->pending, load_timeout_s, &message);
	if (result == MESSAGE_READY)
		return take_answer(&message, loaded, err);
	worker_end(worker, &how);
	if (result == MESSAGE_NONE)
		return error_set(err, STATUS_NO_DEVICE, "%s: did not load within %.0f s", path,
			load_timeout_s);
	return error_set(err, STATUS_NO_DEVICE,
		"%s: the process that loaded it (%s worker-compile) %s", path, worker_path,
		text_string(&how));
}

static enum status refuse_too_new(const struct nvrtc_search *search, struct worker *worker,
	struct compile_loaded *loaded, struct error *err)
{
	enum status status = error_set(err, STATUS_NO_DEVICE,
		"%s: is %s, newer than the driver's CUDA %d.%d, which would refuse its code",
		loaded->path, loaded->identity, search->driver_cuda_version / 1000,
		search->driver_cuda_version % 1000 / 10);

	record_release(&compile_loaded_record, loaded);
	worker_end(worker, NULL); /* a library that was used is not safely unloaded */
	return status;
}

static void indent_lines(struct text *text, const char *lines)
{
	for (; *lines; lines += strspn(lines, "\n")) {
		size_t length = strcspn(lines, "\n");

		text_append(text, "\n  ");
		text_append_bytes(text, lines, length);
		lines += length;
	}
}

static enum status find_nvrtc(const struct nvrtc_search *search, const char *worker_path,
	struct worker *worker, struct compile_loaded *loaded, struct error *err)
{
	CLEANUP(nvrtc_candidates_release) struct nvrtc_candidates candidates = {0};
	CLEANUP(text_release) struct text refusals = {0};
	CLEANUP(text_release) struct text message = {0};
	enum status status = STATUS_NO_DEVICE;

	nvrtc_find(search, &candidates);
	for (size_t i = 0; i < candidates.count && status == STATUS_NO_DEVICE; i++) {
		const char *path = candidates.items[i].path;
		struct error why = {0};

		status = try_candidate(path, worker_path, worker, loaded, &why);
		/* the library killed it, or the kernel for want of memory */
		if (status != STATUS_OK && strstr(why.message, "was killed"))
			status = try_candidate(path, worker_path, worker, loaded, &why);
		if (status == STATUS_OK && search->driver_cuda_version &&
			loaded->major > search->driver_cuda_version / 1000)
			status = refuse_too_new(search, worker, loaded, &why);
		/* names that the loader does not know stand in the list of places */
		if (status != STATUS_OK &&
			(strchr(path, '/') || search->given ||
				!strstr(why.message, "cannot open shared object")))
			text_appendf(&refusals, "\n  %s", why.message);
		if (status != STATUS_OK && status != STATUS_NO_DEVICE)
			error_set(err, status, "%s", why.message);
	}
	if (status != STATUS_NO_DEVICE)
		return status;
	if (refusals.length)
		text_appendf(&message, "; tried:%s", refusals.data);
	text_append(&message, "\nlooked in:");
	indent_lines(&message, text_string(&candidates.places));
	error_set(err, STATUS_NO_DEVICE, "NVRTC: expected libnvrtc.so.N, found none that works");
	error_lines(err, message.data);
	return error_hint(err,
		"install the CUDA toolkit or the wheel nvidia-cuda-nvrtc, or name the "
		"library or its folder in TILETUNE_NVRTC");
}

/* folder: that of this program, borrowed. */
static struct nvrtc_search search_of(const struct compiler_options *options, const char *folder)
{
	struct nvrtc_search search;

	nvrtc_search_init(&search, options->nvrtc_path, options->driver_cuda_version);
	search.executable_folder = folder;
	return search;
}

char *compiler_places(const struct compiler_options *options)
{
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(executable);
	const struct nvrtc_search search = search_of(options, folder);
	struct nvrtc_candidates candidates;
	char *places;

	nvrtc_find(&search, &candidates);
	places = text_detach(&candidates.places);
	nvrtc_candidates_release(&candidates);
	return places;
}

static enum status open_with(
	const struct compiler_options *options, struct compiler *compiler, struct error *err)
{
	struct host_limits limits = host_limits_read("");
	struct jobs *jobs = &compiler->jobs;
	struct nvrtc_search search;
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(executable);
	struct worker first = {.stderr_fd = -1};
	enum status status;

	compiler->worker_path =
		string_copy(options->worker_path ? options->worker_path : executable);
	jobs->worker_path = compiler->worker_path;
	jobs->timeout_s = options->timeout_s > 0 ? options->timeout_s : timeout_default_s;
	jobs_open(jobs, options->workers ? options->workers : host_limits_workers(&limits));
	search = search_of(options, folder);
	status = find_nvrtc(&search, jobs->worker_path, &first, &compiler->nvrtc, err);
	if (status != STATUS_OK) {
		worker_end(&first, NULL);
		return status;
	}
	pool_adopt(&jobs->pool, &first);
	jobs->library_path = compiler->nvrtc.path;
	jobs->compiler = compiler->nvrtc.identity;
	toolkit_find(jobs->library_path, &jobs->toolkit);
	return options->cache_folder
		       ? cache_open(options->cache_folder, options->cache_seed, &jobs->cache, err)
		       : STATUS_OK;
}

enum status compiler_open(
	const struct compiler_options *options, struct compiler **compiler, struct error *err)
{
	struct compiler *opened = memory_zeroed(1, sizeof(*opened));
	const enum status status = open_with(options, opened, err);

	*compiler = status == STATUS_OK ? opened : NULL;
	if (status != STATUS_OK)
		compiler_close(opened);
	return status;
}

void compiler_close(struct compiler *compiler)
{
	if (!compiler)
		return;
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

void compiler_share(struct compiler *compiler, size_t parts)
{
	struct pool *pool = &compiler->jobs.pool;

	pool_rest(pool);
	pool->member_count = pool->member_count > parts ? pool->member_count / parts : 1;
}

unsigned compiler_worker_count(const struct compiler *compiler)
{
	return (unsigned)compiler->jobs.pool.member_count;
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
	pool_work(&compiler->jobs.pool);
	return STATUS_OK;
}

bool compiler_poll(struct compiler *compiler, double timeout_s, struct compile_result *result)
{
	double deadline = clock_seconds() + timeout_s;

	for (;;) {
		double left;

		pool_work(&compiler->jobs.pool);
		if (jobs_take(&compiler->jobs, result))
			return true;
		left = deadline - clock_seconds();
		if (!compiler->jobs.pending || (timeout_s >= 0 && left <= 0))
			return false;
		pool_wait(&compiler->jobs.pool, timeout_s < 0 ? -1 : left);
	}
}

size_t compiler_poll_fds(const struct compiler *compiler, struct pollfd *fds, size_t max)
{
	return pool_fds(&compiler->jobs.pool, fds, max);
}

RECORD_RELEASE(compile_result_release, compile_result_record);
