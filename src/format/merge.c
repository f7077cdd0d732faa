/* SPDX-License-Identifier: MIT */
#include "format/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *date_of(const struct tuned *tuned, const struct tuned_entry *entry)
{
	const struct run *run = tuned_run(tuned, entry->run);

	return run ? run->date : "";
}

/* One problem that both files have. */
struct conflict {
	const struct tuned *into, *from;
	const struct tuned_entry *ours, *theirs; /* in into, in from */
};

static bool theirs_is_base(const struct conflict *conflict, enum merge_rule rule)
{
	if (rule == MERGE_NEWEST)
		return strcmp(date_of(conflict->from, conflict->theirs),
			       date_of(conflict->into, conflict->ours)) > 0;
	if (rule == MERGE_FASTEST)
		return conflict->theirs->winner.time.median < conflict->ours->winner.time.median;
	return false;
}

static enum status conflict_error(const struct conflict *conflict, struct error *err)
{
	char *problem = named_values_text(&conflict->ours->problem);

	error_set(err, STATUS_BAD_INPUT,
		"%s: expected no entry of %s %s, which %s has too, found one", conflict->from->path,
		conflict->ours->operation, problem, conflict->into->path);
	free(problem);
	return error_hint(err, "--on-conflict newest, fastest or first decides");
}

/* The base is put last: tuned_put_entry() lets the new one stand and adds what the old one has
 * besides. */
static void join(struct tuned *into, const struct conflict *conflict, bool theirs_first)
{
	struct tuned_entry ours = tuned_entry_copy(conflict->ours);
	struct tuned_entry theirs = tuned_entry_copy(conflict->theirs);
	const char *kept;

	tuned_put_entry(into, &theirs, NULL, &kept);
	if (theirs_first)
		tuned_put_entry(into, &ours, NULL, &kept);
	tuned_entry_release(&ours);
}

static enum status merge_entry(struct tuned *into, const struct tuned *from,
	const struct tuned_entry *theirs, enum merge_rule rule, struct merge_summary *summary,
	struct error *err)
{
	const struct conflict conflict = {.into = into,
		.from = from,
		.ours = tuned_find(into, theirs->operation, &theirs->problem, theirs->objective),
		.theirs = theirs};
	struct tuned_entry copy;
	const char *kept;

	if (conflict.ours && record_equal(&tuned_entry_record, conflict.ours, theirs)) {
		summary->equal++;
		return STATUS_OK;
	}
	/* one measured, one predicted: measured stays, or comes */
	if (!conflict.ours || conflict.ours->predicted != theirs->predicted) {
		*(conflict.ours ? &summary->outranked : &summary->added) += 1;
		copy = tuned_entry_copy(theirs);
		tuned_put_entry(into, &copy, NULL, &kept);
		return STATUS_OK;
	}
	if (rule == MERGE_FAIL)
		return conflict_error(&conflict, err);
	summary->conflicts++;
	join(into, &conflict, !theirs_is_base(&conflict, rule));
	return STATUS_OK;
}

static enum status device_error(
	const struct tuned *into, const struct tuned *from, struct error *err)
{
	return error_set(err, STATUS_BAD_INPUT,
		"%s: expected a tuned file of %s with %" PRId64
		" SMs, as %s is, found one of %s with %" PRId64 " SMs",
		from->path, into->device.name, into->device.sm_count, into->path, from->device.name,
		from->device.sm_count);
}

enum status tuned_merge(struct tuned *into, const struct tuned *from, enum merge_rule rule,
	struct merge_summary *summary, struct error *err)
{
	enum status status = STATUS_OK;

	if (!gpu_model_same(&into->device, &from->device))
		return device_error(into, from, err);
	for (size_t i = 0; i < from->entry_count && status == STATUS_OK; i++)
		status = merge_entry(into, from, &from->entries[i], rule, summary, err);
	for (size_t i = 0; i < from->run_count && status == STATUS_OK; i++) {
		struct run run = {0};

		record_copy(&run_record, &from->runs[i], &run);
		tuned_put_run(into, &run);
	}
	return status;
}
