/* SPDX-License-Identifier: MIT
 *
 * The regression gate finds out whether the winners of a tuned file (the baseline) are as fast as
 * before.
 *
 *	check_open -> check_run -> check_to_json, check_report_text -> [check_update] ->
 *	[check_keep] -> check_release
 *
 * Every winner is compiled again. On a GPU it is verified and timed in turn with the anchor kernel
 * and, if the baseline's cubin was stored, with that cubin. On a device model its resources are
 * compared. Only check_update() changes the baseline.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "base/clock.h"
#include "check/judge.h"
#include "engine/candidates.h"
#include "engine/contenders.h"

/* ---- differences of the environment ---- */
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
/* Differences that are tolerated without --allow, because a check is meant to find their effects.
 */
#define CHECK_ALLOWED_DEFAULT                                                                      \
	(CHECK_DIFFERS(UUID) | CHECK_DIFFERS(DRIVER) | CHECK_DIFFERS(NVRTC) | CHECK_DIFFERS(KERNEL))

struct environment_difference {
	enum environment_part part;
	char *baseline, *now;
	bool allowed;
};

/* ---- rows ---- */
struct check_difference {
	char *text;    /* "registers 128 -> 168" */
	bool is_worse; /* more spills, fewer blocks per SM */
};

enum check_against {
	CHECK_AGAINST_NOTHING, /* not compared, or the baseline has no measured time */
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
	double floor_ratio;    /* the floor that widened the interval */
	size_t rounds;         /* rounds in which both were timed */
	double own_half_ratio; /* relative half width of the interval that more rounds can narrow */
	double anchor_ratio;   /* time of the anchor now over then; 0: not known */
};

struct check_row {
	char *problem_text, *configuration; /* canonical */
	struct tuned_entry entry;           /* a copy: the baseline may change */
	enum check_verdict verdict;
	char *reason; /* one line of text */
	struct check_difference *differences;
	size_t difference_count;
	bool kernel_changed;
	bool by_program;    /* a program of the user verified and timed the kernel */
	double baseline_us; /* 0: not measured */
	bool timed, compared;
	bool same_binary; /* today's cubins equal the stored ones */
	struct check_slowdown slowdown;
	double machine_ratio; /* time of the baseline's own binary now over then; 0: not known */
	struct check_times now;
	double load_us[CHECK_LOADS]; /* time of each load of today's kernel, if several */
	size_t loads;
	/* Today's candidate (check/row.h): */
	struct problem *problem; /* NULL: today's operation does not allow it */
	struct candidate winner;
	struct trial *trial; /* today's kernel, owned by the evaluator; NULL: it cannot be built */
	bool can_run;        /* today's kernel compiled */
	uint32_t differs;    /* CHECK_DIFFERS(...) */
	struct device_job binary; /* stored binary of the baseline; no cubins if none was stored */
	/* While the row is timed: today's kernel, whose first load is the trial, and the baseline's
	 * own binary, which may have no loads. */
	struct contender *today, *kept;
};

struct check_options {
	const char *const *only;     /* operations; NULL or empty: all */
	const char *const *problems; /* problems of the last operation in `only`; NULL: all */
	double threshold_ratio;      /* 0.05 */
	double budget_s;             /* 0: CHECK_SECONDS_PER_ENTRY */
	bool bits;                   /* also compare bits of entries tuned without --bits */
	uint32_t allowed;            /* CHECK_DIFFERS(...) */
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
	uint32_t of_device;           /* CHECK_DIFFERS(...) of the GPU, for all rows */
	struct problem_list problems; /* empty: all */
	bool measures;                /* false: a device model */
	double anchor_us;             /* anchor kernel's time in this check; 0: not measured */
	char *kept_folder;            /* check_kept_folder() of the baseline */
	char *notice;                 /* message for the user, or NULL */
	/* Members that only the document has: */
	char date[CLOCK_DATE_SIZE];
	const char *baseline_path, *nvrtc;
	struct gpu_model device;
	double confidence_ratio;
	int64_t exit_code, counts[CHECK_VERDICT_COUNT];
};

bool check_is_asked_for(const struct check_options *options, const struct problem_list *problems,
	const struct tuned_entry *entry);
/* Borrows context and baseline. STATUS_BAD_INPUT: no entry is selected, or the device is a
 * recording. */
enum status check_open(struct context *context, struct tuned *baseline,
	const struct check_options *options, struct check *check, struct error *err);
/* A failing kernel is a verdict, not an error. Errors: STATUS_NO_DEVICE, STATUS_INTERRUPTED. */
enum status check_run(struct check *check, struct error *err);
void check_release(struct check *check);
/* Returns the first status that a row has: STATUS_FAILED, STATUS_REGRESSION (slower, other bits),
 * STATUS_INCONCLUSIVE (unclear, not comparable), STATUS_OK. */
enum status check_status(const struct check *check);
/* reason of rows whose resources did not change */
extern const char check_same_reason[];
size_t check_count(const struct check *check, enum check_verdict verdict);

/* ---- output files (baseline.c). <baseline>.cubins has KEY.N.cubin, and KEY.json with their
 * launches. KEY is a hash of operation, problem, winner and kernel hash, so that an entry that was
 * tuned again has no stored binaries ---- */
/* Puts today's winners, resources and times into the baseline as entries of the run. Call it only
 * after STATUS_OK, and save the file. A device model updates only resources and hashes. */
enum status check_update(struct check *check, const char *run_id, struct error *err);
/* Stores the cubins of kernels that are still the baseline's. *kept: number of entries. */
enum status check_keep(struct check *check, size_t *kept, struct error *err);

/* ---- reports for people and CI servers ---- */
/* {"format": "tiletune.check/1", ...} */
RECORD_DECLARE(struct check, check_document_record);
/* A ratio with its 99% interval. */
RECORD_DECLARE(struct interval, check_ratio_record);
struct json *check_to_json(struct check *check);
void check_report_text(const struct check *check, struct text *text);
/* Writes Markdown for GitHub's $GITHUB_STEP_SUMMARY. */
void check_report_markdown(const struct check *check, struct text *text);
/* Reports slower rows and other bits as failures, failed rows as errors, and unclear or not
 * comparable rows as skipped. */
void check_report_junit(const struct check *check, struct text *text);

/* "driver,nvrtc", "all" or "none". */
enum status check_allowed_parse(const char *text, uint32_t *allowed, struct error *err);

/* ---- families.c: the part of `validate` that tries families on the default device. Examples must
 * be legal or illegal as declared, and default configurations and references must compile and
 * accept their arguments ---- */
/* `path` is an operation.json or a family's JSON, whose folder is loaded, or with is_own the file
 * of an own kernel. `templates` is NULL-terminated. form_only compiles nothing. `notices` gets a
 * line for each part that could not be tried and each -D that no source reads. */
enum status families_check(const char *path, bool is_own, const char *const *templates,
	bool form_only, struct text *notices, struct error *err);

#endif
