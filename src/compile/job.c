/* SPDX-License-Identifier: MIT */
#include "compile/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compile/wire.h"

struct job *job_new(
	const struct build_unit *unit, const char *arch, const char *compiler, uint64_t ticket)
{
	struct job *job = memory_zeroed(1, sizeof(*job));

	job->ticket = ticket;
	job->name = string_copy(unit->name ? unit->name : "kernel.cu");
	job->arch = string_copy(arch);
	cache_key(unit, arch, compiler, job->key);
	wire_put_string(&job->unit, job->name);
	wire_put_string(&job->unit, unit->source);
	wire_put_string(&job->unit, arch);
	wire_put_strings(&job->unit, unit->options, unit->option_count);
	wire_put_strings(&job->unit, unit->entries, unit->entry_count);
	return job;
}

void job_free(struct job *job)
{
	while (job) {
		struct job *next = job->followers;

		/* a follower has no followers of its own: its list goes on where its own would */
		if (next)
			next->followers = next->next;
		text_release(&job->unit);
		free(job->arch);
		free(job->name);
		free(job);
		job = next;
	}
}

void job_queue_push(struct job_queue *queue, struct job *job)
{
	job->next = NULL;
	if (queue->last)
		queue->last->next = job;
	else
		queue->first = job;
	queue->last = job;
	queue->count++;
}

struct job *job_queue_pop(struct job_queue *queue)
{
	struct job *job = queue->first;

	if (!job)
		return NULL;
	queue->first = job->next;
	if (!queue->first)
		queue->last = NULL;
	job->next = NULL;
	queue->count--;
	return job;
}

static size_t bucket_of(const char key[HASH_SIZE])
{
	return (size_t)hash_bytes(key, HASH_SIZE - 1, 0) % JOB_BUCKETS;
}

struct job *job_table_find(const struct job_table *table, const char key[HASH_SIZE])
{
	for (struct job *job = table->buckets[bucket_of(key)]; job; job = job->next_same)
		if (strcmp(job->key, key) == 0)
			return job;
	return NULL;
}

void job_table_add(struct job_table *table, struct job *job)
{
	struct job **bucket = &table->buckets[bucket_of(job->key)];

	job->next_same = *bucket;
	*bucket = job;
}

void job_table_remove(struct job_table *table, struct job *job)
{
	struct job **link = &table->buckets[bucket_of(job->key)];

	while (*link && *link != job)
		link = &(*link)->next_same;
	if (*link)
		*link = job->next_same;
}
