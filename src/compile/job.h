/* SPDX-License-Identifier: MIT
 *
 * Units on their way through the compiler. Units that are the same (same key) are compiled once:
 * later ones follow the first.
 */
#ifndef COMPILE_JOB_H
#define COMPILE_JOB_H

#include "compile/cache.h"

struct job {
	struct job *next;      /* in a queue, or among followers */
	struct job *next_same; /* in a bucket of the table */
	struct job *followers;
	uint64_t ticket;
	char key[HASH_SIZE];
	char *name, *arch;
	struct text unit; /* packed for the worker */
};

struct job_queue {
	struct job *first, *last;
	size_t count;
};

enum {
	JOB_BUCKETS = 1024
};

/* Jobs that are queued or being compiled, by key. */
struct job_table {
	struct job *buckets[JOB_BUCKETS];
};

struct job *job_new(
	const struct build_unit *unit, const char *arch, const char *compiler, uint64_t ticket);
void job_free(struct job *job); /* with its followers; NULL is fine */

void job_queue_push(struct job_queue *queue, struct job *job);
struct job *job_queue_pop(struct job_queue *queue); /* NULL when empty */

struct job *job_table_find(const struct job_table *table, const char key[HASH_SIZE]);
void job_table_add(struct job_table *table, struct job *job);
void job_table_remove(struct job_table *table, struct job *job);

#endif
