/* SPDX-License-Identifier: MIT
 *
 * A check, for people and for CI servers.
 */
#ifndef CHECK_CHECK_REPORT_H
#define CHECK_CHECK_REPORT_H

#include "check/check.h"

/* {"format": "tiletune.check/1", ...} */
struct check_document;
RECORD_DECLARE(struct check_document, check_document_record);
struct json *check_to_json(const struct check *check);

/* For a terminal. */
void check_report_text(const struct check *check, struct text *text);
/* For the summary of a CI job: what GitHub's $GITHUB_STEP_SUMMARY takes. */
void check_report_markdown(const struct check *check, struct text *text);
/* JUnit XML: slower and other bits are failures; failed an error; unclear and not comparable are
 * skipped. */
void check_report_junit(const struct check *check, struct text *text);

#endif
