/* SPDX-License-Identifier: MIT
 *
 * One line of advice: a variant of the asked problem, what it gains, and why.
 */
#ifndef ADVISE_ADVICE_H
#define ADVISE_ADVICE_H

#include "advise/variant.h"
#include "base/record.h"
#include "engine/seeds.h"
#include "format/run.h"

/* One difference between the asked problem's best candidate and the variant's. */
enum advice_reason_kind {
	REASON_FAMILY,
	REASON_ALIGNMENT,
	REASON_LINES,
	REASON_TILES,
	REASON_WAVES,
};
extern const char *const advice_reason_kinds[];

struct advice_reason {
	enum advice_reason_kind kind;
	char *text;
};

struct advice_row {
	struct variant *variant; /* borrowed; NULL: the asked problem itself */
	struct best_of best_of;
	double flop, min_bytes; /* of the problem */
	double work;            /* its FLOP; where they are not known its bytes */
	double tensor_bytes;    /* with pitches */
	double raw_gain_ratio;  /* by the model before compilation, what rows are chosen by */
	/* Filled in for rows with a best candidate. */
	double net_gain_ratio;        /* the asked problem's time / this one's - 1 */
	double throughput_gain_ratio; /* of work per second, padding counted as work */
	double copy_us; /* to copy what has another layout there, once; from the sheet */
	struct advice_reason *reasons;
	size_t reason_count;
};

/* How much a row is better in what counts for its kind: time for padding and pitches, throughput
 * for other sizes. */
double advice_gain_ratio(const struct advice_row *row);
/* Gains below this are noise, or the model's. */
extern const double advice_gain_least_ratio;

/* Reasons of a row, from the best candidates of both. */
void advice_explain(const struct advice_row *asked, struct advice_row *row);

struct advise;
/* The answer of `advise` (advise/advise.h): {"format": "tiletune.advise/1", ...}. run: that made
 * it.
 */
struct json *advise_to_json(const struct advise *advise, const struct run *run);
extern const struct record advise_record; /* of that document */

#endif
