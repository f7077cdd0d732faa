/* SPDX-License-Identifier: MIT
 *
 * A row is one entry of the baseline. A compiled candidate is made from it, whose resources are
 * compared with the entry's.
 */
#ifndef CHECK_ROW_H
#define CHECK_ROW_H

#include "check/check.h"

void check_row_open(const struct tuned_entry *entry, struct check_row *row);
/* Makes the candidate, unless the row is decided. A failure is the row's verdict. */
void check_row_build(struct check *check, struct check_row *row);
void check_row_release(struct check_row *row);
/* Sets verdict and reason. Later calls for the same row change nothing. */
void check_row_decide(struct check_row *row, enum check_verdict verdict, const char *reason, ...)
	PRINTF_LIKE(3, 4);
bool check_row_is_decided(const struct check_row *row);
/* Whether the kernel compiled and has not failed so far. */
bool check_row_can_run(const struct check_row *row);
/* Compiles the kernels of all rows. Rows that do not compile fail. */
enum status check_compile(struct check *check, struct error *err);

/* Reads the stored binaries of the row's entry, if there are any. A damaged file is ignored with a
 * notice. */
void check_kept_load(const char *folder, struct check_row *row, struct text *notice);
void check_kept_release(struct device_job *binary);
/* The folder of a baseline's cubins. The caller frees it. */
char *check_kept_folder(const char *baseline_path);

/* On a GPU, loads, verifies, times and judges all rows that can run, some of them at a time. */
enum status check_measure(struct check *check, struct error *err);

/* Compares the compiled kernels with the baseline's launches. Replaces row->differences. */
void check_resources(const struct check *check, struct check_row *row);
/* Appends "registers 128 -> 168; spills 0 -> 96 B"; only_worse: only regressions. */
void check_differences_list(const struct check_row *row, bool only_worse, struct text *text);

#endif
