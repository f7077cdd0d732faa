/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/memory.h"
#include "compile/compiler_state.h"
#include "compile/result.h"

void finish_ticket(
	struct compiler *compiler, struct compile_result result, uint64_t ticket, bool from_cache)
{
	struct finished *finished = memory_zeroed(1, sizeof(*finished));

	result.ticket = ticket;
	result.from_cache = from_cache;
	finished->result = result;
	if (compiler->finished_last)
		compiler->finished_last->next = finished;
	else
		compiler->finished_first = finished;
	compiler->finished_last = finished;
}

bool finished_take(struct compiler *compiler, struct compile_result *result)
{
	struct finished *finished = compiler->finished_first;

	if (!finished)
		return false;
	compiler->finished_first = finished->next;
	if (!compiler->finished_first)
		compiler->finished_last = NULL;
	*result = finished->result;
	free(finished);
	compiler->pending--;
	return true;
}

static void store(
	struct compiler *compiler, const struct job *job, const struct compile_result *result)
{
	const struct cache_label label = {job->name, job->arch, compiler->nvrtc.identity};
	struct error err = {0};

	/* a crash or a timeout may be the machine's fault: it is tried again next time */
	if (!compiler->cache ||
		(result->outcome != OUTCOME_OK && result->outcome != OUTCOME_COMPILE_FAILED))
		return;
	if (cache_put(compiler->cache, job->key, &label, result, &err) != STATUS_OK &&
		compiler->cache_problem.status == STATUS_OK)
		compiler->cache_problem = err;
}

void finish_job(struct compiler *compiler, struct job *job, struct compile_result result)
{
	struct text packed = {0};

	job_table_remove(&compiler->table, job);
	store(compiler, job, &result);
	if (job->followers)
		compile_result_pack(&result, &packed);
	finish_ticket(compiler, result, job->ticket, false);
	for (struct job *follower = job->followers; follower; follower = follower->next) {
		struct compile_result copy;

		if (!compile_result_unpack(packed.data, packed.length, &copy))
			BUG("a result that does not survive packing");
		finish_ticket(compiler, copy, follower->ticket, true);
	}
	text_release(&packed);
	job_free(job);
}

void finish_without(
	struct compiler *compiler, struct job *job, enum outcome outcome, const char *log)
{
	struct compile_result result;

	compile_result_set(&result, outcome, log);
	finish_job(compiler, job, result);
}

void finished_release(struct compiler *compiler)
{
	struct compile_result result;

	while (finished_take(compiler, &result))
		compile_result_release(&result);
}
