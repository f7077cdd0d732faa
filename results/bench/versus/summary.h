/* SPDX-License-Identifier: MIT
 *
 * Comparisons put together: the table, geometric means of groups, what we promise, the JSON.
 */
#ifndef VERSUS_SUMMARY_H
#define VERSUS_SUMMARY_H

#include <stdio.h>

#include "bench/versus/lt_comparison.h"

/* One line each; ratios as [quartiles]. */
void summary_print_head(FILE *out);
void summary_print_comparison(FILE *out, const struct lt_comparison *lt_comparison);
/* Geometric mean, lowest and number of ratios by type and alignment, and of all. */
void summary_print_groups(FILE *out, const struct lt_comparison *comparisons, size_t count);
/* "NAME: VALUE (promised: LIMIT) ok|MISSED" for every promise that these comparisons can answer;
 * returns how many were missed. family: the one that was asked for, or NULL for winners. */
unsigned summary_print_promises(
	FILE *out, const struct lt_comparison *comparisons, size_t count, const char *family);
/* [{"problem", "family", "ours_tflops", ...}] and [{"group", ...}] */
struct json *summary_entries_json(const struct lt_comparison *comparisons, size_t count);
struct json *summary_groups_json(const struct lt_comparison *comparisons, size_t count);

#endif
