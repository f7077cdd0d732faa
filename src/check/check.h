/* SPDX-License-Identifier: MIT
 *
 * The regression gate finds out whether the winners of a tuned file (the baseline) are as fast
 * as before.
 *
 *	check_open -> check_run -> check_to_json, check_report_text -> [check_update] ->
 *	[check_keep] -> check_release
 *
 * Every winner is compiled again from today's templates with today's compiler. On a GPU it is
 * verified and timed in turn with the anchor kernel and, if the baseline's cubin was stored,
 * with that cubin. On a device model its resources are compared. Only check_update() changes the
 * baseline.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "base/clock.h"
#include "check/judge.h"
#include "engine/candidates.h"
#include "engine/contenders.h"

/* ---- differences of the environment: GPU, partition, driver, compiler, kernels ---- */
enum environment_part {
	ENVIRONMENT_GPU,
	ENVIRONMENT_SM_COUNT,
	ENVIRONMENT_MIG,
	ENVIRONMENT_UUID,
	ENVIRONMENT_DRIVER,
	ENVIRONMENT_NVRTC,
	ENVIRONMENT_KERNEL,
	ENVIRONMENT_COUNT
};
extern const char
	*const environment_part_names[ENVIRONMENT_COUNT + 1]; /* "sm_count"; NULL-terminated */
#define CHECK_DIFFERS(part) (1u << ENVIRONMENT_##part)
/* Differences that are tolerated without --allow, because a check is meant to find their
 * effects. */
#define CHECK_ALLOWED_DEFAULT                                                                      \
	(CHECK_DIFFERS(UUID) | CHECK_DIFFERS(DRIVER) | CHECK_DIFFERS(NVRTC) | CHECK_DIFFERS(KERNEL))

struct environment_difference {
	enum environment_part part;
	char *baseline, *now;
	bool allowed; /* whether the difference is tolerated */
};

/* ---- rows ---- */
/* A property of a compiled kernel that changed. */
struct check_difference {
	char *text;    /* "registers 128 -> 168" */
	bool is_worse; /* a regression if nothing is timed: spills, fewer blocks per SM */
};

/* The reference that a time is compared with. */
enum check_against {
	CHECK_AGAINST_NOTHING, /* nothing is timed, or the baseline has no measured time */
	CHECK_AGAINST_TUNED,   /* the time that tuning found */
	CHECK_AGAINST_KEPT,    /* the baseline's stored binary, in the same rounds */
	CHECK_AGAINST_COUNT
};

struct check_times {
	double time_us, anchor_us;  /* medians over the rounds; 0: not measured */
	struct interval per_anchor; /* time over anchor */
	size_t rounds;
};

struct check_slowdown {
	enum check_verdict verdict;
	struct interval ratio; /* value 0: not compared */
	enum check_against against;
	double floor_ratio;    /* the verdict widened the interval by this */
	size_t rounds;         /* rounds in which both were timed */
	double own_half_ratio; /* relative half width of the part of the interval that this check
				  can make narrower */
	double anchor_ratio;   /* time of the anchor now over then; 0: not known */
};

struct check_row {
	char *problem_text, *configuration; /* canonical */
	struct tuned_entry entry;           /* a copy: the baseline may change */
	enum check_verdict verdict;
	char *reason; /* one line, for a person */
	struct check_difference *differences;
	size_t difference_count;
	bool kernel_changed;
	bool by_program;    /* verified and timed today by a program of the user's */
	double baseline_us; /* 0: the baseline has no measured time */
	bool timed, compared;
	bool same_binary; /* the stored cubin and today's are the same bytes */
	struct check_slowdown slowdown;
	double machine_ratio; /* the baseline's own binary, now over then; 0: not known */
	struct check_times now;
	double load_us[CHECK_LOADS]; /* loads of today's kernel, if there are several */
	size_t loads;
	/* Today's candidate (check/row.h): */
	struct problem *problem; /* NULL: today's operation does not allow it */
	struct candidate winner;
	struct trial *trial; /* trial of today's kernel, owned by the evaluator; NULL if no kernel
				can be built */
	bool can_run;        /* it compiled */
	uint32_t differs;    /* CHECK_DIFFERS(...): differences from the baseline */
	struct device_job binary; /* the baseline's kernel if an earlier check stored it, else
				     without cubins */
	/* Set while the row is timed: today's kernel, whose first load is the trial, and the
	 * baseline's own binary, which has no loads if it was not stored or cannot be loaded. */
	struct contender *today, *kept;
};

