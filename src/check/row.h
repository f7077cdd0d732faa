/* SPDX-License-Identifier: MIT
 *
 * A row is one entry of the baseline, and the compiled candidate that is compared with it.
 */
#ifndef CHECK_ROW_H
#define CHECK_ROW_H

#include "check/check.h"

void check_row_open(const struct tuned_entry *entry, struct check_row *row);
/* Makes today's candidate. A failure becomes the row's verdict. */
void check_row_build(struct check *check, struct check_row *row);
void check_row_release(struct check_row *row);
/* Later calls for the same row change nothing. */
void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
	PRINTF_LIKE(3, 4);
bool check_row_is_decided(const struct check_row *row);
/* Returns whether the kernel compiled and has not failed so far. */
bool check_row_can_run(const struct check_row *row);
/* Compiles all rows. Rows that do not compile get the verdict CHECK_FAILED. */
enum status check_compile(struct check *check, struct error *err);

/* Reads the stored binary. Ignores a damaged file with a notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
void check_kept_release(struct device_job *binary);
/* The caller frees it. */
char *check_kept_folder(const char *baseline_path);

/* Loads, verifies, times and judges all rows that can run. */
enum status check_measure(struct check *check, struct error *err);

/* Compares resources and replaces row->differences. */
void check_resources(const struct check *check, struct check_row *row);
/* Appends "registers 128 -> 168; spills 0 -> 96 B"; with only_worse only regressions. */
void check_differences_list(const struct check_row *row, bool only_worse, struct text *text);

#endif
