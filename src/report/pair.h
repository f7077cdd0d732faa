/* SPDX-License-Identifier: MIT
 *
 * Lists as journals have problems and configurations: "M=4096,dtype=bf16", read without a copy.
 */
#ifndef REPORT_PAIR_H
#define REPORT_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* Not terminated: print with %.*s. */
struct pair {
	const char *name, *value;
	int name_length, value_length;
};

/* The next pair; false at the end. */
bool pair_next(const char **list, struct pair *pair);
bool pair_find(const char *list, const char *name, struct pair *pair);
/* False: the value is no integer. */
bool pair_integer(const struct pair *pair, int64_t *value);

#endif
