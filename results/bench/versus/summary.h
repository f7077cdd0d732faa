/* SPDX-License-Identifier: MIT
 *
 * Summaries of comparisons: the table, geometric means of groups, promises, and the JSON.
 */
#ifndef VERSUS_SUMMARY_H
#define VERSUS_SUMMARY_H

#include <stdio.h>

#include "bench/versus/lt_comparison.h"

/* Each function prints one line, with ratios as [quartiles]. */
void summary_print_head(FILE *out);
void summary_print_comparison(FILE *out, const struct lt_comparison *lt_comparison);
/* Prints geometric mean, lowest and number of ratios by type and alignment, and for all
 * together. */
void summary_print_groups(FILE *out, const struct lt_comparison *comparisons, size_t count);
/* Prints "NAME: VALUE (promised: LIMIT) ok|MISSED" for every promise that these comparisons can
 * answer, and returns how many were missed. family is the requested one, or NULL for winners. */
unsigned summary_print_promises(
	FILE *out, const struct lt_comparison *comparisons, size_t count, const char *family);
/* Return [{"problem", "family", "ours_tflops", ...}] and [{"group", ...}]. */
struct json *summary_entries_json(const struct lt_comparison *comparisons, size_t count);
struct json *summary_groups_json(const struct lt_comparison *comparisons, size_t count);

#endif
