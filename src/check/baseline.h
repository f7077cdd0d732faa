/* SPDX-License-Identifier: MIT
 *
 * What a check reads from its baseline and leaves in it: the times that it measured (the entry's
 * "check"), today's kernel as the winner, and binaries beside the file: <baseline>.cubins/KEY.json
 * (tiletune.kernel/1), which says how they are run, and KEY.N.cubin. KEY is a hash of what the
 * baseline's entry names, so that an entry that was tuned anew finds nothing.
 */
#ifndef CHECK_BASELINE_H
#define CHECK_BASELINE_H

#include "check/row.h"

/* ---- the entry's "check" ---- */
/* The entry's "check"; false if there is none, or it is of another kernel than its winner. */
bool check_reference_find(const struct tuned_entry *entry, double confidence_ratio,
	struct check_reference *reference);

void check_reference_put(const struct check_reference *reference, const char *kernel_hash,
	double confidence_ratio, struct tuned_entry *entry);

/* ---- binaries ---- */
/* What is kept of the row's baseline, if anything. A damaged file is as good as none: notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
void check_kept_release(struct check_kept *kept);

/* ---- what a check leaves ---- */
/* Puts what was found into the baseline, as entries of run: winner, resources, times. For a check
 * whose status is STATUS_OK. The caller saves. On a device model, where nothing was timed, only
 * resources and hashes of the winners are renewed. */
enum status check_update(struct check *check, const char *run_id, struct error *err);
/* Stores the cubins of this check in check->kept_folder, and in the entries what was
 * measured of them; of entries whose kernel is the baseline's only. *kept: how many. The caller
 * saves the baseline. */
enum status check_keep(struct check *check, size_t *kept, struct error *err);
/* Where the cubins of a baseline are. Caller frees. */
char *check_kept_folder(const char *baseline_path);

#endif
