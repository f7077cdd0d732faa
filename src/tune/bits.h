/* SPDX-License-Identifier: MIT
 *
 * A search in which only configurations with certain bits may win (tune --bits): what is wanted of
 * a problem, what is known without a trial, and what the entry says of it.
 */
#ifndef TUNE_BITS_H
#define TUNE_BITS_H

#include "tune/search.h"
#include "tune/shared.h"

/* The rule of a run. */
struct bits_rule {
	const char *name; /* "same", "invariant=M"; borrowed */
	/* same: the bits of these entries' winners; where there is no entry, those of the defaults
	 * of the first family. NULL: those of the class. */
	const struct tuned *reference;
	struct tuned file;          /* of same:FILE */
	struct shared_choice class; /* invariant: its bits, members and price */
};

/* text: same, same:FILE or invariant=KEY; borrowed. For the last all problems are searched, without
 * the run's journal and tuned file. Errors: STATUS_BAD_INPUT, another text, a device that does
 * not measure, problems that differ in other keys; no class serves all problems. */
enum status bits_rule_open(
	const char *text, const struct tune_run *run, struct bits_rule *rule, struct error *err);
void bits_rule_release(struct bits_rule *rule);

/* Fills in search->bits, which its evaluator goes by; verifies the reference configuration if its
 * digests are not known. members: candidates of the class, to be tried in any case (as many as the
 * class has members at most); returns their number in *count. Errors: STATUS_FAILED, the reference
 * configuration has no digests; STATUS_BAD_INPUT, it is not in the space. */
enum status bits_want(struct search *search, size_t *members, size_t *count, struct error *err);

/* A candidate that differs from one with other bits only in parameters that, its family says, keep
 * them. True: result is filled in. */
bool bits_known(const struct search *search, size_t candidate, struct result *result);

/* Two that differ only in such parameters, and in their bits; NULL: there are none. The caller
 * frees. */
char *bits_contradiction(const struct search *search);

/* What the entry says of the rule; NULL without one. */
struct tuned_bits *bits_of_entry(const struct tune_run *run, const struct problem *problem);

/* "same: the same bits on 2 inputs, 1.0% slower than the free choice"; NULL without a rule. The
 * caller frees. */
char *bits_words(const struct tuned_entry *entry);

#endif
