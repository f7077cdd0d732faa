/* SPDX-License-Identifier: MIT
 *
 * Which problems near the asked one run better, by how much, why, and at what cost.
 *
 * Every variant (advise/variant.h) is scored by the model; the promising ones of each kind are
 * compiled and, on a GPU, measured, interleaved with the asked problem. There the asked problem and
 * the best variants are tuned first, so that each is judged by a configuration of its own.
 */
#ifndef ADVISE_ADVISE_H
#define ADVISE_ADVISE_H

#include "engine/best_of.h"
#include "engine/evaluated.h"
#include "advise/variant.h"

/* One difference between the asked problem's best candidate and the variant's. */
struct advice_reason {
	const char *kind; /* family | alignment | lines | tiles | waves */
	char *text;
};

struct advice_row {
	struct variant *variant; /* borrowed; NULL: the asked problem itself */
	struct best_of best_of;
	double flop, min_bytes; /* of the problem */
	double tensor_bytes;    /* with pitches */
	double raw_gain_ratio;  /* by the model before compilation, what rows are chosen by */
	/* Filled in for rows with a best candidate. */
	double net_gain_ratio;        /* the asked problem's time / this one's - 1 */
	double throughput_gain_ratio; /* of FLOP per second, padding counted as work */
	double copy_us; /* to copy what has another layout there, once; from the sheet */
	struct advice_reason *reasons;
	size_t reason_count;
};

struct advise_options {
	const char *const *families; /* NULL or empty: all */
	tune_problems *tune;         /* on a GPU, with these families */
	void *tune_context;
	volatile sig_atomic_t *interrupted;
};

struct advise {
	struct context *bench;
	struct advise_options options;
	const struct operation *operation;
	struct problem_list asked; /* one problem */
	struct variant_list variants;
	struct seeds seeds;
	struct evaluator evaluator;
	struct advice_row *rows; /* rows[0] is the asked problem; then by kind, best first */
	size_t row_count;
	bool measured;
};

/* text: one problem; aliases are understood (advise/variant.h). Errors: none of the families can do
 * the asked problem. */
enum status advise_run(struct advise *advise, struct context *bench,
	const struct operation *operation, const char *text, const struct advise_options *options,
	struct error *err);
void advise_release(struct advise *advise);

/* How much a row is better in what counts for its kind: time for padding and pitches, throughput
 * for other sizes. */
double advice_gain_ratio(const struct advice_row *row);
/* Gains below this are noise, or the model's. */
extern const double advice_gain_least_ratio;

/* {"format": "tiletune.advise/1", ...}: configs/schemas/advise.schema.json. */
struct json *advise_to_json(const struct advise *advise);

/* Reasons of a row, from the best candidates of both. */
void advice_explain(const struct advice_row *asked, struct advice_row *row);

#endif
