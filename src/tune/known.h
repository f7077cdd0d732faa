/* SPDX-License-Identifier: MIT
 *
 * Problems that are tuned already, by this or another machine: files named with --known. One that
 * was tuned to its end on this GPU model with this NVRTC, and whose winner's kernel the sources
 * still make, is taken over with its run; the winners of those that are near are among the first
 * that a search tries.
 */
#ifndef TUNE_KNOWN_H
#define TUNE_KNOWN_H

#include "engine/candidates.h"
#include "engine/context.h"
#include "format/tuned.h"

struct known {
	struct tuned *files; /* that were read */
	size_t count, capacity;
};

/* Adds a tuned file. Errors: it is none, or one of another GPU model. */
enum status known_load(
	struct known *known, const char *path, const struct context *context, struct error *err);
void known_release(struct known *known);

/* Those that are known go into tuned, and off the list into taken. */
void known_take(const struct known *known, const struct context *context, enum objective objective,
	struct problem_list *problems, struct problem_list *taken, struct tuned *tuned);

enum {
	KNOWN_NEAR_MAX = 8
};
/* Winners of the nearest problems as candidates of this one; returns how many. also: one more file,
 * or NULL. */
size_t known_near(const struct known *known, const struct tuned *also,
	const struct candidates *pool, enum objective objective, size_t candidates[KNOWN_NEAR_MAX]);

/* ---- whether a row of the tuned file still stands after a run over its family that did not end
 * with it: the sources make the same kernel of it as when it was measured, and the run did not try
 * it (what it said of it would be newer) ---- */
/* What the run tried of this problem; the context of row_validity_row(). */
struct row_validity {
	const struct context *context;
	const struct problem *problem;
	const struct evaluated_list *evaluated; /* or NULL */
	const struct result *recorded;          /* of a journal; recorded_count of them */
	size_t recorded_count;
};

/* For struct tuned_judge. */
bool row_validity_row(const struct tuned_row *row, void *row_validity);

#endif
