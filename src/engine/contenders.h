/* SPDX-License-Identifier: MIT
 *
 * Times contenders in turn until their times are known well enough, for the final measurement and
 * for `check`. A round has one sample batch of each contender. Contenders are compared by the
 * ratios of their times within rounds, because the GPU's clock drifts.
 *
 *	load the contenders -> contenders_time() -> contenders_verify() -> compare
 *
 * A stop rule is evaluated at most TIMING_LOOKS times. With intervals of 99%, these looks together
 * err in 5% of all cases, like one look at an interval of 95% (Bonferroni; equal alpha spending).
 */
#ifndef ENGINE_CONTENDERS_H
#define ENGINE_CONTENDERS_H

#include "engine/evaluator.h"

enum {
	TIMING_LOOKS = 5,
	CONTENDER_LOADS_MAX = 16
};
/* Duration of a sample batch under sustained load, in seconds. Only its second half is timed, so
 * that the clock can settle. How long settling takes has not been measured. */
#define SUSTAINED_VISIT_S 0.15

/* A candidate or a stored binary. It may be loaded several times, because two loads of one binary
 * are not equally fast. */
struct contender {
	/* Set by the caller: loaded trials, borrowed from the evaluator. */
	struct trial *loads[CONTENDER_LOADS_MAX];
	size_t load_count; /* 0: the contender takes no part */
	/* Set by contenders_time(). */
	size_t first_samples[CONTENDER_LOADS_MAX]; /* index of the first sample after the warm-up */
	double *round_us;                          /* mean over the loads, per round; owned */
	size_t round_count;                        /* rounds that all loads have */
	double load_us[CONTENDER_LOADS_MAX];       /* median of each load */
	double load_deviation_us;                  /* standard deviation between loads */
	enum outcome outcome;                      /* outcome of the first load that failed */
	const char *detail;                        /* its message, owned by the trial; or NULL */
	uint32_t flags;
	/* set by the stop rule, or if there are no more samples (replay) */
	bool is_finished;
};

struct timing_limits {
	double seconds; /* after this time only the rounds of the first look are sampled */
	size_t warm_up_rounds;
	size_t first_look, last_look; /* number of rounds, without the warm-up */
	double rest_ratio;            /* as in struct sampling */
	double sustained_s;
	/* Returns true to end the timing; may finish contenders. NULL: all rounds are sampled. */
	bool (*is_enough)(struct contender *contenders, size_t count, void *context);
	void *context;
};

/* A contender that fails takes no part in later rounds. Errors: STATUS_NO_DEVICE,
 * STATUS_INTERRUPTED. */
enum status contenders_time(struct evaluator *evaluator, struct contender *contenders, size_t count,
	const struct timing_limits *limits, struct error *err);
/* Verifies the contenders again, because a later launch may go wrong, and times them on other
 * inputs, because a kernel may be fast only on inputs that it has seen. The new time counts if it
 * is longer beyond noise. A failure becomes the contender's outcome. */
enum status contenders_verify(
	struct evaluator *evaluator, struct contender *contenders, size_t count, struct error *err);
/* STATUS_NO_DEVICE if a load lost the device. */
enum status contender_expect_device(const struct contender *contender, struct error *err);
void contender_release(struct contender *contender);

/* ---- comparing by rounds ---- */
struct round_times {
	const double *us;
	size_t count;
};
static inline struct round_times contender_times(const struct contender *contender)
{
	return (struct round_times){contender->round_us, contender->round_count};
}
double round_times_median(struct round_times times);
/* Returns the ratio over the rounds that both have. */
struct interval round_times_ratio(
	struct round_times times, struct round_times over, enum confidence confidence);
size_t round_times_common(const struct round_times *times, size_t count);
/* Compares only rounds that all have, because the clock may differ in later ones. Expects count >
 * 0.
 */
size_t round_times_fastest(const struct round_times *times, size_t count);

#endif
