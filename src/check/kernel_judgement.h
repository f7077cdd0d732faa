/* SPDX-License-Identifier: MIT
 *
 * Judges one kernel: whether its results are right, how long it takes, and whether it is slower
 * than a baseline, which is timed in turn with it. The operation, which another file than the
 * kernel's defines, gives the inputs, the reference and the tolerances.
 */
#ifndef CHECK_KERNEL_JUDGEMENT_H
#define CHECK_KERNEL_JUDGEMENT_H

#include "base/clock.h"
#include "check/judge.h"
#include "engine/contenders.h"
#include "engine/floor.h"
#include "format/run.h"

enum kernel_verdict {
	KERNEL_RIGHT,
	KERNEL_WRONG,    /* wrong results, a crash, or a kernel that does not compile or launch */
	KERNEL_TOO_FAST, /* the time is below what the hardware allows */
	KERNEL_UNSTABLE, /* two runs gave different bits, or the times vary too much */
	KERNEL_UNDECIDED,
	KERNEL_VERDICT_COUNT
};
extern const char *const kernel_verdict_names[KERNEL_VERDICT_COUNT + 1]; /* NULL-terminated */

struct kernel_judgement_options {
	const char *config;     /* "BM=128,..."; NULL or missing values: the family's defaults */
	const char *task;       /* the name in the document; borrowed */
	double threshold_ratio; /* smallest slowdown to detect */
	double budget_s;        /* time limit of the timing; 0: KERNEL_JUDGEMENT_SECONDS */
	volatile sig_atomic_t *interrupted;
};
#define KERNEL_JUDGEMENT_SECONDS 2

/* The judged kernel or the baseline. */
struct judged_kernel {
	const char *file;            /* borrowed */
	const struct family *family; /* borrowed */
	struct candidate candidate;  /* owns its bound family */
	struct contender *contender; /* one of kernel_judgement.contenders */
	struct result result;        /* its samples are the times of the rounds */
};

struct kernel_judgement {
	struct context *context;
	const struct problem *problem;
	struct kernel_judgement_options options;
	struct evaluator evaluator;
	struct judged_kernel kernel, baseline;
	struct contender contenders[2];
	bool has_baseline, is_compared;
	enum kernel_verdict verdict;
	enum outcome outcome;          /* of the kernel */
	char *reason;                  /* NULL for a right kernel with nothing to say about */
	enum check_verdict comparison; /* same, faster, slower or unclear */
	struct interval slowdown;
	double floor_us;
	/* Members that only the document has: */
	char date[CLOCK_DATE_SIZE];
	const char *operation, *nvrtc;
	struct named_values keys;
	struct gpu_model device;
	int64_t exit_code;
};

/* Binds the families, which must be of the problem's operation, to the problem. baseline may be
 * NULL. Errors are STATUS_BAD_INPUT: a device that does not measure, a family that does not apply,
 * a configuration that is not legal, a program. */
enum status kernel_judgement_open(struct context *context, const struct problem *problem,
	const struct family *family, const struct family *baseline,
	const struct kernel_judgement_options *options, struct kernel_judgement *judgement,
	struct error *err);
/* Compiles, verifies and times. A failure of the kernel is a verdict and never an error. Errors:
 * STATUS_BAD_INPUT if the reference fails, STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status kernel_judgement_run(struct kernel_judgement *judgement, struct error *err);
/* STATUS_FAILED for a wrong kernel or one that is too fast; STATUS_REGRESSION for one that is
 * slower than the baseline; STATUS_INCONCLUSIVE for one that is unstable or undecided, or if noise
 * hides the comparison. */
enum status kernel_judgement_status(const struct kernel_judgement *judgement);
void kernel_judgement_release(struct kernel_judgement *judgement);

/* ---- kernel_judgement_json.c ---- */
RECORD_DECLARE(struct kernel_judgement, kernel_judgement_record);
/* {"format": "tiletune.judgement/1", ...} */
struct json *kernel_judgement_json(struct kernel_judgement *judgement);
/* Text for a terminal. */
void kernel_judgement_text(const struct kernel_judgement *judgement, struct text *text);

#endif
