/* SPDX-License-Identifier: MIT */
#include "tune/resume.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tune/row_validity.h"

static const struct journal_problem *recorded_problem(
	const struct session *session, const struct journal_run *run, size_t number)
{
	const struct problem *problem = session->queue->items[number].problem;

	return journal_problem_find(run, operation_name(problem->operation), problem->text);
}

static bool worth_taking(const struct evaluation *evaluation)
{
	return evaluation->outcome != OUTCOME_DEVICE_LOST &&
	       evaluation->outcome != OUTCOME_TOO_NOISY;
}

/* Whether the tuned file has the entry of that run, perhaps with what stayed of an older one. */
static bool is_put(const struct tuned *tuned, const struct tuned_entry *entry)
{
	const struct tuned_entry *there =
		tuned_find(tuned, entry->operation, &entry->problem, entry->objective);

	return there && strcmp(there->run, entry->run) == 0;
}

enum status resume_entry(struct session *session, size_t number, bool *done, struct error *err)
{
	const struct session_observer *observer = &session->observer;
	const struct journal_problem *recorded = NULL;
	const struct journal_run *run = session->resume;
	struct row_validity row_validity = {
		.context = session->context, .problem = session->queue->items[number].problem};
	const struct tuned_judge judge = {row_validity_row, &row_validity};
	struct tuned_entry copy;
	struct run head = {0};
	const char *kept;

	*done = false;
	for (; run; run = journal_previous(session->record, run)) {
		recorded = recorded_problem(session, run, number);
		if (recorded && recorded->entry)
			break;
	}
	if (!run)
		return STATUS_OK;
	*done = true;
	record_copy(&run_record, &run->run, &head);
	tuned_put_run(session->tuned, &head);
	row_validity.recorded = recorded->evaluations;
	row_validity.recorded_count = recorded->evaluation_count;
	if (!is_put(session->tuned, recorded->entry)) {
		copy = tuned_entry_copy(recorded->entry);
		tuned_put_entry(session->tuned, &copy, &judge, &kept);
	}
	if (observer->taken)
		observer->taken(observer->context, session->queue->items[number].problem, number,
			session->queue->count, recorded->entry);
	return session_save(session, err);
}

/* The oldest run of the chain first. */
static enum status take_run(struct search *search, const struct journal_run *run, struct error *err)
{
	const struct session *session = search->session;
	const struct journal_problem *recorded;
	enum status status;

	if (!run)
		return STATUS_OK;
	status = take_run(search, journal_previous(session->record, run), err);
	recorded = recorded_problem(session, run, search->number);
	for (size_t i = 0; recorded && i < recorded->evaluation_count && status == STATUS_OK; i++) {
		const struct evaluation *known = &recorded->evaluations[i];
		ptrdiff_t candidate =
			candidates_find(&search->pool, known->family, known->configuration);
		struct evaluation copy = {0};

		/* templates are part of the signature: what is not found was not legal then either
		 */
		if (candidate < 0 || search->known[candidate] || !worth_taking(known))
			continue;
		record_copy(&evaluation_record, known, &copy);
		search_add(search, (size_t)candidate, &copy);
		search->resumed++;
	}
	return status;
}

enum status resume_evaluations(struct search *search, struct error *err)
{
	return take_run(search, search->session->resume, err);
}

static const struct evaluation *find_remeasured(
	const struct journal_problem *recorded, const struct evaluation *of)
{
	for (size_t i = 0; i < recorded->remeasurement_count; i++)
		if (strcmp(recorded->remeasurements[i].family, of->family) == 0 &&
			strcmp(recorded->remeasurements[i].configuration, of->configuration) == 0)
			return &recorded->remeasurements[i];
	return NULL;
}

bool resume_remeasurements(const struct search *search, struct evaluated *const *remeasured,
	size_t count, const struct evaluation **remeasurements)
{
	const struct session *session = search->session;

	for (const struct journal_run *run = session->resume; run;
		run = journal_previous(session->record, run)) {
		const struct journal_problem *recorded =
			recorded_problem(session, run, search->number);
		size_t found = 0;

		while (recorded && found < count &&
			(remeasurements[found] =
					find_remeasured(recorded, &remeasured[found]->evaluation)))
			found++;
		if (recorded && found == count)
			return true;
	}
	return false;
}
