/* SPDX-License-Identifier: MIT */
#include "device/replay_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static const struct evaluation *any_evaluation(const struct replay_candidate *candidate)
{
	return candidate->searched ? candidate->searched : candidate->remeasured;
}

static int compare_candidates(const void *a, const void *b)
{
	const struct replay_candidate *x = a, *y = b;
	const struct evaluation *p = any_evaluation(x), *q = any_evaluation(y);
	int order = strcmp(x->operation, y->operation);

	if (!order)
		order = strcmp(x->problem, y->problem);
	if (!order)
		order = strcmp(p->family, q->family);
	return order ? order : strcmp(p->configuration, q->configuration);
}

/* qsort is not stable: among equals, what was recorded earlier lies earlier in memory only within
 * one problem, so lines are numbered while they are gathered. */
struct line {
	struct replay_candidate candidate;
	size_t number;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int order = compare_candidates(&x->candidate, &y->candidate);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static bool same_device(const struct journal_run *a, const struct journal_run *b)
{
	return record_equal(&gpu_model_record, &a->device, &b->device);
}

static size_t count_lines(const struct journal_record *journal)
{
	size_t count = 0;

	for (size_t r = 0; r < journal->run_count; r++)
		for (size_t p = 0; p < journal->runs[r].problem_count; p++)
			count += journal->runs[r].problems[p].evaluation_count +
				 journal->runs[r].problems[p].remeasurement_count;
	return count;
}

static size_t gather(const struct replay_record *record, struct line *lines)
{
	const struct journal_record *journal = &record->journal;
	size_t count = 0;

	for (size_t r = 0; r < journal->run_count; r++) {
		const struct journal_run *run = &journal->runs[r];

		for (size_t p = 0; p < run->problem_count && same_device(run, record->run); p++) {
			const struct journal_problem *problem = &run->problems[p];
			const struct replay_candidate owner = {
				.operation = problem->operation, .problem = problem->problem};

			for (size_t i = 0; i < problem->evaluation_count; i++, count++) {
				lines[count] = (struct line){owner, count};
				lines[count].candidate.searched = &problem->evaluations[i];
			}
			for (size_t i = 0; i < problem->remeasurement_count; i++, count++) {
				lines[count] = (struct line){owner, count};
				lines[count].candidate.remeasured = &problem->remeasurements[i];
			}
		}
	}
	return count;
}

/* A lost device says nothing of the candidate where anything else is known of it. */
static void take(const struct evaluation **known, const struct evaluation *fresh)
{
	if (fresh && (!*known || fresh->outcome != OUTCOME_DEVICE_LOST))
		*known = fresh;
}

static void merge(struct replay_record *record, const struct line *lines, size_t count)
{
	record->candidates = memory_zeroed(count + 1, sizeof(*record->candidates));
	for (size_t i = 0; i < count; i++) {
		struct replay_candidate *last = &record->candidates[record->count];

		if (i && compare_candidates(&lines[i - 1].candidate, &lines[i].candidate) == 0) {
			take(&last[-1].searched, lines[i].candidate.searched);
			take(&last[-1].remeasured, lines[i].candidate.remeasured);
		} else {
			*last = lines[i].candidate;
			record->count++;
		}
	}
}

/* The run says which kind of device it was; a replay of a replay is what its samples are. */
static bool find_measured(const struct replay_record *record)
{
	const char *kind = record->run->run.device_kind;

	if (strcmp(kind, "cuda") == 0 || strcmp(kind, "model") == 0)
		return strcmp(kind, "cuda") == 0;
	for (size_t i = 0; i < record->count; i++) {
		const struct evaluation *evaluation = any_evaluation(&record->candidates[i]);

		if (evaluation->sample_count)
			return !evaluation->predicted;
	}
	return false;
}

enum status replay_record_open(const char *path, struct replay_record *record, struct error *err)
{
	struct line *lines;
	size_t count;
	enum status status;

	*record = (struct replay_record){0};
	status = journal_read(path, &record->journal, err);
	if (status != STATUS_OK)
		return status;
	if (!record->journal.run_count)
		return error_set(err, STATUS_BAD_INPUT,
			"%s: expected a journal with a run in it, found none", path);
	record->run = &record->journal.runs[record->journal.run_count - 1];
	lines = memory_zeroed(count_lines(&record->journal) + 1, sizeof(*lines));
	count = gather(record, lines);
	qsort(lines, count, sizeof(*lines), compare_lines);
	merge(record, lines, count);
	free(lines);
	record->measured = find_measured(record);
	return STATUS_OK;
}

void replay_record_release(struct replay_record *record)
{
	journal_record_release(&record->journal);
	free(record->candidates);
	*record = (struct replay_record){0};
}

const struct replay_candidate *replay_record_find(const struct replay_record *record,
	const char *operation, const char *problem, const char *family, const char *configuration)
{
	const struct evaluation key = {.family = (char *)(uintptr_t)family,
		.configuration = (char *)(uintptr_t)configuration};
	const struct replay_candidate wanted = {
		.operation = operation, .problem = problem, .searched = &key};

	return bsearch(
		&wanted, record->candidates, record->count, sizeof(wanted), compare_candidates);
}
