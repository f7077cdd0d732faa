/* SPDX-License-Identifier: MIT */
#include "compile/compiler.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "compile/cache.h"
#include "compile/nvrtc_find.h"
#include "compile/ptxas_report.h"
#include "compile/tile.h"
#include "compile/toolkit.h"
#include "compile/worker.h"
#include "process/host_limits.h"
#include "process/pool.h"

static const double timeout_default_s = 120; /* time limit per unit */
/* time limit to read 110 MB from a slow disk and compile a test kernel */
enum {
	LOAD_SECONDS = 60
};

struct compiler {
	char *worker_path;
	struct compile_loaded nvrtc;
	struct cache *cache;        /* may be NULL */
	struct cache *temporary;    /* stores kernels that `cache` cannot store; may be NULL */
	struct error cache_problem; /* the first failure to write */
	struct toolkit toolkit;
	struct tile_toolkit tile; /* searched for at the first tile kernel */
	struct error tile_problem;
	/* results have arrived since the last poll */
	double timeout_s;
	struct pool pool;
	size_t pending;
	bool has_results;
};

struct job {
	struct pool_task task;         /* must be the first member */
	struct compile_result *result; /* owned by the submitter */
	const char *compiler;          /* identity of the compiler, borrowed */
	char key[HASH_SIZE];
	char *name, *arch;
	struct text line;
};

static void job_free(struct job *job)
{
	text_release(&job->line);
	free(job->arch);
	free(job->name);
	free(job);
}

static void shorten_log(const char *name, struct compile_result *result)
{
	const char *path = getenv(COMPILER_LOG);
	struct text useful = {0};

	ptxas_report_shorten(result->log, &useful);
	if (path && *path) {
		CLEANUP(text_release) struct text whole = {0};
		struct error err = {0};
		const int fd = file_open_append(path, &err);

		text_appendf(&whole, "== %s: %s\n%s\n", name, outcome_name(result->outcome),
			result->log);
		if (fd < 0 || file_write_all(fd, whole.data, whole.length, &err) != STATUS_OK)
			text_appendf(&useful, "(" COMPILER_LOG ": %s)\n", err.message);
		if (fd >= 0)
			close(fd);
	}
	free(result->log);
	result->log = text_detach(&useful);
}

/* Takes ownership of job and result. */
static void answer(
	struct compiler *compiler, struct job *job, struct compile_result result, bool from_cache)
{
	if (result.outcome != OUTCOME_OK)
		shorten_log(job->name, &result);
	*job->result = result;
	job->result->from_cache = from_cache;
	compiler->pending--;
	compiler->has_results = true;
	job_free(job);
}

bool compile_is_done(const struct compile_result *result)
{
	return result->log != NULL;
}

/* Stores a result, in a temporary cache if the cache fails, so that a GPU's worker can read it. */
static void store(struct compiler *compiler, const struct job *job, struct compile_result *result)
{
	const struct cache_entry entry = {
		job->name, job->arch, (char *)(uintptr_t)job->compiler, *result};
	struct error err = {0};

	/* other outcomes may be caused by the machine */
	if (result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED)
		return;
	if (compiler->cache &&
		cache_put(compiler->cache, job->key, &entry, &result->path, &err) == STATUS_OK)
		return;
	if (compiler->cache && compiler->cache_problem.status == STATUS_OK)
		compiler->cache_problem = err;
	if (compiler->temporary || cache_open_temporary(&compiler->temporary, NULL) == STATUS_OK)
		(void)cache_put(compiler->temporary, job->key, &entry, &result->path, NULL);
}

/* Takes ownership of job and result. */
static void compiler_finish(
	struct compiler *compiler, struct job *job, struct compile_result result)
{
	store(compiler, job, &result);
	answer(compiler, job, result, false);
}

static void post_load(struct worker *worker, const char *path)
{
	const struct compile_request request = {.load = (char *)(uintptr_t)path};
	CLEANUP(text_release) struct text line = {0};

	record_append(&compile_request_record, &request, &line);
	worker_post(worker, &line);
}

static enum status compiler_start(struct pool *pool, struct worker *worker, struct error *err)
{
	const struct compiler *compiler = pool->context;

	TRY(worker_start(worker, compiler->worker_path, "worker-compile", true, err));
	post_load(worker, compiler->nvrtc.path);
	return STATUS_OK;
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	(void)context;
	worker_post(worker, &((struct job *)task)->line);
	return true;
}

static enum status read_answer(
	const struct text *line, struct compile_answer *answer, struct error *err)
{
	*answer = (struct compile_answer){0};
	return line_read(&compile_answer_record, line, "worker-compile", answer, err);
}

static enum pool_event take_message(void *context, struct worker *worker, bool handshake,
	struct pool_task *task, const struct text *line, struct text *why)
{
	struct compile_answer answer;
	enum pool_event event = POOL_FAILED;

