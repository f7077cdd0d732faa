/* SPDX-License-Identifier: MIT
 *
 * Kernels sampled in turn, round by round, until their times are known well enough: what the final
 * measurement of a tuning and `check` have in common. A round has one observation of each kernel;
 * kernels are compared by their ratios within rounds, which a drift of the clock does not touch.
 *
 * Whether that is enough is asked at ROUND_LOOKS fixed numbers of rounds, never in between, and
 * with intervals of 99%: all looks together then err in 5 of 100 cases, as one look at an interval
 * of 95% does (Bonferroni; equal alpha spending).
 */
#ifndef ENGINE_ROUNDS_H
#define ENGINE_ROUNDS_H

#include "engine/evaluator.h"

enum {
	ROUND_LOOKS = 5
};

/* One kernel. Zeroed but for the trial at the start. */
struct round_series {
	struct trial *trial; /* borrowed; NULL, or not loaded: it has no rounds */
	double *round_us;    /* its observations, warm-up left out; owned */
	size_t rounds, capacity;
	size_t warm_up; /* rounds still to leave out */
	enum outcome outcome;
	char *detail; /* owned */
	uint32_t flags;
	bool is_asked;    /* the device has not answered yet */
	bool is_finished; /* no more of it is wanted: set by a look; the device has no more */
	/* merged ones: */
	double *load_us; /* median of each load; owned */
	size_t loads;    /* 0: not merged */
	double load_deviation_us;
};

struct round_limits {
	double seconds; /* after which nothing is sampled beyond the first look */
	size_t warm_up_rounds;
	size_t first_look, last_look; /* rounds, warm-up not counted; the others lie between */
	double rest_ratio;            /* struct sampling */
	/* At a look: whether that is enough. It may finish single series. NULL: never. */
	bool (*enough)(struct round_series *series, size_t count, void *context);
	void *context;
};

/* Samples all series in turn until the limits say stop. A series that fails (its outcome says how)
 * takes no part in later rounds. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status rounds_run(struct evaluator *evaluator, struct round_series *series, size_t count,
	const struct round_limits *limits, struct error *err);
/* Appends the samples of a reply. */
void round_series_take(struct round_series *series, const struct result *found);
/* Per round, the one's time over the other's. ratios: room for as many as either has; returns how
 * many rounds both took part in. */
size_t round_ratios(
	const struct round_series *series, const struct round_series *over, double *ratios);
/* Several loads of one kernel as one series: per round the mean over the loads; the first failure
 * is that of all. */
void round_series_merge(
	const struct round_series *loads, size_t count, struct round_series *merged);
void round_series_release(struct round_series *series);

#endif
