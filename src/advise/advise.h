/* SPDX-License-Identifier: MIT
 *
 * Finds problems near the given one that run faster, and says by how much, why, and at what
 * cost.
 *
 * The given problem is tuned. Its kernels, launched for each variant (advise/variant.h), predict
 * which variants are most promising. These are tuned too, and the entries are compared.
 */
#ifndef ADVISE_ADVISE_H
#define ADVISE_ADVISE_H

#include "advise/variant.h"
#include "tune/run.h"

/* One difference between the winners of the given problem and of the variant. */
struct advice_reason {
	const char *kind; /* "family", "alignment", "lines", "tiles" or "waves" */
	char *text;
};

struct advice {
	const struct variant *variant; /* NULL: the given problem itself */
	const struct problem *problem;
	struct tuned_entry *entry; /* in the run's file; NULL: tuning failed */
	struct plan_buffer *tensors;
	double flop;
	double work;         /* FLOP, or the least bytes if the operation does not say its FLOP */
	double tensor_bytes; /* including gaps between rows */
	double promised_us;  /* predicted with the given problem's kernels before this problem is
				tuned */
	/* Only for variants with an entry: */
	double net_gain_ratio;        /* time of the given problem / time of this one - 1 */
	double throughput_gain_ratio; /* the same for work per second, counting padding */
	double copy_us; /* time to copy the tensors whose layout differs once, at the sheet's
			   bandwidth */
	bool is_better; /* advice_gain_ratio() exceeds both intervals and is at least 1% */
	struct advice_reason *reasons;
	size_t reason_count;
};

struct advise {
	struct tune_run *run;
	const struct problem *asked;
	struct variant_list variants;
	struct advice *rows; /* the given problem; then by kind, best first */
	size_t row_count;
};

/* Runs the advice. The caller sets the run's context, effort and families, and an empty tuned
 * file, which gets the entries; this function sets the run's problems. `text` is the problem as
 * the user wrote it. Fails if the given problem cannot be tuned. */
enum status advise_run(struct advise *advise, struct tune_run *run, const struct problem *problem,
	const char *text, struct error *err);
void advise_release(struct advise *advise);

/* The gain in the quantity that matters for the row's kind: time for padding and pitches,
 * throughput for other sizes. */
double advice_gain_ratio(const struct advice *row);
/* Whether the variant computes what was requested, apart from padding with zeros or gaps. */
bool advice_is_same_work(const struct advice *row);
/* Fills in the reasons of a row. The row and `asked` both have an entry. */
void advice_explain(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row);
/* The bytes from the first element to the last, including gaps between rows. */
double tensor_bytes(const struct plan_buffer *tensor);
/* Gains below this may be noise or an error of the model. */
extern const double advice_gain_least_ratio;

#endif
