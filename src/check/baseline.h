/* SPDX-License-Identifier: MIT
 *
 * What a check reads from its baseline and writes: today's kernel and its time as the winner, and
 * the binaries in <baseline>.cubins: KEY.N.cubin, and KEY.json (tiletune.kernel/1), which says how
 * they are launched. KEY is a hash of the entry's operation, problem, winner and kernel hash: an
 * entry that was tuned again has no stored binaries.
 */
#ifndef CHECK_BASELINE_H
#define CHECK_BASELINE_H

#include "check/row.h"

/* ---- binaries ---- */
/* Loads the stored binaries of the row's entry, if there are any. A damaged file is ignored, with a
 * notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
void check_kept_release(struct device_job *binary);

/* ---- what a check leaves ---- */
/* Puts what was found into the baseline, as entries of run: winner, resources, times. For a check
 * whose status is STATUS_OK. The caller saves. On a device model, where nothing was timed, only
 * resources and hashes of the winners are renewed. */
enum status check_update(struct check *check, const char *run_id, struct error *err);
/* Stores the cubins of this check in check->kept_folder, of entries whose kernel is the
 * baseline's only. *kept: how many. */
enum status check_keep(struct check *check, size_t *kept, struct error *err);
/* Where the cubins of a baseline are. Caller frees. */
char *check_kept_folder(const char *baseline_path);

#endif
