/* SPDX-License-Identifier: MIT
 *
 * Enumerates the legal configurations of a bound space (README.md: order and errors).
 */
#ifndef SPACE_ENUMERATE_H
#define SPACE_ENUMERATE_H

#include "space/space.h"

/* Numbers of removed raw configurations. Unless the walk stops early, they sum to the raw minus the
 * legal count, up to 2^53. */
struct space_removed {
	double *by_constraint; /* one per constraint; the caller zeroes them */
	double legal;
};

/* Visits legal configurations in lexicographic order. visit returns false to stop and must not bind
 * the space; NULL only counts. removed may be NULL. An error ends the walk; its hint names the
 * configuration. */
typedef bool space_visit(const choice *configuration, void *context);
enum status space_enumerate(struct space *space, space_visit *visit, void *context,
	struct space_removed *removed, struct error *err);

/* Visits only configurations of which `enter` accepts every prefix. A prefix is one choice longer
 * than the last accepted one. */
typedef bool space_enter(const choice *configuration, size_t count, void *context);
enum status space_enumerate_some(struct space *space, space_enter *enter, space_visit *visit,
	void *context, struct error *err);

/* ---- for space.c ---- */
/* Work to do as soon as the last parameter that it depends on is bound. */
struct space_action {
	const struct expression *expression;
	bool derives; /* computes a derived constant; if false, tests a constraint */
	bool unread;  /* no constraint needs the result */
	size_t index;
	int name_index;
	/* Cached results at sum(choice * stride) over the parameters that the action depends on; or
	 * NULL.
	 */
	unsigned char *verdicts; /* constraints: VERDICT_* */
	struct value *results;   /* derived constants; VALUE_NONE if not computed yet */
	size_t own_stride;       /* stride of the last parameter */
	size_t stride_count;     /* number of other parameters */
	struct {
		size_t parameter, stride;
	} strides[SPACE_PARAMETERS_MAX];
};

enum {
	VERDICT_UNKNOWN,
	VERDICT_LEGAL,
	VERDICT_REMOVED
};

void order_build(struct space *space);
void order_release(struct space *space);

/* Sets the hint "it fails at BM=128", which names the first `count` choices. */
void space_describe(
	const struct space *space, const struct value *values, size_t count, struct error *err);

/* Sets a derived constant in values, or *legal for a constraint. */
enum status action_run(
	const struct space_action *action, struct value *values, bool *legal, struct error *err);

#endif
