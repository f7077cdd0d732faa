/* SPDX-License-Identifier: MIT */
#include "compile/jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/protocol.h"

/* ---- jobs ---- */
static struct job *job_new(
	const struct jobs *jobs, const struct build_unit *unit, const char *arch, uint64_t ticket)
{
	struct job *job = memory_zeroed(1, sizeof(*job));

	job->ticket = ticket;
	job->name = string_copy(unit->name ? unit->name : "kernel.cu");
	job->arch = string_copy(arch);
	cache_key(unit, arch, jobs->compiler, job->key);
	return job;
}

void job_free(struct job *job)
{
	while (job) {
		struct job *next = job->followers;

		/* a follower has no followers of its own: its list goes on where its own would */
		if (next)
			next->followers = next->next;
		text_release(&job->frame);
		free(job->arch);
		free(job->name);
		free(job);
		job = next;
	}
}

static void job_pack(struct job *job, const struct build_unit *unit)
{
	struct compile_request request = {.unit = *unit, .arch = job->arch};

	request.unit.name = job->name;
	message_pack(COMPILE_UNIT, &compile_request_record, &request, &job->frame);
}

/* Where in the table a job with this key is linked, or would be. */
static struct job **table_link(struct jobs *jobs, const char key[HASH_SIZE])
{
	struct job **link = &jobs->table[hash_bytes(key, HASH_SIZE - 1, 0) % JOB_BUCKETS];

	while (*link && strcmp((*link)->key, key) != 0)
		link = &(*link)->next_same;
	return link;
}

struct job *jobs_next(struct jobs *jobs)
{
	struct job *job = jobs->first;

	if (!job)
		return NULL;
	jobs->first = job->next;
	if (!jobs->first)
		jobs->last = NULL;
	job->next = NULL;
	jobs->queued--;
	return job;
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
		job_pack(job, unit);
		*link = job;
		if (jobs->last)
			jobs->last->next = job;
		else
			jobs->first = job;
		jobs->last = job;
		jobs->queued++;
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

void jobs_finish(struct jobs *jobs, struct job *job, struct compile_result result)
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

void jobs_fail(struct jobs *jobs, struct job *job, enum outcome outcome, const char *log)
{
	jobs_finish(
		jobs, job, (struct compile_result){.outcome = outcome, .log = string_copy(log)});
}

void jobs_release(struct jobs *jobs)
{
	struct compile_result result;
	struct job *job;

	while ((job = jobs_next(jobs)))
		job_free(job);
	while (jobs_take(jobs, &result))
		compile_result_release(&result);
	free(jobs->finished);
	cache_close(jobs->cache);
}
