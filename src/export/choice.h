/* SPDX-License-Identifier: MIT
 *
 * Which entries of a tuned file are exported.
 */
#ifndef EXPORT_CHOICE_H
#define EXPORT_CHOICE_H

#include "base/text.h"
#include "export/export.h"
#include "family/problem.h"

/* Entries of the source's tuned file and objective: the operation's (NULL: all), and of
 * them the entries of the problems in `texts` (none: all), or which have the keys that a text names
 * that is no whole problem ("dtype=bf16"). predicts: what the file lacks becomes `untuned`. The
 * problems and both lists are the caller's. */
enum status export_choose(const struct operation *operation, const char *const *texts, size_t count,
	struct problem_list *problems, bool predicts, struct export_source *source,
	struct error *err);

#endif
