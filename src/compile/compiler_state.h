/* SPDX-License-Identifier: MIT
 *
 * Inside of the compiler, for its own three files: compiler.c (the public functions),
 * compiler_results.c (what is done), compiler_workers.c (what is under way).
 */
#ifndef COMPILE_COMPILER_STATE_H
#define COMPILE_COMPILER_STATE_H

#include "compile/cache.h"
#include "compile/compiler.h"
#include "compile/job.h"
#include "compile/probe.h"
#include "compile/worker.h"

struct finished {
	struct finished *next;
	struct compile_result result;
};

struct slot {
	struct worker worker;
	struct job *job; /* what it compiles */
};

struct compiler {
	char *worker_path;
	double timeout_s;
	struct probe nvrtc;
	struct cache *cache;        /* NULL: none */
	struct error cache_problem; /* the first failure to write to it */
	struct slot *slots;
	unsigned slot_count;
	unsigned start_failures; /* of workers, in a row */
	struct job_queue queue;
	struct job_table table; /* jobs that are queued or being compiled */
	struct finished *finished_first, *finished_last;
	size_t pending; /* tickets submitted and not yet polled */
};

/* ---- compiler_results.c ---- */
/* Takes the result. */
void finish_ticket(
	struct compiler *compiler, struct compile_result result, uint64_t ticket, bool from_cache);
/* Takes job and result: stores it, and answers the job's ticket and those that follow it. */
void finish_job(struct compiler *compiler, struct job *job, struct compile_result result);
void finish_without(
	struct compiler *compiler, struct job *job, enum outcome outcome, const char *log);
bool finished_take(struct compiler *compiler, struct compile_result *result);
void finished_release(struct compiler *compiler);

/* ---- compiler_workers.c ---- */
/* Takes answers, replaces workers that died or took too long, hands out units. Never waits. */
void workers_advance(struct compiler *compiler);
/* Waits for an answer or a deadline, at most timeout_s (negative: no limit). */
void workers_wait(const struct compiler *compiler, double timeout_s);
void workers_end(struct compiler *compiler);

#endif