	(void)worker;
	if (read_answer(line, &answer, NULL) != STATUS_OK)
		return POOL_FAILED;
	if (answer.failed) {
		text_append(why, answer.error.message);
		event = POOL_REFUSED;
	} else if (handshake && answer.loaded) {
		event = POOL_READY;
	} else if (answer.result && task) {
		compiler_finish(context, (struct job *)task, *answer.result);
		*answer.result = (struct compile_result){0};
		event = POOL_DONE;
	}
	record_release(&compile_answer_record, &answer);
	return event;
}

static void compiler_fail(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct compiler *compiler = context;
	const bool is_late = end == POOL_TIMED_OUT;
	char *log =
		is_late ? string_format("the compiler took longer than %.3g s", compiler->timeout_s)
			: string_format("%s%s",
				  end == POOL_BROKEN ? "no compiler process can be started: " : "",
				  how);

	compiler_finish(compiler, (struct job *)task,
		(struct compile_result){
			.outcome = is_late ? OUTCOME_COMPILE_TIMEOUT : OUTCOME_COMPILE_CRASHED,
			.log = log});
}

static const struct pool_kind kind = {.name = "the compiler's process",
	.handshake_s = LOAD_SECONDS,
	.start = compiler_start,
	.send = send,
	.on_line = take_message,
	.fail = compiler_fail};

/* ---- finding the NVRTC library ---- */
static enum status take_loaded(
	const struct text *line, struct compile_loaded *loaded, struct error *err)
{
	struct compile_answer answer;

	TRY(read_answer(line, &answer, err));
	if (answer.failed)
		*err = answer.error;
	else if (!answer.loaded)
		error_set(err, STATUS_NO_DEVICE, "the compiler process sent an invalid reply");
	if (answer.failed || !answer.loaded) {
		record_release(&compile_answer_record, &answer);
		return err->status;
	}
	*loaded = *answer.loaded;
	*answer.loaded = (struct compile_loaded){0};
	record_release(&compile_answer_record, &answer);
	return STATUS_OK;
}

static enum status try_candidate(const char *path, const char *worker_path, struct worker *worker,
	struct compile_loaded *loaded, struct error *err)
{
	CLEANUP(text_release) struct text line = {0}, how = {0};
	enum message_result result;

	if (!worker->pid)
		TRY(worker_start(worker, worker_path, "worker-compile", true, err));
	post_load(worker, path);
	result = line_receive(worker->from_fd, &worker->pending, LOAD_SECONDS, &line);
	if (result == MESSAGE_READY)
		return take_loaded(&line, loaded, err);
	worker_end(worker, &how);
	if (result == MESSAGE_NONE)
		return error_set(err, STATUS_NO_DEVICE, "%s: the library did not load within %d s",
			path, (int)LOAD_SECONDS);
	return error_set(err, STATUS_NO_DEVICE,
		"%s: the process that loaded this library (%s worker-compile) %s", path,
		worker_path, text_string(&how));
}

static enum status refuse_too_new(const struct nvrtc_search *search, struct worker *worker,
	struct compile_loaded *loaded, struct error *err)
{
	enum status status = error_set(err, STATUS_NO_DEVICE,
		"%s: this is %s, and the driver (CUDA %d.%d) cannot load code of a newer version",
		loaded->path, loaded->identity, search->driver_cuda_version / 1000,
		search->driver_cuda_version % 1000 / 10);

	record_release(&compile_loaded_record, loaded);
	worker_end(worker, NULL); /* a library that was used cannot be unloaded safely */
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
		/* try again, because memory may have been short */
		if (status != STATUS_OK && strstr(why.message, "was killed"))
			status = try_candidate(path, worker_path, worker, loaded, &why);
		if (status == STATUS_OK && search->driver_cuda_version &&
			loaded->major > search->driver_cuda_version / 1000)
			status = refuse_too_new(search, worker, loaded, &why);
		/* the list of places has names unknown to the dynamic loader */
		if (status != STATUS_OK &&
			(strchr(path, '/') || search->given ||
				!strstr(why.message, "cannot open shared object")))
			text_appendf(&refusals, "\n  %s", why.message);
		if (status != STATUS_OK && status != STATUS_NO_DEVICE)
			error_set(err, status, "%s", why.message);
	}
	if (status != STATUS_NO_DEVICE)
		return status;
	if (search->given) {
		error_set(err, STATUS_NO_DEVICE,
			"the NVRTC library given with --nvrtc or TILETUNE_NVRTC does not work");
		if (refusals.length)
			text_append(&message, refusals.data);
		else
			indent_lines(&message, text_string(&candidates.places));
		error_lines(err, message.data);
		return error_hint(err, "give the path of a libnvrtc.so.N; `tiletune devices` lists "
				       "where tiletune looks without --nvrtc");
	}
	if (refusals.length)
		text_appendf(&message, "; tried:%s", refusals.data);
	text_append(&message, "\nlooked in:");
	indent_lines(&message, text_string(&candidates.places));
	error_set(err, STATUS_NO_DEVICE, "no working NVRTC (libnvrtc.so.N) was found");
	error_lines(err, message.data);
	return error_hint(err, "install the CUDA toolkit or the wheel nvidia-cuda-nvrtc, or set "
			       "TILETUNE_NVRTC to the library or its folder");
}

