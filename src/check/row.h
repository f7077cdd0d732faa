/* SPDX-License-Identifier: MIT
 *
 * One entry of the baseline, from what the file says to a compiled candidate, and what of that
 * kernel is not as it was.
 */
#ifndef CHECK_ROW_H
#define CHECK_ROW_H

#include "check/check.h"

/* What the baseline says. */
void check_row_open(const struct tuned_entry *entry, struct check_row *row);
/* Unless it is decided, on to a candidate that can be compiled; what is in the way of that is the
 * verdict. */
void check_row_build(struct check *check, struct check_row *row);
void check_row_release(struct check_row *row);
/* Decides, once: later calls for the same row change nothing. */
void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
	PRINTF_LIKE(3, 4);
bool check_row_is_decided(const struct check_row *row);
/* Compiled, and nothing is wrong with it so far. */
bool check_row_can_run(const struct check_row *row);
/* Submits all, waits for all. Rows that do not compile fail. */
enum status check_compile(struct check *check, struct error *err);

/* Loads the stored binaries of the row's entry, if there are any. A damaged file is ignored, with a
 * notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
void check_kept_release(struct device_job *binary);
/* Where the cubins of a baseline are. Caller frees. */
char *check_kept_folder(const char *baseline_path);

/* On a GPU: loads, verifies, times and judges all rows that can run, some at a time. */
enum status check_measure(struct check *check, struct error *err);

/* Compares what was compiled with the baseline's launches. Replaces row->differences. */
void check_resources(const struct check *check, struct check_row *row);
/* "registers 128 -> 168; spills 0 -> 96 B" into text; only_worse: no others. */
void check_differences_list(const struct check_row *row, bool only_worse, struct text *text);

#endif
