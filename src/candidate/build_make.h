/* SPDX-License-Identifier: MIT
 *
 * Making build units; private to src/kernel.
 */
#ifndef CANDIDATE_BUILD_MAKE_H
#define CANDIDATE_BUILD_MAKE_H

#include "candidate/build.h"
#include "candidate/defines.h"

/* A unit with the fixed options and the -D list, without entries. */
void build_unit_make(struct build_unit *unit, const char *name, const char *source,
	const struct define_list *defines);
void build_unit_add_entry(struct build_unit *unit, const char *entry); /* once each */
/* The hashes: of source, options and entries. */
void build_finish(struct build *build);

/* The index of the build unit of each of the family's sources; -1: not built. A source is built if
 * one of its launches is active, or could be with other arguments. */
enum status family_units(
	const struct family *family, const struct value *slots, int *units, struct error *err);

#endif
