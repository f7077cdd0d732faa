/* SPDX-License-Identifier: MIT
 *
 * Restricts a search to certain output bits (tune --bits).
 */
#ifndef TUNE_BITS_H
#define TUNE_BITS_H

#include "tune/search.h"
#include "tune/shared.h"

struct bits_rule {
	const char *name; /* "same", "invariant=M"; borrowed */
	/* Rule "same" requires the digests of the winner in this file or, if the file has no entry,
	 * those of the first family's default configuration. NULL: the digests of `class`. */
	const struct tuned *reference;
	struct tuned file;
	struct shared_choice class; /* selected class of rule "invariant" */
};

/* Borrows `text`. invariant=KEY searches all problems, without the run's journal and tuned file.
 * STATUS_BAD_INPUT: the device does not measure, problems differ in other keys, or no class works
 * for all. */
enum status bits_rule_open(
	const char *text, const struct tune_run *run, struct bits_rule *rule, struct error *err);
void bits_rule_release(struct bits_rule *rule);
/* Returns whether one process must search all problems. */
bool bits_rule_compares_problems(const char *text);

/* Sets search->bits, which may require a run of the reference configuration. Stores the candidates
 * of the class in `members`. STATUS_FAILED if the reference has no digests, STATUS_BAD_INPUT if it
 * is not in the space. */
enum status bits_want(struct search *search, size_t *members, size_t *count, struct error *err);

/* If the candidate differs from one with other bits only in parameters that do not change bits,
 * fills in its result and returns true. */
bool bits_known(const struct search *search, size_t candidate, struct result *result);

/* Describes two candidates that break this rule, or returns NULL. The caller frees it. */
char *bits_contradiction(const struct search *search);

/* Both return NULL without a rule; the caller frees the result. */
struct tuned_bits *bits_of_entry(const struct search *search);
char *bits_words(const struct tuned_entry *entry);

#endif
