/* SPDX-License-Identifier: MIT
 *
 * Commands, options and formats of earlier versions that were removed, each with the sentence that
 * names its replacement: an error message that helps instead of "unknown option".
 */
#ifndef FORMAT_REMOVED_H
#define FORMAT_REMOVED_H

#include "base/error.h"

struct removed {
	/* As a user types it: "cache", "advise --sweep", "--worker" (an option of several
	 * commands), "export --format t4", "lookup FOLDER", "gemm -p batch=B,seq=S"
	 * (of which the last key tells); or the format of a file: "tiletune.explain/1". */
	const char *what;
	const char *instead; /* a sentence without its full stop */
};
extern const struct removed removed_table[]; /* ends with {NULL} */

/* Sets "WHAT was removed: INSTEAD" and returns STATUS_BAD_INPUT if the table has a row for it;
 * else STATUS_OK. option and value may be NULL. */
enum status removed_expect_not(
	const char *command, const char *option, const char *value, struct error *err);
/* The hint of a problem's text that was refused, where the table has a row for a key of it; returns
 * STATUS_BAD_INPUT. */
enum status removed_key_hint(const char *operation, const char *problem, struct error *err);

#endif