struct check_options {
	const char *const *only;     /* operations; NULL or empty: all */
	const char *const *problems; /* texts, of the last operation in `only`; NULL: all */
	double threshold_ratio;      /* 0.05 */
	double budget_s;             /* for timing; 0: CHECK_SECONDS_PER_ENTRY for each */
	bool bits;        /* compare outputs bitwise, also of entries that --bits did not tune */
	uint32_t allowed; /* CHECK_DIFFERS(...): differences from the baseline to tolerate */
	volatile sig_atomic_t *interrupted;
};
#define CHECK_SECONDS_PER_ENTRY 0.3

struct check {
	struct context *context;
	struct evaluator evaluator;
	struct tuned *baseline;
	struct check_options options;
	struct check_row *rows;
	size_t row_count;
	struct environment_difference *environment;
	size_t environment_count, environment_capacity;
	uint32_t of_device;           /* CHECK_DIFFERS(...) of the device, for all rows */
	struct problem_list problems; /* the selected problems; empty: all */
	bool measures;                /* false: a device model, only resources are compared */
	double anchor_us;             /* measured with the kernels of this check; 0: not measured */
	char *kept_folder;            /* check_kept_folder() of the baseline */
	char *notice;                 /* a notice for the user, or NULL */
	/* Members that only the document has: */
	char date[CLOCK_DATE_SIZE];
	const char *baseline_path, *nvrtc;
	struct gpu_model device;
	double confidence_ratio;
	int64_t exit_code, counts[CHECK_VERDICT_COUNT];
};

bool check_is_asked_for(const struct check_options *options, const struct problem_list *problems,
	const struct tuned_entry *entry);
/* Borrows context and baseline. Errors: STATUS_BAD_INPUT if no entry is selected, or the device is
 * a recording. */
enum status check_open(struct context *context, struct tuned *baseline,
	const struct check_options *options, struct check *check, struct error *err);
/* Decides every row. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED; a kernel that fails is a
 * verdict, not an error. */
enum status check_run(struct check *check, struct error *err);
void check_release(struct check *check);
/* STATUS_FAILED if a row failed, else STATUS_REGRESSION if one is slower or has other bits, else
 * STATUS_INCONCLUSIVE if one is unclear or not comparable. */
enum status check_status(const struct check *check);
/* The reason of a row whose resources did not change. */
extern const char check_same_reason[];
size_t check_count(const struct check *check, enum check_verdict verdict);

/* ---- output files (baseline.c). Today's kernel and its time become the winner. Binaries are
 * stored in <baseline>.cubins as KEY.N.cubin, with KEY.json (tiletune.kernel/1), which describes
 * their launches. KEY is a hash of the entry's operation, problem, winner and kernel hash, so
 * that an entry that was tuned again has no stored binaries. ---- */
/* Puts today's winners, resources and times into the baseline as entries of the run. The check must
 * have ended with STATUS_OK; the caller saves the file. On a device model, which times nothing,
 * only resources and hashes of the winners are renewed. */
enum status check_update(struct check *check, const char *run_id, struct error *err);
/* Stores the cubins of entries whose kernel is still the baseline's in check->kept_folder.
 * *kept gets the number of entries. */
enum status check_keep(struct check *check, size_t *kept, struct error *err);

/* ---- for people and for CI servers ---- */
/* {"format": "tiletune.check/1", ...} */
RECORD_DECLARE(struct check, check_document_record);
/* A ratio with its interval of 99%. */
RECORD_DECLARE(struct interval, check_ratio_record);
struct json *check_to_json(struct check *check);
/* Text for a terminal. */
void check_report_text(const struct check *check, struct text *text);
/* Markdown for the summary of a CI job, as GitHub's $GITHUB_STEP_SUMMARY. */
void check_report_markdown(const struct check *check, struct text *text);
/* JUnit XML. The verdicts slower and other bits become failures, failed becomes an error, and
 * unclear and not comparable become skipped tests. */
void check_report_junit(const struct check *check, struct text *text);

/* Parses "driver,nvrtc", "all" or "none". For an unknown name the error suggests the nearest
 * one. */
enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err);

#endif
