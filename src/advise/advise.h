/* SPDX-License-Identifier: MIT
 *
 * Which problems near the asked one run better, by how much, why, and at what cost.
 *
 * The asked problem is tuned; its kernels, launched for each variant (advise/variant.h), say which
 * variants promise most. These are tuned too, and the entries are compared.
 */
#ifndef ADVISE_ADVISE_H
#define ADVISE_ADVISE_H

#include "advise/variant.h"
#include "tune/run.h"

/* One difference between the asked problem's winner and the variant's. */
struct advice_reason {
	const char *kind; /* "family", "alignment", "lines", "tiles" or "waves" */
	char *text;
};

/* A problem that was tuned. */
struct advice {
	const struct variant *variant; /* NULL: the asked problem itself */
	const struct problem *problem;
	struct tuned_entry *entry; /* of the run's file; NULL: it could not be tuned */
	struct plan_buffer *tensors;
	double flop;
	double work;         /* its FLOP; where they are not known its least bytes */
	double tensor_bytes; /* with pitches */
	double promised_us;  /* by the asked problem's kernels, before it is tuned */
	/* Of variants with an entry: */
	double net_gain_ratio;        /* the asked problem's time / this one's - 1 */
	double throughput_gain_ratio; /* of work per second, padding counted as work */
	double copy_us; /* to copy what has another layout there, once; from the sheet */
	bool is_better; /* the gain that counts is more than 1%, and than both intervals */
	struct advice_reason *reasons;
	size_t reason_count;
};

struct advise {
	struct tune_run *run;
	struct variant_list variants;
	struct advice *rows; /* rows[0] is the asked problem; then by kind, best first */
	size_t row_count;
};

/* run: context, effort, families, an empty tuned file, which gets the entries; its problems are
 * set here. text: how the problem was asked for. Errors: the asked problem cannot be tuned. */
enum status advise_run(struct advise *advise, struct tune_run *run, const struct problem *problem,
	const char *text, struct error *err);
void advise_release(struct advise *advise);

/* How much a row is better in what counts for its kind: time for padding and pitches, throughput
 * for other sizes. */
double advice_gain_ratio(const struct advice *row);
/* Whether it computes what was asked for, with zeros or gaps. */
bool advice_is_same_work(const struct advice *row);
/* Fills in the reasons of a row, both of which have an entry (advice_reasons.c). */
void advice_explain(const struct device_spec *device, const struct catalogue *catalogue,
	const struct advice *asked, struct advice *row);
/* From the first element to the last, with gaps between rows. */
double tensor_bytes(const struct plan_buffer *tensor);
/* Gains below this are noise, or the model's. */
extern const double advice_gain_least_ratio;

#endif
