/* SPDX-License-Identifier: MIT
 *
 * Problems from the command line's text:
 *
 *	M=1,16,128,N=4096,K=1024:4096:1024,dtype=bf16     lists and ranges: their product
 *	M=N=K=1024:4096:32                                keys that move together
 */
#ifndef FAMILY_PROBLEM_TEXT_H
#define FAMILY_PROBLEM_TEXT_H

#include "family/problem.h"

/* Appends the product of all lists and ranges (at most 100000; ranges are inclusive, step 1 if left
 * out) to list. Refuses unknown keys (nearest name), missing keys, values out of range, violated
 * constraints (with their reason). */
enum status problem_parse(const struct operation *operation, const char *text,
	struct problem_list *list, struct error *err);

/* A canonical text from before the operation got further keys becomes that of today; one that is no
 * problem of today's stays. */
void problem_text_complete(const struct operation *operation, char **text);

#endif
