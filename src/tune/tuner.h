/* SPDX-License-Identifier: MIT
 *
 * Problems one after the other on one GPU; the candidates of the next one are found and scored
 * meanwhile. Where a run has several GPUs this is done in a process for each, that is told the
 * numbers of problems and answers with what became of them (tune/dispatch.c).
 */
#ifndef TUNE_TUNER_H
#define TUNE_TUNER_H

#include "process/worker.h"
#include "tune/session.h"

struct ahead; /* candidates that are being found */

/* One problem of the queue, unless an interrupted run has concluded it. following: which is likely
 * to be the next; QUEUE_NONE: none. *ahead is NULL the first time. */
enum status tuner_tune(struct ahead **ahead, struct session *session, int64_t number,
	int64_t following, struct error *err);
void tuner_drop(struct ahead **ahead);
/* What the session's run has taken so far. */
struct session_gpu tuner_gpu(const struct session *session);

/* ---- the process of one GPU of several ---- */
enum tuner_message {
	TUNER_OPENED = 1, /* from it, once: it can use its GPU, or cannot */
	TUNER_BEGIN,      /* to it: a task that names the run to go on with */
	TUNER_BEGUN,      /* from it */
	TUNER_TUNE,       /* to it: a task */
	TUNER_DONE,       /* from it: what became of the task */
	TUNER_ALIVE,      /* from it, every second or so while it tunes: nothing */
	TUNER_END,        /* to it: nothing; its GPU is free once it has ended */
};

struct tuner_task {
	char *resumes; /* the run that its run goes on with; NULL: none */
	int64_t number, following;
	struct tuned_entry *entries; /* what steps of composite families were tuned to elsewhere */
	size_t entry_count;
};
RECORD_DECLARE(struct tuner_task, tuner_task_record);

/* What it says; of each message some members. */
struct tuner_answer {
	struct error err; /* status not OK: why it cannot use its GPU, begin or tune the problem */
	double anchor_us;
	struct run run;              /* that began */
	bool unsaved;                /* the tuned file could not be written */
	struct text taken;           /* what the taker has for the process that began all */
	struct tuned_entry *entries; /* none or one */
	size_t entry_count;
	struct session_gpu gpu;
};
RECORD_DECLARE(struct tuner_answer, tuner_answer_record);

/* Serves until it is told to end. */
struct tuner_member {
	struct session *session;
	size_t gpu; /* of the context's devices */
};
int tuner_main(void *member, int input, int output);

/* ---- which GPU tunes which problem (tune/dispatch.c) ---- */
/* All of session->queue. One GPU takes the problems in order. Of several GPUs each idle one takes
 * the longest remaining problem, once the earlier steps of its composite families are done. A
 * problem that was in progress on a lost GPU goes to another. Errors as session_run(). */
enum status dispatch_run(struct session *session, struct error *err);

/* Compiles what session_run() would try on a device model, with the helper kernels and references
 * that only a GPU needs. */
enum status tuner_precompile(struct session *session, struct error *err);

#endif
