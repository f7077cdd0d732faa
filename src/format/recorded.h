/* SPDX-License-Identifier: MIT
 *
 * What other tuners recorded, read as a journal of one run: a Kernel Tuner cache file (its closing
 * brackets may be missing, as while it is written) or T4 results. The parameters of the space are
 * the family's; every value that occurs is one of theirs. The times are those that the file calls
 * `time`, its objective; a configuration that failed has the outcome that is nearest to its words.
 *
 * A cache file becomes one problem of the operation and family that its kernel is named by. T4
 * results are of operation, problem and family where their configurations have such members, as
 * those that tiletune exports.
 */
#ifndef FORMAT_RECORDED_H
#define FORMAT_RECORDED_H

#include "format/journal.h"

/* Whether the content of a file is such a recording, as its beginning tells. */
bool recorded_is(const struct text *content);
/* record: zeroed; on failure the caller releases it. Errors: "path: $.way: expected, found". */
enum status recorded_read(const char *path, const struct text *content,
	struct journal_record *record, struct error *err);

#endif
