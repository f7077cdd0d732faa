/* SPDX-License-Identifier: MIT
 *
 * Times contenders in turn, round by round, until their times are known well enough. The final
 * measurement of a tuning and `check` use this module. A round has one sample batch of each
 * contender. Contenders are compared by the ratios of their times within rounds, because the GPU's
 * clock drifts between rounds.
 *
 *	load the contenders -> contenders_time() -> contenders_verify() -> compare
 *
 * A stop rule is asked after fixed numbers of rounds only, TIMING_LOOKS times at most. With
 * intervals of 99%, all these looks together err in 5 of 100 cases, as one look at an interval of
 * 95% does (Bonferroni; equal alpha spending).
 */
#ifndef ENGINE_CONTENDERS_H
#define ENGINE_CONTENDERS_H

#include "base/statistics.h"
#include "engine/evaluator.h"

enum {
	TIMING_LOOKS = 5,
	CONTENDER_LOADS_MAX = 16
};
/* How long a sample batch keeps the GPU busy under sustained load, in seconds. Only its second half
 * is timed, so that the clock can settle after the kernel has changed. How long that takes has not
 * been measured. */
#define SUSTAINED_VISIT_S 0.15

/* A candidate or a stored binary. Two loads of one binary are not equally fast, so a contender may
 * be loaded several times. */
struct contender {
	/* Set by the caller. Each load is a trial that is loaded; borrowed from the evaluator. */
	struct trial *loads[CONTENDER_LOADS_MAX];
	size_t load_count; /* 0: the contender takes no part */
	/* Set by contenders_time(). */
	size_t first_samples[CONTENDER_LOADS_MAX]; /* per load: the first after the warm-up */
	double *round_us;   /* mean over the loads, for each round after the warm-up; owned */
	size_t round_count; /* rounds that all loads have */
	double load_us[CONTENDER_LOADS_MAX]; /* median of each load */
	double load_deviation_us;            /* standard deviation between loads */
	enum outcome outcome;                /* outcome of the first load that failed */
	const char *detail; /* its detail, valid as long as the trial; may be NULL */
	uint32_t flags;     /* union over all loads */
	/* No more rounds follow. The stop rule may set it; it is also set when the device has no
	 * more samples (replay). */
	bool is_finished;
};

struct timing_limits {
	double seconds; /* after this time only the rounds of the first look are sampled */
	size_t warm_up_rounds;
	size_t first_look, last_look; /* rounds without the warm-up; other looks lie between */
	double rest_ratio;            /* this and sustained_s: as in struct sampling */
	double sustained_s;
	/* The stop rule ends the timing by returning true. It may also finish single contenders.
	 * NULL: all rounds are sampled. */
	bool (*is_enough)(struct contender *contenders, size_t count, void *context);
	void *context;
};

/* Samples the contenders in turn until the limits or the stop rule end it. A contender that fails
 * takes no part in later rounds. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status contenders_time(struct evaluator *evaluator, struct contender *contenders, size_t count,
	const struct timing_limits *limits, struct error *err);
/* Verifies the contenders again, because a kernel may go wrong in a later launch than the first,
 * and times them on other inputs, because it may be fast only on data that it knows: a time that is
 * longer beyond noise counts. A failure becomes the outcome of a contender that was timed. Errors
 * as above. */
enum status contenders_verify(
	struct evaluator *evaluator, struct contender *contenders, size_t count, struct error *err);
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
/* The ratio of two contenders' times over the rounds that both have. */
struct interval round_times_ratio(
	struct round_times times, struct round_times over, enum confidence confidence);
/* The number of rounds that all have. */
size_t round_times_common(const struct round_times *times, size_t count);
/* Index of the fastest over the rounds that all have, because later rounds may have been sampled
 * at another clock. count > 0. */
size_t round_times_fastest(const struct round_times *times, size_t count);

#endif
