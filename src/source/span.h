/* SPDX-License-Identifier: MIT
 *
 * Parts of a source text.
 */
#ifndef SOURCE_SPAN_H
#define SOURCE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *begin, *end;
};

enum {
	SPAN_PARTS_MAX = 48
};

/* Removes white space at both ends. */
struct span span_trim(struct span span);
bool span_is(struct span span, const char *word);
char *span_copy(struct span span);
/* Splits at commas outside of brackets into trimmed parts; has_angles: < and > are brackets, too.
 * Returns the number of parts, at most SPAN_PARTS_MAX. */
size_t span_split(struct span whole, bool has_angles, struct span parts[SPAN_PARTS_MAX]);

#endif
