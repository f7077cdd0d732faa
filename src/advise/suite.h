/* SPDX-License-Identifier: MIT
 *
 * A suite is a list of problems in a file (configs/suites/NAME.json).
 */
#ifndef ADVISE_SUITE_H
#define ADVISE_SUITE_H

#include "record/record.h"

struct suite {
	struct json *root;
	char *file;
	const char *operation;
	const char *where, *effort; /* may be NULL */
	const char **problems;      /* NULL-terminated */
	const char **families;      /* NULL-terminated; NULL: all */
};

RECORD_DECLARE(struct suite, suite_record);

/* Loads a file, or ROOT/configs/suites/NAME.json. The caller releases the suite in any case. */
enum status suite_load(
	const char *name, const char *const *roots, struct suite *suite, struct error *err);
/* The same for a file that was read. */
enum status suite_parse(
	const struct text *content, const char *path, struct suite *suite, struct error *err);
void suite_release(struct suite *suite);

#endif
