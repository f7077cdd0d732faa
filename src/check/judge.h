/* SPDX-License-Identifier: MIT
 *
 * Decides whether a kernel is slower, with pure functions of measured ratios that need no device
 * and no clock, and sets the verdict of a row that was timed.
 *
 * A check measures in rounds. In each round every kernel and the anchor (or the stored binary of
 * the baseline) are sampled in turn, and the ratio of their times in this round is one
 * observation, so that clock drift between rounds cancels.
 */
#ifndef CHECK_JUDGE_H
#define CHECK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/statistics.h"

enum {
	CHECK_LOADS = 4, /* loads of a short kernel, because loads of one binary differ in speed */
	/* Rounds of a kernel that is compared with others. */
	CHECK_WARM_UP_ROUNDS = 2,
	CHECK_ROUNDS_MIN = 12,
	CHECK_ROUNDS_MAX = 200,
};
/* Loads of one binary differ by a fraction of a microsecond, which does not matter for longer
 * kernels. */
#define CHECK_SEVERAL_LOADS_BELOW_US 50.0

enum check_verdict {
	CHECK_SAME,
	CHECK_FASTER,
	CHECK_SLOWER,
	CHECK_UNCLEAR,        /* noise hides the answer */
	CHECK_NOT_COMPARABLE, /* measured under other conditions, or not measured */
	CHECK_OTHER_BITS,     /* results are right, but not bitwise equal to the baseline's */
	CHECK_FAILED,         /* wrong result, crash, no longer compiles */
	CHECK_VERDICT_COUNT
};
extern const char *const check_verdict_names[CHECK_VERDICT_COUNT + 1]; /* NULL-terminated */

struct check_rule {
	double threshold_ratio; /* smallest slowdown to detect */
	double floor_ratio;     /* the difference between runs of one binary on one GPU */
};

/* The confidence of all intervals of a check: CONFIDENCE_99. */
#define CHECK_CONFIDENCE_RATIO 0.99

/* now / baseline. The relative widths of both intervals are combined like those of independent
 * errors. */
struct interval check_estimate_over(const struct interval *now, const struct interval *baseline);
/* Stretches a 95% interval to CHECK_CONFIDENCE_RATIO (statistics_interval()). */
struct interval check_estimate_stretched(const struct interval *estimate);
/* Widens an interval on both sides by one more independent error of half_width, in the value's
 * unit.
 */
struct interval check_estimate_widened(const struct interval *estimate, double half_width);
/* Half the interval of a mean over `loads` loads. `deviation` is the standard deviation of
 * CHECK_LOADS loads, so Student's distribution has CHECK_LOADS - 1 degrees of freedom. */
double check_loads_half_width(double deviation, size_t loads);
/* Half of the interval's width, relative to the value. */
double check_estimate_half_ratio(const struct interval *estimate);

/* `slowdown` is the time now over the time of the baseline. Its interval is first widened on
 * both sides by the floor, because variation between runs is an error like any other. The
 * verdict is
 *
 *	slower   if 1 is excluded on the slow side, and 1 + threshold is not excluded
 *	faster   if 1 is excluded on the fast side, and 1 - threshold is not excluded
 *	unclear  if neither holds, but 1 + threshold cannot be excluded
 *	same     otherwise
 *
 * Let h be half of the widened interval. Suppose that h is at most half of the threshold, which
 * more rounds ensure. An unchanged kernel is called slower only if its measurement is off by more
 * than threshold - h. A kernel that is slower by the threshold is missed only if its measurement
 * is off by more than h. Neither happens while h is a valid bound of the error; with the threshold
 * itself as the limit, every second such kernel would be missed. Slowdowns are reported from
 * threshold - h on, so better measurements (a smaller h) bring this limit closer to the
 * threshold. */
enum check_verdict check_judge(const struct check_rule *rule, const struct interval *slowdown);

struct contender;
/* Judges two kernels that were sampled in the same rounds, each merged over its loads. *slowdown
 * is that of `now` against `then`, including the error of their loads. Both must have rounds. */
enum check_verdict check_judge_pair(const struct contender *now, const struct contender *then,
	double threshold_ratio, struct interval *slowdown);

/* If the clocks of both runs differ by more, no single explanation of a slowdown is trusted. */
#define CHECK_CLOCK_TRUST_RATIO 0.03

/* The same for times that were taken at different clocks. `time` is the kernel's time now over
 * then, and `anchor` that of the anchor kernel. The time of a kernel that waits for memory does
 * not depend on the clock; other kernels slow down as the anchor does. clock_bound says which of
 * the two this kernel is, and *slowdown is the slowdown that the clock does not explain. If the
 * clocks differ by more than CHECK_CLOCK_TRUST_RATIO, the verdict "slower" becomes "unclear" unless
 * it holds under both assumptions, because a guess must not raise an alarm. */
enum check_verdict check_judge_clocked(const struct check_rule *rule, const struct interval *time,
	double anchor, bool clock_bound, struct interval *slowdown);

struct check;
struct check_row;
struct contender;

/* Sets the verdict of a row that was timed in the same rounds as the anchor. */
void check_time(struct check *check, struct check_row *row, const struct contender *anchor);
/* Whether the row's intervals are narrow enough for a verdict that more rounds would not change. */
bool check_time_is_known(
	const struct check *check, struct check_row *row, const struct contender *anchor);

#endif
