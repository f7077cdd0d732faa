/* SPDX-License-Identifier: MIT
 *
 * When there are enough samples of a kernel. Pure functions of the samples so far.
 */
#ifndef MEASURE_STOP_H
#define MEASURE_STOP_H

#include <stdbool.h>
#include <stddef.h>

struct stop_rule {
	unsigned rounds_min, rounds_max;
	double target_ratio; /* of the median's half confidence interval; 0: only the counts decide
			      */
	double give_up_us;   /* 0: never */
};

enum stop {
	STOP_NOT_YET,
	STOP_FULL,    /* rounds_max samples */
	STOP_PRECISE, /* the interval is narrow enough */
	STOP_STABLE,  /* more samples no longer change the noise: waiting buys little */
	STOP_GIVE_UP, /* clearly slower than give_up_us */
};

enum {
	STOP_GIVE_UP_SAMPLES = 2, /* all above give_up_us: enough to tell */
	STOP_STABLE_SAMPLES = 24, /* before this many nobody knows the noise */
};

enum stop stop_decide(const struct stop_rule *rule, const double *samples_us, size_t count);

/* Half of the median's 95% confidence interval over the median; infinite without samples. */
double stop_half_interval_ratio(const double *samples_us, size_t count);

/* Whether samples are so scattered that their median says little: after at least 6 of them the half
 * interval is still above a tenth of the median. */
bool stop_is_noisy(const double *samples_us, size_t count);

#endif
