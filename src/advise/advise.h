/* SPDX-License-Identifier: MIT
 *
 * Finds problems near the given one that run faster, the reasons, and the costs. The kernels of the
 * given problem predict which variants (advise/variant.h) are worth tuning.
 */
#ifndef ADVISE_ADVISE_H
#define ADVISE_ADVISE_H

#include "advise/variant.h"
#include "tune/run.h"

/* A difference between both winners. */
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
	double promised_us;  /* predicted from the kernels of other problems */
	double rank_ratio;   /* (predicted) gain, by which the rows are sorted */
	/* Only for variants with an entry: */
	double net_gain_ratio;        /* time of the given problem / time of this one - 1 */
	double throughput_gain_ratio; /* the same for work per second, counting padding */
	double copy_us;               /* time to copy once the tensors whose layout differs */
	bool is_better;               /* exceeds both intervals and advice_gain_least_ratio */
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

/* `run` needs no problems; its tuned file gets the entries. `text` is the problem as the user wrote
 * it. Fails if the given problem cannot be tuned. */
enum status advise_run(struct advise *advise, struct tune_run *run, const struct problem *problem,
	const char *text, struct error *err);
void advise_release(struct advise *advise);

/* The gain in time for padding and pitches, in throughput for other sizes. */
double advice_gain_ratio(const struct advice *row);
/* Returns whether the variant computes what was requested, apart from zeros and gaps. */
bool advice_is_same_work(const struct advice *row);
void advice_explain(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row);
double tensor_bytes(const struct plan_buffer *tensor);
extern const double advice_gain_least_ratio;

#endif
