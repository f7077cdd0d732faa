/* SPDX-License-Identifier: MIT */
#include "format/merge.h"

#include <inttypes.h>

#include "record/record_write.h"

static const char *date_of(const struct tuned *tuned, const struct tuned_entry *entry)
{
	const struct run *run = tuned_run(tuned, entry->run);

	return run ? run->date : "";
}

/* Returns whether their entry replaces ours. If `run` is given, it does unless `run` wrote ours. */
static bool theirs_is_base(const struct tuned *into, const struct tuned *from,
	const struct tuned_entry *ours, const struct tuned_entry *theirs, const char *run)
{
	if (run)
		return strcmp(ours->run, run) != 0;
	/* an entry with required bits was requested, and is retained */
	if (!ours->bits != !theirs->bits)
		return !ours->bits;
	if (ours->unfinished != theirs->unfinished)
		return ours->unfinished;
	return strcmp(date_of(from, theirs), date_of(into, ours)) > 0;
}

static bool is_of_run(const struct tuned_row *row, const struct tuned_entry *entry, const char *run)
{
	return strcmp(row->run ? row->run : entry->run, run) == 0;
}

/* Returns false if no row is of this run. */
static bool keep_rows_of_run(struct tuned_entry *entry, const char *run)
{
	const bool winner_stays = is_of_run(&entry->winner, entry, run);
	size_t best = 0, count = 0;

	for (size_t i = 0; i < entry->family_count; i++) {
		struct tuned_row *row = &entry->families[i];

		if (!is_of_run(row, entry, run)) {
			tuned_row_release(row);
			continue;
		}
		if (row->result.time.median < entry->families[best].result.time.median)
			best = count;
		entry->families[count++] = *row;
	}
	entry->family_count = count;
	if (winner_stays || !count)
		return winner_stays;
	tuned_entry_promote(entry, best);
	tuned_row_release(&entry->families[best]);
	entry->families[best] = entry->families[--entry->family_count];
	return true;
}

/* The entry that wins is put last. */
static void join(struct tuned *into, const struct tuned *from, const struct tuned_entry *entry,
	const struct tuned_entry *their_entry, const char *run)
{
	const bool theirs_first = !theirs_is_base(into, from, entry, their_entry, run);
	CLEANUP(tuned_entry_release) struct tuned_entry ours = tuned_entry_copy(entry);
	struct tuned_entry theirs = tuned_entry_copy(their_entry);
	const char *kept;

	tuned_put_entry(into, &theirs, NULL, &kept);
	if (theirs_first && (!run || keep_rows_of_run(&ours, run)))
		tuned_put_entry(into, &ours, NULL, &kept);
}

static void merge_entry(struct tuned *into, const struct tuned *from,
	const struct tuned_entry *theirs, const char *run, struct merge_summary *summary)
{
	const struct tuned_entry *ours =
		tuned_find(into, theirs->operation, &theirs->problem, theirs->objective);
	struct tuned_entry copy;
	const char *kept;

	if (ours && record_equal(&tuned_entry_record, ours, theirs)) {
		summary->equal++;
	} else if (!ours || ours->predicted != theirs->predicted) {
		/* the measured entry stays */
		*(ours ? &summary->outranked : &summary->added) += 1;
		copy = tuned_entry_copy(theirs);
		tuned_put_entry(into, &copy, NULL, &kept);
	} else {
		summary->conflicts++;
		join(into, from, ours, theirs, run);
	}
}

enum status tuned_merge(struct tuned *into, const struct tuned *from, const char *run,
	struct merge_summary *summary, struct error *err)
{
	if (!gpu_model_same(&into->device, &from->device))
		return error_set(err, STATUS_BAD_INPUT,
			"%s: the file is for %s with %" PRId64
			" SMs, but %s is for %s with %" PRId64
			" SMs; only files of one GPU model can be merged",
			from->path, from->device.name, from->device.sm_count, into->path,
			into->device.name, into->device.sm_count);
	for (size_t i = 0; i < from->run_count; i++)
		tuned_copy_run(into, from, from->runs[i].id);
	for (size_t i = 0; i < from->entry_count; i++)
		merge_entry(into, from, &from->entries[i], run, summary);
	return STATUS_OK;
}

enum status tuned_merge_file(struct tuned *into, const char *path,
	const struct catalogue *catalogue, struct merge_summary *summary, struct error *err)
{
	CLEANUP(tuned_release) struct tuned next = {0};

	TRY(tuned_load(path, &next, err));
	if (catalogue)
		tuned_complete(&next, catalogue);
	if (into->path)
		return tuned_merge(into, &next, NULL, summary, err);
	*into = next;
	next = (struct tuned){0};
	return STATUS_OK;
}

static struct tuned_row old_row(const struct tuned_row *row, const struct tuned_entry *entry)
{
	struct tuned_row copy = tuned_row_copy(row);

	tuned_row_forget_rejection(&copy); /* `lost` refers to another winner */
	if (!copy.run)
		copy.run = string_copy(entry->run);
	return copy;
}

/* NULL means not known. */
static bool same_text(const char *a, const char *b, bool must_be_known)
{
	a = a ? a : "";
	b = b ? b : "";
	return strcmp(a, b) == 0 && (a[0] || !must_be_known);
}

/* Converts times of one run to those of another, by the anchor kernel. Returns 0 if they are not
 * comparable. */
