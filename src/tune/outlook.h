/* SPDX-License-Identifier: MIT
 *
 * What a problem is worth: its fastest candidate among a few prospects, compiled, and on a GPU
 * measured, side by side with those of other problems.
 */
#ifndef TUNE_OUTLOOK_H
#define TUNE_OUTLOOK_H

#include "tune/comparison.h"
#include "tune/favourites.h"

struct refusal;

struct outlook {
	const struct problem *problem; /* borrowed */
	struct prospects prospects;
	size_t next; /* of the prospects: the first that was not tried */
	size_t tried;
	struct refusal *refusals; /* what did not compile well; inside settling */
	size_t refusal_count, refusal_capacity;
	const struct compared *best; /* borrowed from the comparison; NULL: nothing worked */
	double time_us;              /* of best; infinite: none */
};

/* Finds the best of each. On a device that predicts, prospects are compiled in their order until
 * what is left cannot be better; on one that measures, the first few of each and all that won a
 * search are timed, all problems interleaved. */
enum status outlooks_settle(
	struct comparison *comparison, struct outlook **outlooks, size_t count, struct error *err);

#endif
