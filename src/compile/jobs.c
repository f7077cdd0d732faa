/* SPDX-License-Identifier: MIT */
#include "compile/jobs.h"

#include "compile/worker.h"

struct job {
	struct pool_task task; /* comes first */
	struct job *next;      /* among followers */
	struct job *next_same; /* in a bucket of the table */
	struct job *followers;
	uint64_t ticket;
	char key[HASH_SIZE];
	char *name, *arch;
	struct text frame; /* for the process */
};

/* ---- jobs ---- */
static struct job *job_new(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket)
{
	struct job *job = memory_zeroed(1, sizeof(*job));

	job->ticket = ticket;
	job->name = string_copy(unit->name ? unit->name : "kernel.cu");
	job->arch = string_copy(arch);
	cache_key(unit, arch, jobs->compiler,
		toolkit_is_included(unit->source) ? toolkit_hash(&jobs->toolkit)
						  : toolkit_prelude(),
		job->key);
	return job;
}

/* With its followers; NULL is fine. */
static void job_free(struct job *job)
{
	while (job) {
		struct job *next = job->followers;

		/* the followers are linked by `next`: the first takes over the rest of the list */
		if (next)
			next->followers = next->next;
		text_release(&job->frame);
		free(job->arch);
		free(job->name);
		free(job);
		job = next;
	}
}

static void job_pack(const struct jobs *jobs, struct job *job, const struct build_unit *unit)
{
	struct compile_request request = {
		.library = (char *)(uintptr_t)jobs->library_path, .unit = *unit, .arch = job->arch};

	request.unit.name = job->name;
	message_pack(COMPILE_UNIT, &compile_request_record, &request, &job->frame);
}

/* The link of the table that holds the job with this key, or the one to put it into. */
static struct job **table_link(struct jobs *jobs, const char key[HASH_SIZE])
{
	struct job **link = &jobs->table[hash_bytes(key, HASH_SIZE - 1, 0) % JOB_BUCKETS];

	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next_same;
	return link;
}

/* ---- results ---- */
/* Takes the result. */
static void answer(
	struct jobs *jobs, struct compile_result result, uint64_t ticket, bool from_cache)
{
	result.ticket = ticket;
	result.from_cache = from_cache;
	ARRAY_GROW(jobs->finished, jobs->finished_count, jobs->finished_capacity);
	jobs->finished[jobs->finished_count++] = result;
}

bool jobs_take(struct jobs *jobs, struct compile_result *result)
{
	if (jobs->finished_at == jobs->finished_count)
		return false;
	*result = jobs->finished[jobs->finished_at++];
	if (jobs->finished_at == jobs->finished_count)
		jobs->finished_at = jobs->finished_count = 0;
	jobs->pending--;
	return true;
}

void jobs_submit(
	struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket)
{
	struct job *job = job_new(jobs, unit, arch, ticket);
	struct job **link = table_link(jobs, job->key);
	struct compile_result result;

	jobs->pending++;
	if (*link) {
		job->next = (*link)->followers;
		(*link)->followers = job;
	} else if (jobs->cache && cache_get(jobs->cache, job->key, &result)) {
		answer(jobs, result, ticket, true);
		job_free(job);
	} else {
		job_pack(jobs, job, unit);
		*link = job;
		job->task.silence_s = jobs->timeout_s;
		pool_add(&jobs->pool, &job->task);
	}
}

static void store(struct jobs *jobs, const struct job *job, const struct compile_result *result)
{
	const struct cache_label label = {job->name, job->arch, (char *)(uintptr_t)jobs->compiler};
	struct error err = {0};

	/* a crash or a timeout may be the machine's fault: it is tried again next time */
	if (!jobs->cache ||
		(result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED))
		return;
	if (cache_put(jobs->cache, job->key, &label, result, &err) != STATUS_OK &&
		jobs->cache_problem.status == STATUS_OK)
		jobs->cache_problem = err;
}

/* Takes job and result: stores it, and answers the job's ticket and those that follow it. */
static void jobs_finish(struct jobs *jobs, struct job *job, struct compile_result result)
{
	struct job **link = table_link(jobs, job->key);

	*link = job->next_same;
	store(jobs, job, &result);
	answer(jobs, result, job->ticket, false); /* stays whole until it is taken */
	for (struct job *follower = job->followers; follower; follower = follower->next) {
		struct compile_result copy = {0};

		record_copy(&compile_result_record, &result, &copy);
		answer(jobs, copy, follower->ticket, true);
	}
	job_free(job);
}

/* ---- the processes ---- */
static enum status start(
	void *context, struct worker *worker, double *greeting_s, struct error *err)
{
	const struct jobs *jobs = context;

	(void)greeting_s;
	return worker_start(worker, jobs->worker_path, "worker-compile", true, err);
}

static bool send(void *context, struct worker *worker, struct pool_task *task)
{
	(void)context;
	worker_post(worker, &((struct job *)task)->frame);
	return true;
}

static enum pool_heard hear(
	void *context, struct worker *worker, bool greets, struct pool_task *task, struct text *why)
{
	CLEANUP(message_release) struct message message = {0};
	struct compile_result result;
	struct compile_refusal refusal;
	enum pool_heard heard;

	(void)greets;
	heard = pool_received(message_receive(worker->from_fd, &worker->pending, 0, &message));
	if (heard != POOL_WORKS)
		return heard;
	if (message.kind == COMPILE_REFUSED &&
		message_unpack(&message, &compile_refusal_record, "worker-compile", &refusal,
			NULL) == STATUS_OK) {
		text_append(why, refusal.reason);
		record_release(&compile_refusal_record, &refusal);
		return POOL_REFUSED;
	}
	if (message.kind == COMPILE_LOADED)
		return POOL_WORKS;
	if (message.kind != COMPILE_RESULT || !task ||
		message_unpack(&message, &compile_result_record, "worker-compile", &result, NULL) !=
			STATUS_OK)
		return POOL_FAILED;
	jobs_finish(context, (struct job *)task, result);
	return POOL_DONE;
}

static void fail(void *context, struct pool_task *task, enum pool_end end, const char *how)
{
	struct jobs *jobs = context;
	const bool is_late = end == POOL_TIMED_OUT;
	CLEANUP(memory_free)
	char *log =
		is_late ? string_format("the compiler took longer than %.3g s", jobs->timeout_s)
			: string_format("%s%s",
				  end == POOL_BROKEN ? "no compiler process starts any more: " : "",
				  how);

	jobs_finish(jobs, (struct job *)task,
		(struct compile_result){
			.outcome = is_late ? OUTCOME_COMPILE_TIMEOUT : OUTCOME_COMPILE_CRASHED,
			.log = string_copy(log)});
}

static const struct pool_kind kind = {
	.name = "the compiler's process", .start = start, .send = send, .hear = hear, .fail = fail};

void jobs_open(struct jobs *jobs, size_t processes)
{
	pool_open(&jobs->pool, &kind, jobs, processes, 1);
}

void jobs_release(struct jobs *jobs)
{
	struct compile_result result;

	if (jobs->pool.kind)
		pool_close(&jobs->pool);
	for (size_t i = 0; i < JOB_BUCKETS; i++)
		while (jobs->table[i]) {
			struct job *job = jobs->table[i];

			jobs->table[i] = job->next_same;
			job_free(job);
		}
	while (jobs_take(jobs, &result))
		compile_result_release(&result);
	free(jobs->finished);
	cache_close(jobs->cache);
	toolkit_release(&jobs->toolkit);
}