static double time_scale(const struct run *from, const struct run *to)
{
	if (!from || !to || !same_text(from->driver, to->driver, true) ||
		!same_text(from->nvrtc, to->nvrtc, true) || !same_text(from->mig, to->mig, false) ||
		from->power_limit_w < to->power_limit_w || from->power_limit_w > to->power_limit_w)
		return 0;
	if (from->anchor_us > 0 && to->anchor_us > 0)
		return to->anchor_us / from->anchor_us;
	return same_text(from->uuid, to->uuid, true) ? 1 : 0;
}

struct row_pair {
	const struct tuned *tuned;
	const struct tuned_entry *old_entry, *new_entry;
};

/* The time of a kernel that DRAM limits does not follow the clock. */
static double scale_of(
	const struct row_pair *pair, const struct tuned_row *old, const struct tuned_row *new)
{
	const double scale = time_scale(tuned_row_run(pair->tuned, pair->old_entry, old),
		tuned_row_run(pair->tuned, pair->new_entry, new));

	return scale > 0 && !tuned_row_is_clock_bound(old) ? 1 : scale;
}

static bool is_faster(const struct summary *old, const struct summary *new, double scale)
{
	const double old_us = old->median * scale;

	if (!(old_us > 0) || !(new->median > 0))
		return false;
	return old->ci95_high * scale + 0.5 * TUNED_TIE_RATIO * old_us <
	       new->ci95_low - 0.5 * TUNED_TIE_RATIO *new->median;
}

/* A run that tried few candidates must not replace a better valid row. */
static bool old_stays(const struct row_pair *pair, const struct tuned_row *old,
	const struct tuned_row *new, const struct tuned_judge *judge)
{
	double scale;

	if (!judge || pair->new_entry->predicted)
		return false;
	if (strcmp(pair->old_entry->verification_hash, pair->new_entry->verification_hash) != 0)
		return false;
	if (named_values_equal(&old->configuration, &new->configuration))
		return false;
	scale = scale_of(pair, old, new);
	return scale > 0 && is_faster(&old->result.time, &new->result.time, scale) &&
	       judge->is_still_valid(old, judge->context);
}

/* An entry that was tuned for certain bits accepts only rows with them. */
static bool has_bits_of(const struct tuned_entry *entry, const struct tuned_row *row)
{
	return !entry->bits || (entry->winner.result.bits && row->result.bits &&
				       output_digest_compare(entry->winner.result.bits,
					       row->result.bits, NULL) == DIGEST_SAME);
}

/* Returns the row's time, converted to the new entry's run if possible. */
static double time_now(
	const struct row_pair *pair, const struct tuned_row *row, const struct tuned_row *winner)
{
	const double scale = scale_of(pair, row, winner);

	return row->result.time.median * (scale > 0 ? scale : 1);
}

static void put_old_row(struct tuned_entry *entry, struct tuned_row *now, struct tuned_row old)
{
	if (now && now != &entry->winner) {
		tuned_row_release(now);
		*now = old;
		return;
	}
	entry->families =
		memory_resize(entry->families, entry->family_count + 2, sizeof(*entry->families));
	entry->families[entry->family_count] = old;
	if (!now) {
		entry->family_count++;
		return;
	}
	tuned_entry_promote(entry, entry->family_count);
	tuned_row_release(&entry->families[entry->family_count]);
}

static void add_old_rows(
	const struct row_pair *pair, struct tuned_entry *entry, const struct tuned_judge *judge)
{
	const struct tuned_entry *old = pair->old_entry;

	for (size_t i = 0; i <= old->family_count; i++) {
		const struct tuned_row *row = i ? &old->families[i - 1] : &old->winner;
		struct tuned_row *now = tuned_entry_row(entry, row->result.family);

		if (!is_of_run(row, old, entry->run) && has_bits_of(entry, row) &&
			(!now || old_stays(pair, row, now, judge)))
			put_old_row(entry, now, old_row(row, old));
	}
}

void tuned_rows_merge(const struct tuned *tuned, struct tuned_entry *entry,
	const struct tuned_entry *old, const struct tuned_judge *judge, const char **kept)
{
	const struct row_pair pair = {.tuned = tuned, .old_entry = old, .new_entry = entry};
	const char *own = entry->winner.run;
	size_t best = SIZE_MAX;
	double best_us;
	bool is_old;

	add_old_rows(&pair, entry, judge);
	is_old = entry->winner.run != own;
	if (is_old)
		*kept = "the winner stays what an earlier run found: nothing that was tried now is "
			"as fast";
	best_us = entry->winner.result.time.median * (is_old ? 1 : 1 - TUNED_TIE_RATIO);
	for (size_t i = 0; i < entry->family_count; i++) {
		const struct tuned_row *row = &entry->families[i];
		const double row_us = time_now(&pair, row, &entry->winner);

		if (!row->run || !(row_us < best_us))
			continue;
		best_us = row_us;
		best = i;
	}
	if (best != SIZE_MAX) {
		tuned_entry_promote(entry, best);
		*kept = "the previous winner stays; its family was not tuned in this run";
	}
	if (*kept)
		entry->unfinished = old->unfinished;
	for (size_t i = 0; i < entry->family_count; i++)
		tuned_row_shorten(&entry->families[i]);
}