char *compiler_places(const struct compiler_options *options)
{
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(executable);
	const struct nvrtc_search search =
		nvrtc_search(options->nvrtc_path, options->driver_cuda_version, folder);
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
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(executable);
	const struct nvrtc_search search =
		nvrtc_search(options->nvrtc_path, options->driver_cuda_version, folder);
	struct worker first = {.stderr_fd = -1};
	enum status status;

	compiler->worker_path =
		string_copy(options->worker_path ? options->worker_path : executable);
	compiler->timeout_s = options->timeout_s > 0 ? options->timeout_s : timeout_default_s;
	pool_open(&compiler->pool, &kind, compiler,
		options->workers ? options->workers : host_workers("/"), 1);
	status = find_nvrtc(&search, compiler->worker_path, &first, &compiler->nvrtc, err);
	if (status != STATUS_OK) {
		worker_end(&first, NULL);
		return status;
	}
	pool_adopt(&compiler->pool, &first);
	toolkit_find(compiler->nvrtc.path, &compiler->toolkit);
	return options->cache_folder ? cache_open(options->cache_folder, options->cache_seed,
					       &compiler->cache, err)
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
	struct pool_task *task;

	if (!compiler)
		return;
	while ((task = pool_take(&compiler->pool)) != NULL)
		job_free((struct job *)task);
	pool_close(&compiler->pool);
	cache_close(compiler->cache);
	cache_close(compiler->temporary);
	toolkit_release(&compiler->toolkit);
	tile_toolkit_release(&compiler->tile);
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
	return (unsigned)compiler->pool.member_count;
}

size_t compiler_pending(const struct compiler *compiler)
{
	return compiler->pending;
}

const char *compiler_cache_problem(const struct compiler *compiler)
{
	const struct error *problem = &compiler->cache_problem;

	return problem->status == STATUS_OK ? NULL : problem->message;
}

enum status compiler_find_tile(
	struct compiler *compiler, const struct tile_toolkit **toolkit, struct error *err)
{
	CLEANUP(memory_free) char *executable = path_executable();
	CLEANUP(memory_free) char *folder = path_parent(executable);

	if (!compiler->tile.folder && compiler->tile_problem.status == STATUS_OK)
		(void)tile_toolkit_find(folder, &compiler->tile, &compiler->tile_problem);
	if (toolkit)
		*toolkit = &compiler->tile;
	if (compiler->tile.folder)
		return STATUS_OK;
	*err = compiler->tile_problem;
	return err->status;
}

enum status compiler_submit(struct compiler *compiler, const struct build_unit *unit,
	const char *arch, struct compile_result *result, struct error *err)
{
	struct compile_unit request = {.unit = *unit, .arch = (char *)(uintptr_t)arch};
	const char *identity = compiler->nvrtc.identity, *headers = toolkit_prelude();
	struct compile_result cached;
	struct job *job;

	if (!string_starts_with(arch, "sm_") && !string_starts_with(arch, "compute_"))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected an architecture like sm_90a, found \"%s\"", unit->name, arch);
	if (unit->is_tile) {
		TRY(compiler_find_tile(compiler, NULL, err));
		request.tile_folder = compiler->tile.folder;
		request.tile_nvrtc = compiler->tile.nvrtc;
		identity = compiler->tile.identity;
		headers = ""; /* the identity of the tile toolkit covers its headers */
	} else if (toolkit_is_included(unit->source)) {
		headers = toolkit_hash(&compiler->toolkit);
	}
	job = memory_zeroed(1, sizeof(*job));
	job->compiler = identity;
	cache_key(unit, arch, identity, headers, job->key);
	job->name = string_copy(unit->name ? unit->name : "kernel.cu");
	job->result = result;
	*result = (struct compile_result){0};
	compiler->pending++;
	if (compiler->cache && cache_get(compiler->cache, job->key, &cached)) {
		answer(compiler, job, cached, true);
		return STATUS_OK;
	}
	job->task.timeout_s = compiler->timeout_s;
	job->arch = string_copy(arch);
	request.unit.name = job->name;
	record_append(&compile_request_record, &(struct compile_request){.compile = &request},
		&job->line);
	pool_add(&compiler->pool, &job->task);
	pool_work(&compiler->pool);
	return STATUS_OK;
}

bool compiler_poll(struct compiler *compiler, double timeout_s)
{
	const double deadline = clock_seconds() + timeout_s;
	struct pool *pool = &compiler->pool;

	for (;;) {
		double left;

		pool_work(pool);
		if (compiler->has_results) {
			compiler->has_results = false;
			return true;
		}
		left = deadline - clock_seconds();
		if (!compiler->pending || left <= 0)
			return false;
		pool_wait(&pool, 1, left);
	}
}

struct pool *compiler_pool(struct compiler *compiler)
{
	return &compiler->pool;
}

void compile_result_release(struct compile_result *result)
{
	free(result->path);
	result->path = NULL;
	record_release(&compile_result_record, result);
}
