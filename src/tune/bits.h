/* SPDX-License-Identifier: MIT
 *
 * Restricts a search to configurations with certain output bits (tune --bits): determines the
 * required digests of a problem and what is known without a trial, and fills in the entry's
 * "bits".
 */
#ifndef TUNE_BITS_H
#define TUNE_BITS_H

#include "tune/search.h"
#include "tune/shared.h"

struct bits_rule {
	const char *name; /* "same", "invariant=M"; borrowed */
	/* same: the digests of the winners of these entries; for a problem without an entry,
	 * those of the first family's default configuration. NULL: the digests of `class`. */
	const struct tuned *reference;
	struct tuned file;          /* the file of same:FILE */
	struct shared_choice class; /* invariant: the selected class, with its digests, members and
				       losses */
};

/* Parses a rule: same, same:FILE or invariant=KEY; `text` is borrowed. invariant=KEY searches
 * all problems, without using the run's journal and tuned file. Errors are STATUS_BAD_INPUT:
 * another text, a device that does not measure, problems that differ in other keys, or no class
 * that serves all problems. */
enum status bits_rule_open(
	const char *text, const struct tune_run *run, struct bits_rule *rule, struct error *err);
void bits_rule_release(struct bits_rule *rule);
/* Whether a rule, invariant=KEY, is about all problems together. Other rules apply to each problem
 * by itself, so that several processes can share the problems. */
bool bits_rule_compares_problems(const char *text);

/* Sets search->bits, which the evaluator requires of all outputs, and verifies the reference
 * configuration if its digests are not known. `members` gets the candidates of the class, which
 * are always tried; it needs room for all members of the class, and *count is their number.
 * Fails with STATUS_FAILED if the reference configuration has no digests, and with
 * STATUS_BAD_INPUT if it is not in the space. */
enum status bits_want(struct search *search, size_t *members, size_t *count, struct error *err);

/* Whether the digests of a candidate are known to differ from the required ones, because it
 * differs from a tried candidate only in parameters that are declared not to change bits. If so,
 * fills in its result. */
bool bits_known(const struct search *search, size_t candidate, struct result *result);

/* Describes two candidates that differ in their digests although they differ only in such
 * parameters. Returns NULL if no such pair exists. The caller frees the text. */
char *bits_contradiction(const struct search *search);

/* The "bits" member of the search's entry; NULL without a rule. */
struct tuned_bits *bits_of_entry(const struct search *search);

/* Describes the rule for the user: "same: the same bits on 2 inputs, 1.0% slower than the free
 * choice". NULL without a rule. The caller frees the text. */
char *bits_words(const struct tuned_entry *entry);

#endif
