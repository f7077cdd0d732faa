/* SPDX-License-Identifier: MIT
 *
 * When is a kernel slower? Pure functions of measured ratios, no device, no clock; and the verdict
 * of a row that was timed.
 *
 * A check measures in blocks. In each block every kernel and the anchor (or the kept binary of the
 * baseline) are sampled in turn, and the block's ratio of medians is one observation: what the
 * clock does from block to block cancels. The interval of the median ratio comes from order
 * statistics, and makes no assumption about the noise but that blocks are alike.
 */
#ifndef CHECK_JUDGE_H
#define CHECK_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
	CHECK_LOADS = 4 /* of a short kernel: one binary loaded twice is not equally fast twice */
};

enum check_verdict {
	CHECK_SAME,
	CHECK_FASTER,
	CHECK_SLOWER,
	CHECK_UNCLEAR,        /* the noise does not allow to tell */
	CHECK_NOT_COMPARABLE, /* measured under other circumstances, or not at all */
	CHECK_FAILED,         /* wrong result, crash, does not compile any more */
	CHECK_VERDICT_COUNT
};
extern const char *const check_verdict_names[CHECK_VERDICT_COUNT + 1]; /* NULL-terminated */

/* A ratio and where it may lie at some confidence. */
struct check_estimate {
	double value, low, high;
};

struct check_rule {
	double threshold_ratio; /* a slowdown of this much must be found */
	double floor_ratio;     /* what differs between runs of one binary on one GPU */
};

/* The median of the observations (count > 0) with its interval. */
struct check_estimate check_estimate(const double *ratios, size_t count, double confidence_ratio);
/* now / baseline; the relative widths of both intervals add up as independent errors do. */
struct check_estimate check_estimate_over(
	const struct check_estimate *now, const struct check_estimate *baseline);
/* Stretches an interval that was made at another confidence, as of a normal distribution. */
struct check_estimate check_estimate_at(
	const struct check_estimate *estimate, double from_ratio, double to_ratio);
/* Widened on both sides, as by one more independent error of half_width (of the value's unit). */
struct check_estimate check_estimate_widened(
	const struct check_estimate *estimate, double half_width);
/* What the mean of `loads` (CHECK_LOADS) may be off by at this confidence, if single ones deviate
 * from it by deviation: Student's distribution with CHECK_LOADS - 1 degrees of freedom. */
double check_loads_half_width(double deviation, size_t loads, double confidence_ratio);
/* Half of the interval over the value. */
double check_estimate_half_ratio(const struct check_estimate *estimate);

/* slowdown: time now over time of the baseline. The interval is widened by the floor on both sides:
 * what differs between runs counts as an error like any other. Then
 *
 *	slower   1 is excluded, on the slow side, and 1 + threshold is not
 *	faster   1 is excluded, on the fast side, and 1 - threshold is not
 *	unclear  neither, but 1 + threshold cannot be excluded
 *	same     the rest
 *
 * With h, half of the widened interval: an unchanged kernel is called slower only if it is off by
 * more than the threshold - h, and one that is slower by the threshold is missed only if it is off
 * by more than h (both where h is up to half of the threshold). Neither happens as long as h holds;
 * a verdict whose limit were the threshold itself would miss every second one. A slowdown of less
 * than the threshold is called slower from threshold - h on: with better measurements (a smaller h)
 * this limit comes up to the threshold. */
enum check_verdict check_judge(
	const struct check_rule *rule, const struct check_estimate *slowdown);

/* Beyond this the clocks of both runs are too far apart to trust one explanation alone. */
#define CHECK_CLOCK_TRUST_RATIO 0.03

/* The same for times that were taken at different clocks. time: the kernel's time now over then;
 * anchor: the anchor kernel's. A kernel that waits for memory takes as long at any clock, others
 * slow down as the anchor does: clock_bound says which this one is taken for, and *slowdown is what
 * is left then. Where the clocks differ by more than CHECK_CLOCK_TRUST_RATIO, a kernel that is
 * slower by this explanation and not by the other one is unclear: no alarm rests on a guess. */
enum check_verdict check_judge_clocked(const struct check_rule *rule,
	const struct check_estimate *time, double anchor, bool clock_bound,
	struct check_estimate *slowdown);

struct check;
struct check_row;
struct block_series;

/* Two kernels that were sampled in the same blocks, each merged over its loads: the one's slowdown
 * beside the other, what their loads may be off by included. Both have blocks. */
enum check_verdict check_judge_beside(const struct block_series *now,
	const struct block_series *then, double threshold_ratio, double confidence_ratio,
	struct check_estimate *slowdown);

/* The verdict of a row that was timed; anchor: sampled in the same blocks. */
void check_time(struct check *check, struct check_row *row, const struct block_series *anchor);
/* Whether the row's intervals are narrow enough for a verdict that more blocks would not change. */
bool check_time_is_settled(
	const struct check *check, struct check_row *row, const struct block_series *anchor);

#endif
