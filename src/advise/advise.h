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

#include "advise/advice.h"
#include "engine/candidates.h"

struct advise_options {
	const char *const *families; /* NULL or empty: all */
	tune_problems *tune;         /* on a GPU, with these families */
	void *tune_context;
	volatile sig_atomic_t *interrupted;
};

struct advise {
	struct context *context;
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
enum status advise_run(struct advise *advise, struct context *context,
	const struct operation *operation, const char *text, const struct advise_options *options,
	struct error *err);
void advise_release(struct advise *advise);

#endif
