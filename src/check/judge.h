/* SPDX-License-Identifier: MIT
 *
 * Decides whether a kernel is slower, with pure functions of measured ratios, and sets the verdict
 * of a row. In each round every kernel and the anchor (or the stored binary) are sampled in turn,
 * and the ratio of their times is one observation, so that clock drift between rounds cancels.
 */
#ifndef CHECK_JUDGE_H
#define CHECK_JUDGE_H

#include <stdbool.h>

#include "base/statistics.h"

enum {
	CHECK_LOADS = 4, /* loads of a short kernel, because loads of one binary differ in speed */
	CHECK_WARM_UP_ROUNDS = 2,
	CHECK_ROUNDS_MIN = 12,
	CHECK_ROUNDS_MAX = 200,
};
/* For longer kernels this difference does not matter. */
#define CHECK_SEVERAL_LOADS_BELOW_US 50.0

enum check_verdict {
	CHECK_SAME,
	CHECK_FASTER,
	CHECK_SLOWER,
	CHECK_UNCLEAR,        /* noise hides the answer */
	CHECK_NOT_COMPARABLE, /* the environment differs, or nothing was measured */
	CHECK_OTHER_BITS,     /* right, but not bitwise equal to the baseline */
	CHECK_FAILED,         /* wrong, crashed, or does not compile */
	CHECK_VERDICT_COUNT
};
extern const char *const check_verdict_names[CHECK_VERDICT_COUNT + 1]; /* NULL-terminated */

struct check_rule {
	double threshold_ratio; /* slowdown to detect */
	double floor_ratio;     /* variation between runs of one binary on one GPU */
};

/* Timing stops when half an interval is narrower than this part of the threshold. */
#define CHECK_KNOWN_PART 0.2

/* CONFIDENCE_99 */
#define CHECK_CONFIDENCE_RATIO 0.99

/* Divides two intervals, combining relative widths like those of independent errors. */
struct interval check_estimate_over(const struct interval *now, const struct interval *baseline);
/* Converts a 95% interval to one of CHECK_CONFIDENCE_RATIO. */
struct interval check_estimate_stretched(const struct interval *estimate);
/* Adds an independent error, in the value's unit. */
struct interval check_estimate_widened(const struct interval *estimate, double half_width);
/* Returns half the interval of a mean over `loads` loads. `deviation` was measured over CHECK_LOADS
 * loads, so Student's distribution has CHECK_LOADS - 1 degrees of freedom. */
double check_loads_half_width(double deviation, size_t loads);
/* Returns the half width relative to the value. */
double check_estimate_half_ratio(const struct interval *estimate);

/* `slowdown` is the time now over that of the baseline. Its interval is first widened by the floor.
 * The verdict is
 *
 *	slower   if 1 is excluded on the slow side, and 1 + threshold is not excluded
 *	faster   if 1 is excluded on the fast side, and 1 - threshold is not excluded
 *	unclear  if neither holds, but 1 + threshold cannot be excluded
 *	same     otherwise
 *
 * Let h be half of the widened interval, which more rounds bring to at most half of the threshold.
 * An unchanged kernel is called slower only if its measurement is off by more than threshold - h,
 * and a kernel that is slower by the threshold is missed only if its measurement is off by more
 * than h. With the threshold itself as the limit, every second such kernel would be missed. */
enum check_verdict check_judge(const struct check_rule *rule, const struct interval *slowdown);

struct contender;
/* Compares kernels that were timed in the same rounds, each averaged over its loads. *slowdown
 * includes the variation between loads. Both must have rounds. */
enum check_verdict check_judge_pair(const struct contender *now, const struct contender *then,
	double threshold_ratio, struct interval *slowdown);

/* Largest difference of clocks at which one explanation of a slowdown suffices. */
#define CHECK_CLOCK_TRUST_RATIO 0.03

/* Compares times at different clocks: `time` is the kernel's time now over then, and `anchor` that
 * of the anchor kernel. A clock_bound kernel slows down as the anchor does; others wait for memory.
 * *slowdown is the part that the clock does not explain. Beyond CHECK_CLOCK_TRUST_RATIO "slower"
 * becomes "unclear" unless it holds under both assumptions. */
enum check_verdict check_judge_clocked(const struct check_rule *rule, const struct interval *time,
	double anchor, bool clock_bound, struct interval *slowdown);

struct check;
struct check_row;
struct contender;

/* Judges a row that was timed in the same rounds as the anchor. */
void check_time(struct check *check, struct check_row *row, const struct contender *anchor);
/* Returns whether the time is known well enough to stop. */
bool check_time_is_known(
	const struct check *check, struct check_row *row, const struct contender *anchor);

#endif
