/* SPDX-License-Identifier: MIT
 *
 * Judges one kernel: whether its results are right, how long it takes, and whether it is slower
 * than a baseline, which is timed in turn with it. The operation gives inputs, reference and
 * tolerances.
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
	KERNEL_WRONG,    /* wrong results, a crash, or it does not compile or launch */
	KERNEL_TOO_FAST, /* faster than the hardware allows */
	KERNEL_UNSTABLE, /* different bits in a second run, or noisy times */
	KERNEL_UNDECIDED,
	KERNEL_VERDICT_COUNT
};
extern const char *const kernel_verdict_names[KERNEL_VERDICT_COUNT + 1]; /* NULL-terminated */

struct kernel_judgement_options {
	const char *config;     /* values; NULL or missing values: the family's defaults */
	const char *task;       /* name of the task in the document; borrowed */
	double threshold_ratio; /* slowdown to detect */
	double budget_s;        /* time limit of the timing; 0: KERNEL_JUDGEMENT_SECONDS */
	volatile sig_atomic_t *interrupted;
};
#define KERNEL_JUDGEMENT_SECONDS 2

/* The judged kernel or the baseline. */
struct judged_kernel {
	const char *file;            /* borrowed */
	const struct family *family; /* borrowed */
	struct candidate candidate;  /* owns its bound family */
	struct contender *contender; /* points into kernel_judgement.contenders */
	struct result result;        /* has one sample per round */
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
	enum outcome outcome;          /* outcome of the judged kernel */
	char *reason;                  /* or NULL */
	enum check_verdict comparison; /* same, faster, slower or unclear */
	struct interval slowdown;
	double floor_us;
	/* only for the document: */
	char date[CLOCK_DATE_SIZE];
	const char *operation, *nvrtc;
	struct named_values keys;
	struct gpu_model device;
	int64_t exit_code;
};

/* Binds the families, which belong to the problem's operation; baseline may be NULL. Fails with
 * STATUS_BAD_INPUT if the device does not measure, a family does not apply or is a program, or the
 * configuration is illegal. */
enum status kernel_judgement_open(struct context *context, const struct problem *problem,
	const struct family *family, const struct family *baseline,
	const struct kernel_judgement_options *options, struct kernel_judgement *judgement,
	struct error *err);
/* A failing kernel is a verdict, not an error. Errors: STATUS_BAD_INPUT if the reference fails,
 * STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status kernel_judgement_run(struct kernel_judgement *judgement, struct error *err);
/* STATUS_FAILED: wrong or too fast; STATUS_REGRESSION: slower; STATUS_INCONCLUSIVE: unstable,
 * undecided, or noise hides the comparison. */
enum status kernel_judgement_status(const struct kernel_judgement *judgement);
void kernel_judgement_release(struct kernel_judgement *judgement);

/* ---- kernel_judgement_json.c ---- */
RECORD_DECLARE(struct kernel_judgement, kernel_judgement_record);
/* {"format": "tiletune.judgement/1", ...} */
struct json *kernel_judgement_json(struct kernel_judgement *judgement);
void kernel_judgement_text(const struct kernel_judgement *judgement, struct text *text);

#endif
